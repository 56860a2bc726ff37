"""When a learner's memory is due, and how long to wait after failures. Pure.

Moments without a zone are those of the learner's clock.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from core.memory_tuning import MemoryTuning
from memory.consolidate import Backlog

FEW: Final = 4
"""Events that are worth a call after a quiet time; fewer wait for the night."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=24)
"""Between tries for a learner; the pause doubles."""


def due(waiting: Backlog, wall: datetime, tuning: MemoryTuning) -> bool:
    """Tell whether a learner's memory is to be consolidated; ``wall`` is their clock, without zone.

    Pure.
    """
    if waiting.events >= tuning.events:
        return True
    idle = timedelta(minutes=tuning.idle_minutes)
    if waiting.newest is not None and abs(wall - waiting.newest) < idle:
        return False  # they are still talking
    if waiting.events >= FEW or waiting.unraised:
        return True
    return waiting.tended is None or waiting.tended < night_of(wall, tuning)


def night_of(wall: datetime, tuning: MemoryTuning) -> date:
    """Return the date whose night's work is the latest that can be done."""
    return (wall - timedelta(hours=tuning.nightly_hour)).date()


def next_night(wall: datetime, tuning: MemoryTuning) -> datetime:
    """Return when the next night's work begins, on the same clock."""
    following = night_of(wall, tuning) + timedelta(days=1)
    return datetime.combine(following, datetime.min.time()) + timedelta(hours=tuning.nightly_hour)


def pause(failures: int) -> timedelta:
    """Return the pause after so many failures in a row, one at least."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(failures - 1, 12)))
