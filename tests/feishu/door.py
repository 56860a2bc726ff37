"""A door as the house holds it: a started channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.feishu.adapter import FeishuChannel
from bots.feishu.connection import Pace
from bots.limiter import Rates
from core.context import ReplyTarget
from core.i18n import words_for
from tests.doorway import Inbox
from tests.servers.feishu import Chat, FeishuServer, Shown

PACE = Pace(first_retry=0.01, longest_retry=0.05)


def door(
    server: FeishuServer,
    *,
    rates: Rates | None = None,
    secret: str = "",
    answers_all: bool = False,
) -> FeishuChannel:
    """Return a channel to the server, not started."""
    return FeishuChannel(
        server.app_id,
        SecretStr(secret or server.app_secret),
        words=words_for("en"),
        domain=server.url,
        rates=rates,
        answers_all=answers_all,
        pace=PACE,
    )


@asynccontextmanager
async def opened(
    server: FeishuServer,
    inbox: Inbox | None = None,
    *,
    rates: Rates | None = None,
    answers_all: bool = False,
) -> AsyncIterator[FeishuChannel]:
    """A started channel, stopped at the end."""
    channel = door(server, rates=rates, answers_all=answers_all)
    await channel.start(inbox or Inbox(), ())
    try:
        yield channel
    finally:
        await channel.stop()


def at(chat: Chat, *, thread: str | None = None, reply_to: Shown | None = None) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="feishu",
        account=chat.state.app_id,
        chat=chat.chat_id,
        thread=thread,
        reply_to=None if reply_to is None else reply_to.message_id,
    )
