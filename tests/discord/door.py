"""A door as the house holds it: a started channel and an inbox that can refuse and wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.discord.adapter import PREVIEW_SECONDS, DiscordChannel
from bots.discord.gateway import Pace
from core.channel import Sent
from core.commands.declare import Menu
from core.context import InboundMessage, ReplyTarget
from core.document import Button, Document
from core.i18n import words_for
from tests.servers.discord import Chat, DiscordServer

PATIENCE = 15.0
PACE = Pace(start=PATIENCE, first_retry=0.01, longest_retry=0.05)

MENUS = (
    Menu(
        "en",
        (("help", "what I can do"), ("add", "save a question that comes back")),
        (("add", "QUESTION :: ANSWER"),),
    ),
    Menu("zh", (("help", "我能做什么"), ("add", "保存一个问题")), (("add", "问题 :: 答案"),)),
)


class Inbox:
    """An ``Intake``: keeps what it is given, unless told to refuse or to hold."""

    def __init__(self) -> None:
        self.messages: list[InboundMessage] = []
        self.offered: list[InboundMessage] = []
        self.refusals = 0
        """How many batches to refuse next."""
        self.open = asyncio.Event()
        """While clear, a commit does not end."""
        self.open.set()
        self._news = asyncio.Condition()

    async def __call__(self, batch: Sequence[InboundMessage]) -> None:
        self.offered.extend(batch)
        await self._tell()
        await self.open.wait()
        if self.refusals:
            self.refusals -= 1
            raise OSError("disk full")
        self.messages.extend(batch)
        await self._tell()

    async def wait(self, count: int) -> list[InboundMessage]:
        """Return what was committed once it is ``count`` messages."""
        await self.until(lambda: len(self.messages) >= count)
        return self.messages

    async def wait_offered(self, count: int) -> None:
        """Wait until ``count`` messages were offered, committed or not."""
        await self.until(lambda: len(self.offered) >= count)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something that came in makes this true."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(holds)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


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


async def health_says(channel: DiscordChannel, part: str | None) -> None:
    """Wait until ``health`` contains ``part``, or is None."""

    def holds() -> bool:
        said = channel.health()
        return said is None if part is None else part in (said or "")

    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - health is asked, it tells no news
            await asyncio.sleep(0.005)


def at(chat: Chat, reply_to: int | str | None = None, *, thread: bool = False) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="discord",
        account="42",
        chat=str(chat.id),
        thread=str(chat.id) if thread else None,
        reply_to=None if reply_to is None else str(reply_to),
    )


async def deliver(
    channel: DiscordChannel,
    target: ReplyTarget,
    markdown: str,
    *,
    buttons: tuple[tuple[Button, ...], ...] = (),
    reply: bool = False,
    key: str = "k",
) -> list[Sent]:
    """Send a document, part after part."""
    parts = channel.render(Document(markdown=markdown, buttons=buttons))
    return [
        await channel.send(target, part, key=f"{key}:{number}", reply=reply and number == 0)
        for number, part in enumerate(parts)
    ]
