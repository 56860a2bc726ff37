"""Evidence: every graded answer as a row that nothing ever changes.

An appeal that is granted, or an undo, adds a row that takes the place of an earlier one; so every
number that is shown can be computed anew, from the same rows, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from pydantic import TypeAdapter
from sqlmodel import Session, col, select
from ulid import ULID

from core.ids import new_id
from core.learning.items import Difficulty, ItemKind
from core.store.session import insert_rows
from core.store.tables import Evidence

TOLD: Final = 4
"""The hint level at which the answer was given away: 1 points to the step, 2 to the idea, 3 shows a
worked analogue, 4 the answer."""

TEACHES: Final = 3
"""The hint level from which a hint explains, as teaching does."""

_CRITERIA: Final = TypeAdapter(dict[str, bool])


class Grader(StrEnum):
    """Who judged an answer."""

    CODE = "code"
    """A rule of ``core.learning.grading``."""
    MODEL = "model"
    """A separate call of a model, ``core.learning.judge``."""
    LEARNER = "learner"
    """The learner said that they had been right, and it was accepted."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One graded answer."""

    id: str
    """ULID: a later judgement has a larger one."""
    learner_id: str
    item_id: str
    objective: str | None
    """Id of the objective; None for a question outside any path."""
    kind: ItemKind
    difficulty: Difficulty
    correct: bool
    score: float
    """0 to 1; partial credit lies between."""
    hint_level: int
    """Highest hint that was given before the answer: 0 none, ``TOLD`` the answer itself."""
    first_attempt: bool
    """The first answer to this showing of the item."""
    grader: Grader
    confidence: float
    """Of the grader, 0 to 1; 1 for code."""
    study_day: date
    at: datetime
    """When it was answered; a row that takes the place of another keeps its moment."""
    source: str
    """The event it came with (``InboundMessage.message_id``)."""
    criteria: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    """For answers in words: each criterion of the rubric, and whether the answer meets it."""
    supersedes: str | None = None
    """Id of the row whose place this one takes."""
    withdrawn: bool = False
    """Takes a place and leaves it empty: an undo."""


def standing(rows: Iterable[Answered]) -> tuple[Answered, ...]:
    """Return the answers that count, in the order in which they were given.

    Of all judgements of one answer the latest counts, whatever the order of ``rows``.
    """
    ordered = sorted(rows, key=lambda row: row.id)
    root: dict[str, str] = {}
    latest: dict[str, Answered] = {}
    for row in ordered:  # what supersedes a row has a larger id, so its root is known by now
        root[row.id] = (
            row.id if row.supersedes is None else root.get(row.supersedes, row.supersedes)
        )
        latest[root[row.id]] = row
    kept = (row for row in latest.values() if not row.withdrawn)
    return tuple(sorted(kept, key=lambda row: (row.at, row.id)))


def judged_anew(
    row: Answered, *, correct: bool, score: float, grader: Grader, confidence: float, now: datetime
) -> Answered:
    """Return the row that takes the place of ``row`` after an appeal."""
    return replace(
        row,
        id=_later_id(row, now),
        supersedes=row.id,
        correct=correct,
        score=score,
        grader=grader,
        confidence=confidence,
        withdrawn=False,
    )


def undone(row: Answered, now: datetime) -> Answered:
    """Return the row that takes ``row`` back."""
    return replace(row, id=_later_id(row, now), supersedes=row.id, withdrawn=True)


def append(session: Session, *rows: Answered) -> None:
    """Write rows, inside the caller's transaction."""
    if not rows:
        return
    insert_rows(
        session,
        Evidence,
        *(
            {
                "id": row.id,
                "learner_id": row.learner_id,
                "item_id": row.item_id,
                "objective": row.objective,
                "kind": row.kind,
                "difficulty": int(row.difficulty),
                "correct": row.correct,
                "score": row.score,
                "hint_level": row.hint_level,
                "first_attempt": row.first_attempt,
                "grader": row.grader,
                "confidence": row.confidence,
                "study_day": row.study_day,
                "at": row.at,
                "source": row.source,
                "criteria": _CRITERIA.dump_json(dict(row.criteria)).decode(),
                "supersedes": row.supersedes,
                "withdrawn": row.withdrawn,
            }
            for row in rows
        ),
    )


def read(
    session: Session, learner_id: str, *, objective: str | None = None
) -> tuple[Answered, ...]:
    """Return all rows of a learner, or those of one objective, oldest judgement first.

    They are the raw rows: ``standing`` says which of them count.
    """
    wanted = select(Evidence).where(Evidence.learner_id == learner_id)
    if objective is not None:
        wanted = wanted.where(Evidence.objective == objective)
    return tuple(_value(row) for row in session.exec(wanted.order_by(col(Evidence.id))))


def get(session: Session, evidence_id: str) -> Answered | None:
    """Return one row."""
    row = session.get(Evidence, evidence_id)
    return None if row is None else _value(row)


def _value(row: Evidence) -> Answered:
    return Answered(
        id=row.id,
        learner_id=row.learner_id,
        item_id=row.item_id,
        objective=row.objective,
        kind=ItemKind(row.kind),
        difficulty=Difficulty(row.difficulty),
        correct=row.correct,
        score=row.score,
        hint_level=row.hint_level,
        first_attempt=row.first_attempt,
        grader=Grader(row.grader),
        confidence=row.confidence,
        study_day=row.study_day,
        at=row.at,
        source=row.source,
        criteria=MappingProxyType(_CRITERIA.validate_json(row.criteria)),
        supersedes=row.supersedes,
        withdrawn=row.withdrawn,
    )


def _later_id(row: Answered, now: datetime) -> str:
    """A new id that sorts behind the row's own also where a clock went back."""
    made = new_id(now)
    return made if made > row.id else str(ULID.from_int(int(ULID.from_str(row.id)) + 1))
