"""The hard gate: what counts as mastered, as pure functions of evidence and a study day.

No sentence to a model, and no model, can open it. An objective of memory or procedure is passed by

- a window: of the last 10 counting answers at least 9 are right, they come from at least three
  items, one of them at target difficulty, and from two study days, and the first answer of the
  latest day is right and at least 18 hours after the last teaching, which hints from a worked
  analogue on are too; or by
- placement: the first five written answers of the first day are all right, one of them to a hard
  item, with nothing taught and no help before.

An objective of concept or design is judged by the criteria of its rubric: each of the last three
counting answers meets every one of them; two items and otherwise the same conditions.

An answer counts when it is the first to its showing, had no help, is the first to its item on its
study day, and is not to a true-or-false item. Where the answer was given away it counts as missed.
The window instead of a share of everything: of an all-time 90 % early errors never let go, while
with 9 of 10 a guesser among four options passes in less than one of a hundred thirties of answers
and one who knows needs about eleven (``tests/learning/test_mastery.py`` simulates both).

What was passed is never unlearned. It is provisional until a review on a later day succeeds, and
needs review after two lapses in a row or when recall has become less likely than not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from core.learning.evidence import TEACHES, TOLD, Answered, Grader, standing
from core.learning.items import PRODUCED, Difficulty, ItemKind
from core.learning.spacing import Memory, Rating, retrievability, review

WINDOW: Final = 10
RIGHT_IN_WINDOW: Final = 9
ITEMS: Final = 3
DAYS: Final = 2
DELAY: Final = timedelta(hours=18)
"""From the last teaching to the answer that shows that it stayed."""
PLACEMENT: Final = 5
CRITERIA_WINDOW: Final = 3
CRITERIA_ITEMS: Final = 2
CONFIDENT: Final = 0.8
"""A model that is less sure of its grade has not graded: one more question is asked instead."""
LAPSES: Final = 2
FADED: Final = 0.5
"""Chance of recall under which what was mastered needs review."""


class ObjectiveKind(StrEnum):
    """What is to be learned, which decides how it is tested."""

    MEMORY = "memory"
    """To know something."""
    PROCEDURE = "procedure"
    """To do something."""
    CONCEPT = "concept"
    """To understand something, and explain it."""
    DESIGN = "design"
    """To make something that meets criteria."""

    @property
    def by_criteria(self) -> bool:
        """It is judged by a rubric, not by counting."""
        return self in (ObjectiveKind.CONCEPT, ObjectiveKind.DESIGN)


class Missing(StrEnum):
    """What still keeps the gate shut."""

    ANSWERS = "answers"
    """Too few that count."""
    RIGHT = "right"
    ITEMS = "items"
    """Always the same ones."""
    TARGET = "target"
    """None at target difficulty."""
    DAYS = "days"
    """All on one study day."""
    DELAYED = "delayed"
    """The day's first answer was wrong, helped, or too soon after teaching."""


@dataclass(frozen=True, slots=True)
class Gate:
    """How the window stands."""

    right: int
    """Of the answers in the window."""
    of: int
    """How many they are."""
    needed: int
    window: int
    """``needed`` of ``window`` open it, if nothing else is missing."""
    missing: tuple[Missing, ...]

    @property
    def open(self) -> bool:
        """Nothing is missing."""
        return not self.missing


class Status(StrEnum):
    """Where a learner stands with an objective."""

    NEW = "new"
    """Never asked."""
    LEARNING = "learning"
    PROVISIONAL = "provisional"
    """Passed, and not yet confirmed on a later day."""
    MASTERED = "mastered"
    NEEDS_REVIEW = "needs_review"
    """Passed once, and faded."""

    @property
    def passed(self) -> bool:
        """The gate was opened; what builds on the objective may be learned."""
        return self in (Status.PROVISIONAL, Status.MASTERED, Status.NEEDS_REVIEW)


@dataclass(frozen=True, slots=True)
class Mastery:
    """A learner and an objective, as of a study day."""

    status: Status
    gate: Gate
    """The window of now, also after it was opened once."""
    passed_day: date | None
    placed: bool
    """By the placement test."""
    memory: Memory | None
    """Its place on the forgetting curve; None until it was passed."""
    recall: float | None
    """Chance of recall today, 0 to 1; None until it was passed."""
    misses: int
    """Missed first answers since the last right one."""
    missed_at: datetime | None
    """When the last of them was given."""
    right_at: datetime | None
    """When it was last answered right without help."""


