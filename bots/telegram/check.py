"""What can be asked about a bot account before it runs: token, groups, privacy mode, webhook.

Nothing is changed: a webhook is named here, and taken away when the channel starts. Whether another
program polls with the same token cannot be asked without taking its messages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import AiogramError, TelegramNotFound, TelegramUnauthorizedError
from aiogram.types import User
from aiogram.utils.token import TokenValidationError

from bots.findings import Finding, fault, ok, warning
from bots.telegram.failures import reason_of
from bots.telegram.settings import TelegramSettings
from core.environment import variable
from core.i18n import Words

SECONDS: Final = 10
"""How long the platform may take for one answer."""


async def check(settings: TelegramSettings, words: Words) -> AsyncIterator[Finding]:
    """Look at the bot account of these settings, which have a token."""
    assert settings.bot_token is not None
    token_name = variable(type(settings), "bot_token")
    try:
        bot = Bot(
            settings.bot_token.get_secret_value(),
            session=AiohttpSession(
                api=TelegramAPIServer.from_base(settings.api_base), timeout=SECONDS
            ),
        )
    except TokenValidationError:
        yield _wrong_token(words, token_name)
        return
    try:
        user = await bot.get_me()
        yield ok(words("@{name} answers.", name=user.username or user.full_name))
        for finding in _groups(user, words):
            yield finding
        hook = (await bot.get_webhook_info()).url
        if hook:
            yield warning(
                words(
                    "A webhook is set, at {host}: messages go there.",
                    host=urlsplit(hook).hostname or "?",
                ),
                words(
                    "`partners serve` removes it when it starts. If another program still needs "
                    "it, make a bot of its own for this tutor: send /newbot to @BotFather."
                ),
            )
    except (TelegramUnauthorizedError, TelegramNotFound):
        yield _wrong_token(words, token_name)
    except AiogramError as error:
        yield fault(
            words(
                "Telegram cannot be reached at {address} ({reason}).",
                address=settings.api_base,
                reason=reason_of(error),
            ),
            words(
                "Check this machine's connection, and {name} if it is set.",
                name=variable(type(settings), "api_base"),
            ),
        )
    finally:
        await bot.session.close()


def _groups(user: User, words: Words) -> list[Finding]:
    if not user.can_join_groups:
        return [
            warning(
                words("It cannot be added to groups."),
                words(
                    "If it should teach in groups: send /setjoingroups to @BotFather, choose the "
                    "bot, then Enable."
                ),
            )
        ]
    if user.can_read_all_group_messages:
        return [
            ok(
                words("Privacy mode is off: in groups it gets every message."),
                words(
                    "It only answers when it is meant. Messages of others need not reach it: send "
                    "/setprivacy to @BotFather, choose the bot, then Enable."
                ),
            )
        ]
    return [
        ok(
            words("Privacy mode is on: in groups it gets commands, mentions and replies."),
            words(
                "That is all it needs. If mentions do not reach it: send /setprivacy to "
                "@BotFather, choose the bot, Disable, and add it to the group again."
            ),
        )
    ]


def _wrong_token(words: Words, name: str) -> Finding:
    return fault(
        words("Telegram does not know the token in {name}.", name=name),
        words(
            "Send /token to @BotFather, choose the bot, and copy the whole line into {name}; or "
            "make a new bot with /newbot.",
            name=name,
        ),
    )
