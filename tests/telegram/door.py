"""A door as the house holds it: a started channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.limiter import Rates
from bots.telegram.adapter import TelegramChannel
from bots.telegram.polling import Pace
from core.commands.declare import Menu
from core.context import ReplyTarget
from core.i18n import words_for
from tests.doorway import Inbox
from tests.servers.telegram import TelegramServer

PACE = Pace(long_poll=20, first_retry=0.01, longest_retry=0.05)


def door(server: TelegramServer, *, rates: Rates | None = None) -> TelegramChannel:
    """Return a channel to the server, not started."""
    return TelegramChannel(
        SecretStr(server.token),
        words=words_for("en"),
        api_base=server.url,
        rates=rates,
        pace=PACE,
    )


@asynccontextmanager
async def opened(
    server: TelegramServer,
    inbox: Inbox | None = None,
    *,
    menus: Sequence[Menu] = (),
    rates: Rates | None = None,
) -> AsyncIterator[TelegramChannel]:
    """A started channel, stopped at the end."""
    channel = door(server, rates=rates)
    await channel.start(inbox or Inbox(), menus)
    try:
        yield channel
    finally:
        await channel.stop()


def at(chat: int, thread: int | None = None, reply_to: int | None = None) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="telegram",
        account="42",
        chat=str(chat),
        thread=None if thread is None else str(thread),
        reply_to=None if reply_to is None else str(reply_to),
    )
