"""A door as the house holds it: a started channel, with an inbox that can refuse and wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.feishu.adapter import FeishuChannel
from bots.feishu.connection import Pace
from bots.limiter import Rates
from core.channel import Sent
from core.context import InboundMessage, ReplyTarget
from core.document import Button, Document
from core.i18n import words_for
from tests.servers.feishu import Chat, FeishuServer, Shown

PACE = Pace(first_retry=0.01, longest_retry=0.05)
PATIENCE = 10.0


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

    async def wait(self, count: int = 1) -> list[InboundMessage]:
        """Return what was committed once it is ``count`` messages."""
        await self._until(lambda: len(self.messages) >= count)
        return self.messages

    async def wait_offered(self, count: int) -> None:
        """Wait until ``count`` messages were offered, committed or not."""
        await self._until(lambda: len(self.offered) >= count)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(holds)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


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


async def health_says(channel: FeishuChannel, part: str | None) -> None:
    """Wait until ``health`` contains ``part``, or is None."""

    def holds() -> bool:
        said = channel.health()
        return said is None if part is None else part in (said or "")

    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - health is asked, it tells no news
            await asyncio.sleep(0.005)


def at(chat: Chat, *, thread: str | None = None, reply_to: Shown | None = None) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="feishu",
        account=chat.state.app_id,
        chat=chat.chat_id,
        thread=thread,
        reply_to=None if reply_to is None else reply_to.message_id,
    )


async def deliver(
    channel: FeishuChannel,
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
