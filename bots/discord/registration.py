"""Brings the platform's command menu to what is wanted, by a call only where they differ."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from discord import Client

from bots.discord.commands import same, wanted
from bots.discord.failures import FAILURES, reason_of
from core.commands.declare import Menu

log = logging.getLogger(__name__)


async def register(client: Client, menus: Sequence[Menu]) -> None:
    """Register the menus. A failure is logged: people can still write commands out."""
    commands: list[Any] = wanted(menus)
    number = client.application_id
    if not commands or number is None:
        return
    try:
        registered: list[Any] = list(await client.http.get_global_commands(number))
        if not same(registered, commands):
            await client.http.bulk_upsert_global_commands(number, commands)
            log.info("registered %d commands", len(commands))
    except FAILURES as error:
        log.warning("the commands were not registered: %s", reason_of(error))
