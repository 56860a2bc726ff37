"""A door as the house holds it: a started channel and an inbox that can refuse and wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bots.limiter import Rates
from bots.telegram.adapter import TelegramChannel
from bots.telegram.polling import Pace
from core.channel import Sent
from core.commands.declare import Menu
from core.context import InboundMessage, ReplyTarget
from core.document import Button, Document
from core.i18n import words_for
from tests.servers.telegram import TelegramServer

PACE = Pace(long_poll=20, first_retry=0.01, longest_retry=0.05)
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

    async def wait(self, count: int) -> list[InboundMessage]:
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


async def health_says(channel: TelegramChannel, part: str | None) -> None:
    """Wait until ``health`` contains ``part``, or is None."""

    def holds() -> bool:
        said = channel.health()
        return said is None if part is None else part in (said or "")

    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - health is asked, it tells no news
            await asyncio.sleep(0.005)


def at(chat: int, thread: int | None = None, reply_to: int | None = None) -> ReplyTarget:
    """The address of a chat."""
    return ReplyTarget(
        channel="telegram",
        account="42",
        chat=str(chat),
        thread=None if thread is None else str(thread),
        reply_to=None if reply_to is None else str(reply_to),
    )


async def deliver(
    channel: TelegramChannel,
    target: ReplyTarget,
    markdown: str,
    *,
    buttons: tuple[tuple[Button, ...], ...] = (),
    reply: bool = False,
) -> list[Sent]:
    """Send a document, part after part."""
    parts = channel.render(Document(markdown=markdown, buttons=buttons))
    return [
        await channel.send(target, part, key=f"k{number}", reply=reply and number == 0)
        for number, part in enumerate(parts)
    ]
