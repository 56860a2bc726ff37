"""Waiting for something to become true, from any thread and from any event loop.

A local server lives in its own thread while the test that steers it lives in another, often with
an event loop of its own. ``Changes`` is what they share: one lock, and waits that are woken by
``announce`` instead of polling.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that a wait lasts unless told otherwise: far more than any healthy step needs."""

Description = str | Callable[[], str]


class Changes:
    """A lock and the news that what it guards has changed."""

    def __init__(self, lock: threading.RLock | None = None) -> None:
        """Share ``lock`` with other ``Changes`` whose state is guarded together with this one."""
        self.lock = lock if lock is not None else threading.RLock()
        self._condition = threading.Condition(self.lock)
        self._sleepers: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def announce(self) -> None:
        """Wake every wait so that it looks again. May be called from any thread."""
        with self.lock:
            self._condition.notify_all()
            sleepers, self._sleepers = self._sleepers, []
        for loop, sleeper in sleepers:
            # A loop that was closed meanwhile has nobody left to wake.
            if not loop.is_closed():
                try:
                    loop.call_soon_threadsafe(_wake, sleeper)
                except RuntimeError:
                    continue

    async def wait_for(
        self, look: Callable[[], T], within: float | None = PATIENCE, what: Description = ""
    ) -> T:
        """Return the first truthy value of ``look``, called under the lock at every change.

        ``within`` is in seconds, None waits for ever; raises TimeoutError with ``what``.
        """
        loop = asyncio.get_running_loop()
        deadline = None if within is None else loop.time() + within
        while True:
            with self.lock:
                if value := look():
                    return value
                sleeper: asyncio.Future[None] = loop.create_future()
                entry = (loop, sleeper)
                self._sleepers.append(entry)
            try:
                async with asyncio.timeout_at(deadline):
                    await sleeper
            except TimeoutError:
                raise TimeoutError(_sentence(what)) from None
            finally:
                with self.lock:
                    if entry in self._sleepers:
                        self._sleepers.remove(entry)

    def wait_for_blocking(
        self, look: Callable[[], T], within: float | None = PATIENCE, what: Description = ""
    ) -> T:
        """Do the same as ``wait_for``, blocking the calling thread."""
        deadline = None if within is None else time.monotonic() + within
        with self._condition:
            while True:
                if value := look():
                    return value
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(_sentence(what))
                self._condition.wait(left)


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)


def _sentence(what: Description) -> str:
    return (what if isinstance(what, str) else what()) or "it did not happen in time"
