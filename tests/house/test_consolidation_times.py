"""When memory is due, by the learner's clock."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory_tuning import MemoryTuning
from core.scheduling.memory_times import due, next_night, night_of, pause
from memory.consolidate import Backlog

TUNING = MemoryTuning()
NOW = datetime(2026, 12, 1, 20, 0)
TONIGHT = date(2026, 12, 1)


def waiting(
    events: int = 0, minutes: float = 45, unraised: int = 0, tended: date | None = TONIGHT
) -> Backlog:
    newest = NOW - timedelta(minutes=minutes) if events else None
    return Backlog(events, newest, unraised, tended)


@pytest.mark.parametrize(
    ("backlog", "is_due"),
    [
        (waiting(), False),
        (waiting(events=60, minutes=0), True),
        (waiting(events=59, minutes=0), False),
        (waiting(events=4), True),
        (waiting(events=4, minutes=29), False),
        (waiting(events=3), False),
        (waiting(events=3, tended=date(2026, 11, 30)), True),
        (waiting(events=3, minutes=5, tended=date(2026, 11, 30)), False),
        (waiting(unraised=1), True),
        (waiting(unraised=1, events=1, minutes=5), False),
        (waiting(tended=None), True),
        (waiting(events=5, minutes=-29), False),  # the learner has travelled west
    ],
)
def test_memory_is_due_after_a_quiet_time_after_many_events_and_at_night(
    backlog: Backlog, is_due: bool
) -> None:
    assert due(backlog, NOW, TUNING) is is_due


def test_a_night_begins_at_its_hour() -> None:
    assert night_of(datetime(2026, 12, 1, 2, 59), TUNING) == date(2026, 11, 30)
    assert night_of(datetime(2026, 12, 1, 3, 0), TUNING) == TONIGHT
    assert next_night(NOW, TUNING) == datetime(2026, 12, 2, 3, 0)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)), st.integers(0, 23))
def test_the_next_night_is_the_first_moment_of_another_one(wall: datetime, hour: int) -> None:
    tuning = MemoryTuning(nightly_hour=hour)
    following = next_night(wall, tuning)
    assert wall < following <= wall + timedelta(days=1)
    assert night_of(following, tuning) > night_of(wall, tuning)
    assert night_of(following - timedelta(seconds=1), tuning) == night_of(wall, tuning)


def test_pauses_double_up_to_a_day() -> None:
    assert [pause(n) for n in (1, 2, 3)] == [timedelta(minutes=m) for m in (5, 10, 20)]
    assert pause(9) == timedelta(minutes=1280)
    assert pause(10) == pause(1_000_000) == timedelta(hours=24)
