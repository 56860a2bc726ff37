"""What tests of every channel's door need: an inbox that can refuse and wait, and what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from core.channel import Channel, FetchError, Sent
from core.context import Attachment, InboundMessage, ReplyTarget
from core.document import Button, Document, File

PATIENCE = 15.0

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 50
PICTURE = File(name="map.png", mime="image/png", data=PNG, alt="a map")
NOTES = File(name="notes.md", mime="text/markdown", data="# Größe 😀".encode())


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


class Handles:
    """What the house is told of previews that became messages."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.came = asyncio.Event()

    async def __call__(self, handle: str) -> None:
        self.told.append(handle)
        self.came.set()


async def health_says(channel: Channel, part: str | None) -> None:
    """Wait until ``health`` contains ``part``, or is None."""

    def holds() -> bool:
        said = channel.health()
        return said is None if part is None else part in (said or "")

    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - health is asked, it tells no news
            await asyncio.sleep(0.005)


async def deliver(
    channel: Channel,
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


async def failure(channel: Channel, wanted: Attachment, most: int = 1000) -> FetchError:
    """Return how fetching a file fails."""
    with pytest.raises(FetchError) as caught:
        await channel.fetch(wanted, most=most)
    return caught.value