def mastery(
    rows: Iterable[Answered],
    kind: ObjectiveKind,
    today: date,
    *,
    taught: Sequence[datetime] = (),
) -> Mastery:
    """Judge the evidence of one learner and one objective.

    ``rows`` are the raw rows in any order, later ones allowed to supersede earlier ones; ``taught``
    are the instants at which the objective was explained. ``today`` is the learner's study day.
    """
    answers = standing(rows)
    counting = _counting(answers, kind)
    taught = _all_teaching(answers, taught)
    passed, placed = _passed(answers, counting, kind, taught)
    window = _gate(answers, counting, kind, taught)
    misses, missed_at, right_at = _run(answers)
    if passed is None:
        status = Status.LEARNING if answers else Status.NEW
        return Mastery(status, window, None, False, None, None, misses, missed_at, right_at)
    memory, confirmed, lapses = _reviews(answers, passed, taught)
    recall = retrievability(memory, max(today, memory.last_day))
    if lapses >= LAPSES or recall < FADED:
        status = Status.NEEDS_REVIEW
    else:
        status = Status.MASTERED if confirmed else Status.PROVISIONAL
    return Mastery(
        status, window, passed.study_day, placed, memory, recall, misses, missed_at, right_at
    )


def gate(
    answers: Sequence[Answered], kind: ObjectiveKind, *, taught: Sequence[datetime] = ()
) -> Gate:
    """Judge the window at the end of ``answers``, those that stand, in the order of answering."""
    return _gate(answers, _counting(answers, kind), kind, _all_teaching(answers, taught))


def _gate(
    answers: Sequence[Answered],
    counting: Sequence[Answered],
    kind: ObjectiveKind,
    taught: Sequence[datetime],
) -> Gate:
    by_criteria = kind.by_criteria
    size = CRITERIA_WINDOW if by_criteria else WINDOW
    needed = CRITERIA_WINDOW if by_criteria else RIGHT_IN_WINDOW
    window = counting[-size:]
    right = sum(_right(answer, by_criteria) for answer in window)
    items = CRITERIA_ITEMS if by_criteria else ITEMS
    checks = (
        (Missing.ANSWERS, len(window) == size),
        (Missing.RIGHT, right >= needed),
        (Missing.ITEMS, len({answer.item_id for answer in window}) >= items),
        (Missing.TARGET, any(answer.difficulty >= Difficulty.TARGET for answer in window)),
        (Missing.DAYS, len({answer.study_day for answer in window}) >= DAYS),
        (Missing.DELAYED, bool(window) and _stayed(answers, window, by_criteria, taught)),
    )
    return Gate(right, len(window), needed, size, tuple(what for what, met in checks if not met))


def _passed(
    answers: Sequence[Answered],
    counting: Sequence[Answered],
    kind: ObjectiveKind,
    taught: Sequence[datetime],
) -> tuple[Answered | None, bool]:
    """The answer that opened the gate first, and whether by placement."""
    placing = _placement(answers, counting, kind, taught)
    size = CRITERIA_WINDOW if kind.by_criteria else WINDOW
    for end in range(size, len(counting) + 1):
        last = counting[end - 1]
        if placing is not None and placing.at <= last.at:
            break
        if _gate(answers, counting[:end], kind, taught).open:
            return last, False
    return placing, placing is not None


def _placement(
    answers: Sequence[Answered],
    counting: Sequence[Answered],
    kind: ObjectiveKind,
    taught: Sequence[datetime],
) -> Answered | None:
    """The fifth answer of a placement test that was passed."""
    if not answers:
        return None
    day = answers[0].study_day
    written = [a for a in counting if a.kind in PRODUCED and a.study_day == day][:PLACEMENT]
    if len(written) < PLACEMENT:
        return None
    last = written[-1]
    helped = any(answer.hint_level and answer.at <= last.at for answer in answers)
    if helped or any(instant <= last.at for instant in taught):
        return None
    hard = any(answer.difficulty >= Difficulty.HARD for answer in written)
    return last if hard and all(_right(answer, kind.by_criteria) for answer in written) else None


