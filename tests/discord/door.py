"""A door as the house holds it: a started channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.discord.adapter import PREVIEW_SECONDS, DiscordChannel
from bots.discord.gateway import Pace
from core.commands.declare import Menu
from core.context import ReplyTarget
from core.i18n import words_for
from tests.doorway import PATIENCE, Inbox
from tests.servers.discord import Chat, DiscordServer

PACE = Pace(start=PATIENCE, first_retry=0.01, longest_retry=0.05)

MENUS = (
    Menu(
        "en",
        (("help", "what I can do"), ("add", "save a question that comes back")),
        (("add", "QUESTION :: ANSWER"),),
    ),
    Menu("zh", (("help", "我能做什么"), ("add", "保存一个问题")), (("add", "问题 :: 答案"),)),
)


def door(
    server: DiscordServer,
    *,
    token: str | None = None,
    pace: Pace = PACE,
    thinking_seconds: float = 600.0,
    thread_per_question: bool = False,
    preview_seconds: float = PREVIEW_SECONDS,
) -> DiscordChannel:
    """Return a channel to the server, not started."""
    return DiscordChannel(
        SecretStr(token or server.token),
        words=words_for("en"),
        api_base=server.api_url,
        gateway_url=server.gateway_url,
        pace=pace,
        thinking_seconds=thinking_seconds,
        thread_per_question=thread_per_question,
        preview_seconds=preview_seconds,
    )


@asynccontextmanager
async def opened(
    server: DiscordServer,
    inbox: Inbox | None = None,
    *,
    menus: Sequence[Menu] = (),
    pace: Pace = PACE,
    thinking_seconds: float = 600.0,
    preview_seconds: float = PREVIEW_SECONDS,
) -> AsyncIterator[DiscordChannel]:
    """A started channel, stopped at the end."""
    channel = door(
        server, pace=pace, thinking_seconds=thinking_seconds, preview_seconds=preview_seconds
    )
    await channel.start(inbox or Inbox(), menus)
    try:
        yield channel
    finally:
        await channel.stop()


def at(chat: Chat, reply_to: int | str | None = None, *, thread: bool = False) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="discord",
        account="42",
        chat=str(chat.id),
        thread=str(chat.id) if thread else None,
        reply_to=None if reply_to is None else str(reply_to),
    )
