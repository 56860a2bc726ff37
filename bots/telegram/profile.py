"""What people see of the bot before they write: its menu and its description, in every language.

Each is read first and written only where it differs: the platform allows few such changes, and a
start changes nothing most of the time. A text that @BotFather was told by hand is not ours to keep:
what the program says of itself wins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from aiogram import Bot
from aiogram.exceptions import AiogramError
from aiogram.types import BotCommand

from bots.telegram.failures import reason_of
from core.commands.declare import Menu

log = logging.getLogger(__name__)

_MOST_COMMANDS: Final = 100
_LONGEST_SUMMARY: Final = 256
_LONGEST_DESCRIPTION: Final = 512
_LONGEST_SHORT: Final = 120


async def register(bot: Bot, menus: Sequence[Menu]) -> None:
    """Show commands and descriptions; the first menu is for all other languages too.

    Never raises: a bot without them works as well.
    """
    wanted: list[tuple[Menu, str | None]] = [(menu, menu.language) for menu in menus]
    if menus:
        wanted.insert(0, (menus[0], None))
    await asyncio.gather(*(_register(bot, menu, language) for menu, language in wanted))


async def _register(bot: Bot, menu: Menu, language: str | None) -> None:
    try:
        await _commands(bot, menu, language)
        await _descriptions(bot, menu, language)
    except AiogramError as error:
        log.warning("the menu (%s) was not registered: %s", language, reason_of(error))


async def _commands(bot: Bot, menu: Menu, language: str | None) -> None:
    entries = [(name, text[:_LONGEST_SUMMARY]) for name, text in menu.entries[:_MOST_COMMANDS]]
    known = await bot.get_my_commands(language_code=language)
    if [(one.command, one.description) for one in known] != entries:
        commands = [BotCommand(command=name, description=text) for name, text in entries]
        await bot.set_my_commands(commands, language_code=language)


async def _descriptions(bot: Bot, menu: Menu, language: str | None) -> None:
    about, short = menu.about[:_LONGEST_DESCRIPTION], menu.motto[:_LONGEST_SHORT]
    if (await bot.get_my_description(language_code=language)).description != about:
        await bot.set_my_description(about, language_code=language)
    if (await bot.get_my_short_description(language_code=language)).short_description != short:
        await bot.set_my_short_description(short, language_code=language)
