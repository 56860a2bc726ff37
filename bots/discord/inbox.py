"""From the gateway into the house: in order, and kept until the house has committed it.

The gateway has no acknowledgement, so what came and could not be stored is stored by us: it waits
in memory and is offered again until it is committed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from core.channel import Intake
from core.context import InboundMessage
from core.i18n import Words

log = logging.getLogger(__name__)

FIRST_RETRY: Final = 0.2
LONGEST_RETRY: Final = 5.0
"""Seconds between offers of what could not be committed."""

Earlier = Callable[[], Awaitable[Sequence[InboundMessage]]]
"""Finds what was said before, and never raises."""

_Waiting = tuple[InboundMessage, asyncio.Event]


class Inbox:
    """A queue before ``intake``, from ``start`` to ``stop``."""

    def __init__(self, intake: Intake, words: Words) -> None:
        self.trouble: str | None = None
        """None while messages can be stored, else a sentence."""
        self._intake = intake
        self._words = words
        self._queue: asyncio.Queue[_Waiting | Earlier] = asyncio.Queue()
        self._kept = 0
        """Messages that are not committed yet."""
        self._task: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def start(self) -> None:
        """Begin to hand over."""
        self._task = asyncio.create_task(self._run(), name="discord-inbox")

    async def stop(self, seconds: float) -> None:
        """Hand over what is here, for ``seconds`` at most."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            log.error("messages that came at the end could not be stored and are lost")
        self._task.cancel()
        await asyncio.wait([self._task])

    def put(self, message: InboundMessage) -> asyncio.Event:
        """Take a message; the event is set once it is committed."""
        committed = asyncio.Event()
        self._kept += 1
        self._idle.clear()
        self._queue.put_nowait((message, committed))
        return committed

    def put_earlier(self, find: Earlier) -> None:
        """Hand over what ``find`` finds, before anything that comes in from now on."""
        self._queue.put_nowait(find)

    async def _run(self) -> None:
        while True:
            waiting: list[_Waiting] = []
            entry: _Waiting | Earlier | None = await self._queue.get()
            while isinstance(entry, tuple):
                waiting.append(entry)
                entry = None if self._queue.empty() else self._queue.get_nowait()
            if waiting:
                await self._commit([message for message, _ in waiting])
            for _, committed in waiting:
                committed.set()
            self._kept -= len(waiting)
            if not self._kept:
                self._idle.set()
            if entry is not None and (earlier := await entry()):
                await self._commit(list(earlier))

    async def _commit(self, batch: list[InboundMessage]) -> None:
        pause = FIRST_RETRY
        while True:
            try:
                await self._intake(batch)
            except Exception as error:  # noqa: BLE001 - whatever the store raises: nothing is lost
                if self.trouble is None:
                    log.warning("incoming messages cannot be stored: %s", type(error).__name__)
                self.trouble = self._words("Incoming messages cannot be stored; trying again.")
                await asyncio.sleep(pause)
                pause = min(LONGEST_RETRY, pause * 2)
            else:
                if self.trouble is not None:
                    log.info("incoming messages are stored again")
                self.trouble = None
                return
