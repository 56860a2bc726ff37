"""The open platform's limits, its clock, and its frequency control.

Numbers are those of the platform's documentation (send message, card JSON 2.0, upload pages).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

DAY = 86_400.0
TEXT_BYTES = 150 * 1024
"""UTF-8 bytes of the content of a text message."""
RICH_BYTES = 30 * 1024
"""UTF-8 bytes of the content of a post or a card."""
UUID_CHARACTERS = 50
UUID_SECONDS = 3600.0
"""How long a uuid stands for the message it sent first."""
EDITS = 20
IMAGE_BYTES = 10 * 1024 * 1024
FILE_BYTES = 30 * 1024 * 1024
CARD_SECONDS = 14 * DAY
"""How long a card can be pressed and updated."""
CARD_ELEMENTS = 200
CARD_TABLES = 5
TABLE_COLUMNS = 50
CARD_DEPTH = 5
"""Containers inside one another."""
ELEMENT_TEXT = 100_000
"""Characters of a streamed text."""
STREAMING_SECONDS = 600.0
CONNECTIONS = 50
"""Long connections of one app."""
ACK_SECONDS = 3.0
RETRIES = (15.0, 300.0, 3600.0, 21600.0)
"""Seconds from a failed delivery to the next attempt."""
PAGE = 50


class Clock:
    """The server's time, in Unix seconds; a test may let time pass."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source = source
        self._passed = 0.0

    def now(self) -> float:
        """Return the present."""
        return self._source() + self._passed

    def milliseconds(self) -> int:
        """Return the present in whole milliseconds, as messages are dated."""
        return int(self.now() * 1000)

    def pass_time(self, seconds: float) -> None:
        """Move the present forward."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._passed += seconds


@dataclass(frozen=True, slots=True)
class Rates:
    """How often something may be done. None lifts a limit."""

    chat_per_second: int | None = 5
    """Messages to one person or one group."""
    api_per_second: int | None = 50
    api_per_minute: int | None = 1000
    patch_per_second: int | None = 5
    """Updates of one card message."""
    card_per_second: int | None = 10
    """Operations on one card entity."""


USUAL = Rates()
LIFTED = Rates(None, None, None, None, None)


class Frequency:
    """Counts what was done within sliding windows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._done: dict[tuple[str, float], deque[float]] = {}

    def wait_of(self, key: str, limit: int | None, seconds: float) -> float:
        """Return how many seconds ``key`` must wait, and count it when it need not (0.0)."""
        if limit is None:
            return 0.0
        now = self._clock.now()
        done = self._done.setdefault((key, seconds), deque())
        while done and done[0] <= now - seconds:
            done.popleft()
        if len(done) >= limit:
            return done[0] + seconds - now
        done.append(now)
        return 0.0
