"""When to ask a card again: FSRS-6 (py-fsrs), fed with study days instead of instants.

py-fsrs counts whole 24-hour periods, so a daily reminder answered a minute early would count as the
same day. It therefore sees each study day as noon UTC of that date, has no learning steps (repeats
within a session are no reviews) and no randomness. The spread over neighbouring days is our own,
seeded by card and repetition, so that a preview, a review and a replay agree.

Days are study days (``core.clock.study_date``); intervals are whole days. Nothing here reads a
clock or keeps anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum, StrEnum
from functools import lru_cache
from hashlib import blake2b

import fsrs

RETENTION = 0.90
"""The share of cards to be still known when they come due."""
RETENTION_MIN = 0.85
RETENTION_MAX = 0.95

_NOON = time(12, tzinfo=UTC)
_ANY_ID = 1  # without an id of ours, fsrs.Card() sleeps a millisecond to invent one
_FUZZ_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))


class Rating(IntEnum):
    """How an answer went; the numbers are FSRS's."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


class State(StrEnum):
    """What the last answer left behind. Spacing does not depend on it."""

    LEARNING = "learning"
    """Asked, and not yet known once."""
    REVIEW = "review"
    """Known the last time."""
    RELEARNING = "relearning"
    """Known before, missed the last time."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is known about one learner's memory of one card. A new card has none."""

    stability: float
    """Days until the chance of recall has sunk to 90 %."""
    difficulty: float
    """1 (easy) to 10 (hard)."""
    due_day: date
    last_day: date
    """Study day of the last review."""
    reps: int
    """Reviews so far, at least 1."""
    lapses: int
    """Study days on which a card asked before was missed; the first answer never counts."""
    state: State


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The outcome of a review."""

    memory: Memory
    interval_days: int
    """Days from the review to ``memory.due_day``, at least 1."""
    retrievability: float | None
    """Chance of recall just before the review; None for a new card."""
    lapsed: bool
    """This review added a lapse."""


@dataclass(frozen=True, slots=True)
class LoggedReview:
    """One row of the raw review log: all that a replay needs beside the card's id."""

    study_day: date
    rating: Rating
    retention: float = RETENTION
    """The retention that was wanted at that time."""


class ReviewOutOfOrder(ValueError):
    """A review dated before the one it follows; FSRS itself would take it silently."""

    def __init__(self, study_day: date, last_day: date) -> None:
        super().__init__(f"a review on {study_day} cannot follow one on {last_day}")
        self.study_day = study_day
        self.last_day = last_day


class RetentionOutOfRange(ValueError):
    """A retention outside ``RETENTION_MIN`` to ``RETENTION_MAX``."""

    def __init__(self, retention: float) -> None:
        super().__init__(
            f"retention {retention} is not between {RETENTION_MIN:.2f} and {RETENTION_MAX:.2f}"
        )
        self.retention = retention


def review(
    memory: Memory | None,
    rating: Rating,
    study_day: date,
    *,
    seed: str,
    retention: float = RETENTION,
    fuzz: bool = True,
) -> Reviewed:
    """Return the memory after an answer; ``memory`` is None for a card never asked before.

    ``seed`` is the card's id. ``fuzz=False`` gives the plain FSRS interval. Raises
    ``ReviewOutOfOrder`` and ``RetentionOutOfRange``.
    """
    if memory is not None and study_day < memory.last_day:
        raise ReviewOutOfOrder(study_day, memory.last_day)
    noon = datetime.combine(study_day, _NOON)
    card, _ = _scheduler(retention).review_card(
        _card(memory, noon), fsrs.Rating(int(rating)), review_datetime=noon
    )
    if card.stability is None or card.difficulty is None:
        raise AssertionError("FSRS left a reviewed card without stability or difficulty")
    reps = 1 if memory is None else memory.reps + 1
    interval = (card.due - noon).days
    if fuzz:
        interval = _spread(interval, f"{seed}:{reps}")
    # A second miss on the same study day is the same lapse.
    lapsed = memory is not None and rating is Rating.AGAIN and study_day > memory.last_day
    after = Memory(
        stability=card.stability,
        difficulty=card.difficulty,
        due_day=study_day + timedelta(days=interval),
        last_day=study_day,
        reps=reps,
        lapses=(0 if memory is None else memory.lapses) + lapsed,
        state=_state(memory, rating),
    )
    chance = None if memory is None else retrievability(memory, study_day)
    return Reviewed(memory=after, interval_days=interval, retrievability=chance, lapsed=lapsed)


def preview(
    memory: Memory | None,
    study_day: date,
    *,
    seed: str,
    retention: float = RETENTION,
    fuzz: bool = True,
) -> dict[Rating, int]:
    """Return the interval in days that each rating would give; the same as ``review`` then does."""
    return {
        rating: review(
            memory, rating, study_day, seed=seed, retention=retention, fuzz=fuzz
        ).interval_days
        for rating in Rating
    }


def retrievability(memory: Memory, study_day: date) -> float:
    """Return the chance (0 to 1) that the card is recalled on a study day; 1 on the last one."""
    noon = datetime.combine(study_day, _NOON)
    return _scheduler(RETENTION).get_card_retrievability(_card(memory, noon), noon)


def replay(log: Iterable[LoggedReview], *, seed: str, fuzz: bool = True) -> Memory | None:
    """Return the memory that a card's raw log leads to, None for an empty log.

    The log is in the order of the answers; ``ReviewOutOfOrder`` otherwise.
    """
    memory: Memory | None = None
    for entry in log:
        memory = review(
            memory,
            entry.rating,
            entry.study_day,
            seed=seed,
            retention=entry.retention,
            fuzz=fuzz,
        ).memory
    return memory


def fuzz_range(interval: int) -> tuple[int, int]:
    """Return the shortest and longest interval that ``interval`` may be spread to.

    The widths are Anki's: nothing under 2.5 days, then one day plus 15, 10 and 5 % of the days up
    to 7, up to 20 and beyond.
    """
    if interval < 2.5:
        return interval, interval
    width = 1.0 + sum(
        share * max(min(interval, end) - start, 0.0) for start, end, share in _FUZZ_RANGES
    )
    return max(2, _round(interval - width)), _round(interval + width)


def _spread(interval: int, seed: str) -> int:
    low, high = fuzz_range(interval)
    digest = blake2b(seed.encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64  # uniform in [0, 1), the same on every machine
    return min(low + math.floor(share * (high - low + 1)), high)


def _round(days: float) -> int:
    return math.floor(days + 0.5)  # halves go up; Python's round() would go to the even day


def _state(memory: Memory | None, rating: Rating) -> State:
    if rating is not Rating.AGAIN:
        return State.REVIEW
    if memory is None or memory.state is State.LEARNING:
        return State.LEARNING
    return State.RELEARNING


def _card(memory: Memory | None, noon: datetime) -> fsrs.Card:
    if memory is None:
        return fsrs.Card(card_id=_ANY_ID, due=noon)
    return fsrs.Card(
        card_id=_ANY_ID,
        state=fsrs.State.Review,
        stability=memory.stability,
        difficulty=memory.difficulty,
        due=datetime.combine(memory.due_day, _NOON),
        last_review=datetime.combine(memory.last_day, _NOON),
    )


@lru_cache(maxsize=16)
def _scheduler(retention: float) -> fsrs.Scheduler:
    if not RETENTION_MIN <= retention <= RETENTION_MAX:
        raise RetentionOutOfRange(retention)
    return fsrs.Scheduler(
        desired_retention=retention,
        learning_steps=(),
        relearning_steps=(),
        enable_fuzzing=False,
    )
