"""Flood control: when the next message of an account may leave.

One limiter for each account, asked before every send and edit. It keeps three promises at once:
the rate of one chat, of one group, of the whole account. It knows no platform; who pays when a
platform says "too fast" anyway is decided by ``pause``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

log = logging.getLogger(__name__)

MARGIN: Final = 1.05
"""Windows are kept this much longer than promised: two requests sent a second apart can arrive a
little less than a second apart."""

_SWEEP: Final = 1024


@dataclass(frozen=True, slots=True)
class Rates:
    """What a platform allows; messages that go out, new ones and edits alike."""

    per_chat: float
    """Messages a second in one chat, evenly spaced."""
    per_group_minute: int
    """Messages in any minute in one chat that is a group, on top of ``per_chat``."""
    overall: int
    """Messages in any second over all chats."""


def rates_from(table: Mapping[str, object], usual: Rates) -> Rates | None:
    """Read ``[channels.<name>]`` of partners.toml: ``per_chat``, ``per_group_minute``, ``overall``.

    What is missing or of no use keeps its usual value, with a warning for the latter;
    ``limits = false`` lifts them all, for a server of one's own.
    """
    if table.get("limits") is False:
        return None
    values = {"per_chat": usual.per_chat}
    values |= {"per_group_minute": usual.per_group_minute, "overall": usual.overall}
    for key in values:
        wanted = table.get(key, values[key])
        if isinstance(wanted, int | float) and not isinstance(wanted, bool) and wanted > 0:
            values[key] = wanted
        else:
            log.warning("partners.toml: %s must be a number above 0; %s is used", key, values[key])
    return Rates(
        per_chat=values["per_chat"],
        per_group_minute=max(1, int(values["per_group_minute"])),
        overall=max(1, int(values["overall"])),
    )


class _Window:
    """At most ``limit`` grants in any ``seconds``."""

    __slots__ = ("_granted", "_limit", "_seconds")

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds * MARGIN
        self._granted: deque[float] = deque(maxlen=limit)

    def free_at(self) -> float:
        """Return the first moment at which one more grant keeps the promise."""
        full = len(self._granted) == self._limit
        return self._granted[0] + self._seconds if full else 0.0

    def half_free_at(self) -> float:
        """Return the same for a grant that leaves half of them to others."""
        most = -(-self._limit // 2)
        return self._granted[-most] + self._seconds if len(self._granted) >= most else 0.0

    def grant(self, now: float) -> None:
        self._granted.append(now)

    def idle(self, now: float) -> bool:
        return not self._granted or self._granted[-1] + self._seconds <= now


class _Chat:
    """The windows of one chat, and the moment until which the platform wants silence there."""

    __slots__ = ("paused_until", "turn", "windows")

    def __init__(self, windows: tuple[_Window, ...]) -> None:
        self.windows = windows
        self.paused_until = 0.0
        self.turn = asyncio.Lock()

    def free_at(self) -> float:
        return max([self.paused_until, *(window.free_at() for window in self.windows)])

    def idle(self, now: float) -> bool:
        quiet = self.paused_until <= now and not self.turn.locked()
        return quiet and all(window.idle(now) for window in self.windows)


class Limiter:
    """Gives out moments to send. ``rates`` None lifts the limits; pauses are kept all the same.

    Waiters of one chat leave in the order they came. A chat that has to wait holds no other.
    ``clock`` returns seconds that only grow; ``sleep`` takes seconds.
    """

    def __init__(
        self,
        rates: Rates | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rates = rates
        self._clock = clock
        self._sleep = sleep
        self._overall = _Window(rates.overall, 1.0) if rates else None
        self._overall_turn = asyncio.Lock()
        self._chats: dict[str, _Chat] = {}
        self._sweep_at = _SWEEP

    def __len__(self) -> int:
        """Return how many chats are remembered; idle ones are dropped now and then."""
        return len(self._chats)

    async def wait(self, chat: str, *, group: bool) -> None:
        """Return when one message may leave for ``chat``. A cancelled wait costs nothing."""
        if self._rates is None and chat not in self._chats:
            return
        entry = self._entry(chat, group=group)
        async with entry.turn:
            while True:
                await self._until(entry.free_at)
                # Only who could leave at once stands in the common queue, so nobody there waits
                # for anything but the overall rate.
                async with self._overall_turn:
                    if self._overall is not None:
                        await self._until(self._overall.free_at)
                    now = self._clock()
                    if entry.free_at() > now:
                        continue  # a pause came meanwhile
                    for window in entry.windows:
                        window.grant(now)
                    if self._overall is not None:
                        self._overall.grant(now)
                    return

    def spare(self, chat: str, *, group: bool) -> float:
        """Take a moment for what may be left out: 0.0, or the seconds until there is one.

        It takes no moment that somebody waits for, and leaves half of every rate to others.
        """
        if self._rates is None and chat not in self._chats:
            return 0.0
        entry = self._entry(chat, group=group)
        now = self._clock()
        windows = [*entry.windows, *([self._overall] if self._overall is not None else [])]
        free_at = max([entry.paused_until, *(window.half_free_at() for window in windows)])
        if entry.turn.locked() or free_at > now:
            return max(free_at - now, 0.1)
        for window in windows:
            window.grant(now)
        return 0.0

    def paused(self, chat: str) -> float:
        """Return the seconds for which the platform still wants silence in a chat."""
        entry = self._chats.get(chat)
        return max(0.0, entry.paused_until - self._clock()) if entry else 0.0

    def pause(self, chat: str, seconds: float, *, group: bool) -> None:
        """Let nothing leave for ``chat`` in the next ``seconds``: the platform said so."""
        entry = self._entry(chat, group=group)
        entry.paused_until = max(entry.paused_until, self._clock() + seconds)

    def _entry(self, chat: str, *, group: bool) -> _Chat:
        entry = self._chats.get(chat)
        if entry is None:
            self._forget_idle()
            entry = self._chats[chat] = _Chat(self._windows(group=group))
        return entry

    def _windows(self, *, group: bool) -> tuple[_Window, ...]:
        if self._rates is None:
            return ()
        spaced = _Window(1, 1 / self._rates.per_chat)
        return (spaced, _Window(self._rates.per_group_minute, 60.0)) if group else (spaced,)

    def _forget_idle(self) -> None:
        if len(self._chats) < self._sweep_at:
            return
        now = self._clock()
        self._chats = {chat: entry for chat, entry in self._chats.items() if not entry.idle(now)}
        self._sweep_at = max(_SWEEP, 2 * len(self._chats))

    async def _until(self, free_at: Callable[[], float]) -> None:
        while (left := free_at() - self._clock()) > 0:
            await self._sleep(left)