def _all_teaching(answers: Sequence[Answered], taught: Sequence[datetime]) -> list[datetime]:
    return [*taught, *(answer.at for answer in answers if answer.hint_level >= TEACHES)]


def _counting(answers: Sequence[Answered], kind: ObjectiveKind) -> list[Answered]:
    """The answers that the gate looks at."""
    kept: list[Answered] = []
    seen: set[tuple[str, date]] = set()
    for answer in answers:
        told = answer.hint_level >= TOLD
        if answer.kind is ItemKind.TRUE_FALSE or not answer.first_attempt:
            continue
        if answer.hint_level and not told:
            continue
        if answer.grader is Grader.MODEL and answer.confidence < CONFIDENT:
            continue
        if kind.by_criteria and not answer.criteria and not told:
            continue
        if (showing := (answer.item_id, answer.study_day)) not in seen:
            seen.add(showing)
            kept.append(answer)
    return kept


def _right(answer: Answered, by_criteria: bool) -> bool:
    if answer.hint_level >= TOLD:
        return False
    return all(answer.criteria.values()) if by_criteria else answer.correct


def _stayed(
    answers: Sequence[Answered],
    window: Sequence[Answered],
    by_criteria: bool,
    taught: Sequence[datetime],
) -> bool:
    """The first answer of the latest day is right, without help, and long after teaching."""
    day = window[-1].study_day
    first = next(
        answer
        for answer in answers
        if answer.study_day == day and answer.kind is not ItemKind.TRUE_FALSE
    )
    alone = first.first_attempt and not first.hint_level
    sure = first.grader is not Grader.MODEL or first.confidence >= CONFIDENT
    # Of a rubric only what it says counts; an answer without one shows nothing here.
    right = bool(first.criteria) and _right(first, True) if by_criteria else first.correct
    return alone and sure and right and _delayed(first, taught)


def _delayed(answer: Answered, taught: Sequence[datetime]) -> bool:
    return all(answer.at - instant >= DELAY for instant in taught if instant <= answer.at)


def _reviews(
    answers: Sequence[Answered], passed: Answered, taught: Sequence[datetime]
) -> tuple[Memory, bool, int]:
    """What the first answers of later days made of it: memory, confirmed, lapses in a row."""
    seed = passed.objective or passed.item_id
    memory = review(None, Rating.GOOD, passed.study_day, seed=seed, fuzz=False).memory
    confirmed, lapses = False, 0
    for answer in answers:
        if answer.kind is ItemKind.TRUE_FALSE or answer.study_day <= memory.last_day:
            continue
        rating = rating_of(answer)
        memory = review(memory, rating, answer.study_day, seed=seed, fuzz=False).memory
        if rating is Rating.AGAIN:
            lapses += 1
        else:
            lapses = 0
            confirmed |= rating is Rating.GOOD and _delayed(answer, taught)
    return memory, confirmed, lapses


def rating_of(answer: Answered) -> Rating:
    """Return what an answer says about memory.

    Missed or given away is Again; right with help, at a second try or in part is Hard; right is
    Good. Hard is a success, so it is never given for something that was forgotten.
    """
    if answer.hint_level >= TOLD:
        return Rating.AGAIN
    if not answer.correct:
        return Rating.HARD if answer.score >= 0.5 else Rating.AGAIN
    return Rating.HARD if answer.hint_level or not answer.first_attempt else Rating.GOOD


def _run(answers: Sequence[Answered]) -> tuple[int, datetime | None, datetime | None]:
    """Missed first answers since the last right one, the last of them, and that right one."""
    misses = 0
    missed_at: datetime | None = None
    right_at: datetime | None = None
    for answer in answers:
        if not answer.first_attempt:
            continue
        if answer.correct and answer.hint_level < TOLD:
            misses = 0
            if not answer.hint_level:
                right_at = answer.at
        elif answer.score < 0.5 or answer.hint_level >= TOLD:
            misses, missed_at = misses + 1, answer.at
    return misses, missed_at, right_at
