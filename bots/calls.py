"""The calls of one door that are under way: a door that closes lets them finish and begins none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from core.channel import NotSent

log = logging.getLogger(__name__)


class Calls:
    """Counts calls, and owns the tasks that show a typing sign."""

    def __init__(self) -> None:
        self.closing = False
        """No new call begins any more."""
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._signs: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """What happens inside is under way. Raises NotSent once the door is closing."""
        if self.closing:
            raise NotSent("the channel is closing")
        self._under_way += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    @asynccontextmanager
    async def sign(self, show: Callable[[], Coroutine[None, None, None]]) -> AsyncIterator[None]:
        """Let ``show`` repeat a sign until the context is left. Never raises, never delays."""
        if self.closing:
            yield
            return
        task = asyncio.create_task(show(), name="typing")
        self._signs.add(task)
        task.add_done_callback(self._signs.discard)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def close(self, seconds: float) -> None:
        """Take the signs down and let calls under way finish, for ``seconds`` at most."""
        self.closing = True
        for task in self._signs:
            task.cancel()
        if self._signs:
            await asyncio.wait(self._signs)
        try:
            async with asyncio.timeout(seconds):
                await self._quiet.wait()
        except TimeoutError:
            log.warning("calls under way did not end in time; their outcome is unknown")
