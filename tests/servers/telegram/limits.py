"""The Bot API's limits, and flood control.

Numbers are those of the Bot API reference and its FAQ ("My bot is hitting limits"). Where the
platform keeps silent about a rate, the stricter reading is taken. Only messages count against the
rates; edits, drafts and chat actions do not.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

TEXT_UNITS = 4096
"""UTF-16 units of a message, after its markup has been parsed."""
CALLBACK_BYTES = 64
ANSWER_CHARACTERS = 200
"""Of the text of answerCallbackQuery."""
COMMANDS = 100
COMMAND_DESCRIPTION = 256
DOWNLOAD_BYTES = 20 * 1024 * 1024
"""Largest file that getFile hands out."""
UPLOAD_BYTES = 50 * 1024 * 1024
"""Largest file that sendDocument takes."""
PHOTO_BYTES = 10 * 1024 * 1024
BUTTONS = 100
POLL_SECONDS = 50
"""Longest time a getUpdates waits, whatever it asks for."""
UPDATES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Rates:
    """How many messages may be sent. None lifts a limit."""

    private_per_second: float | None = 1.0
    private_burst: int = 3
    """Messages a private chat takes at once after a rest."""
    group_per_minute: int | None = 20
    overall_per_second: int | None = 30


USUAL = Rates()
LIFTED = Rates(None, 0, None, None)


class FloodControl:
    """Counts what was sent and says how long to wait. Time comes from ``clock`` (seconds)."""

    def __init__(self, rates: Rates, clock: Callable[[], float]) -> None:
        self.rates = rates
        self._clock = clock
        self._private: dict[int, tuple[float, float]] = {}
        """Chat to (tokens left, moment they were counted)."""
        self._group: dict[int, deque[float]] = {}
        self._overall: deque[float] = deque()

    def wait_of(self, chat: int, private: bool) -> int:
        """Return the whole seconds to wait before sending to this chat, 0 for none."""
        now = self._clock()
        wait = _window_wait(self._overall, self.rates.overall_per_second, 1.0, now)
        if private:
            wait = max(wait, self._private_wait(chat, now))
        else:
            sent = self._group.setdefault(chat, deque())
            wait = max(wait, _window_wait(sent, self.rates.group_per_minute, 60.0, now))
        # A hair of rounding error must not cost a second.
        return math.ceil(wait - 1e-9)

    def count(self, chat: int, private: bool) -> None:
        """Note that a message went to this chat just now."""
        now = self._clock()
        if self.rates.overall_per_second is not None:
            self._overall.append(now)
        if private and self.rates.private_per_second is not None:
            self._private[chat] = (self._tokens(chat, now) - 1, now)
        if not private and self.rates.group_per_minute is not None:
            self._group.setdefault(chat, deque()).append(now)

    def _tokens(self, chat: int, now: float) -> float:
        full = float(self.rates.private_burst)
        left, counted = self._private.get(chat, (full, now))
        return min(full, left + (now - counted) * (self.rates.private_per_second or 0))

    def _private_wait(self, chat: int, now: float) -> float:
        rate = self.rates.private_per_second
        if rate is None:
            return 0.0
        return max(0.0, (1 - self._tokens(chat, now)) / rate)


def _window_wait(sent: deque[float], limit: int | None, length: float, now: float) -> float:
    if limit is None:
        return 0.0
    while sent and sent[0] <= now - length:
        sent.popleft()
    return sent[0] + length - now if len(sent) >= limit else 0.0
