"""What two learners have answered becomes one's, and is told apart again.

Evidence is never changed but for whose it is. Every function runs inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from sqlmodel import Session, col, select, update

from core.store.tables import Evidence, Item, Quiz, QuizAnswer

_AT_ONCE: Final = 500
"""Rows a statement: databases limit the number of its parameters."""


class Studies(BaseModel):
    """What went from one learner to the other, by the ids of the rows."""

    model_config = ConfigDict(extra="forbid")

    items: list[str] = []
    evidence: list[str] = []
    quizzes: list[str] = []


def join(session: Session, kept_id: str, other_id: str, moved: Studies) -> None:
    """Move all of the other learner's; what came late moves with the next call."""
    for table, ids in ((Item, moved.items), (Evidence, moved.evidence), (Quiz, moved.quizzes)):
        found = _ids(session, table, other_id)
        give(session, table, table.id, found, kept_id)
        ids += found
    _answers(session, moved.quizzes, other_id, kept_id)


def part(
    session: Session,
    kept_id: str,
    other_id: str,
    moved: Studies,
    since: datetime,
    theirs: Callable[[datetime], bool],
) -> None:
    """Move it back, and with it what was made since a moment while ``theirs`` were talking."""
    made = {
        table: [
            row_id
            for row_id, at in session.exec(
                select(table.id, moment).where(table.learner_id == kept_id, col(moment) >= since)
            )
            if theirs(at)
        ]
        for table, moment in (
            (Item, Item.created_at),
            (Evidence, Evidence.at),
            (Quiz, Quiz.created_at),
        )
    }
    quizzes = [*moved.quizzes, *made[Quiz]]
    for table, ids in ((Item, moved.items), (Evidence, moved.evidence), (Quiz, quizzes)):
        back = ids if table is Quiz else [*ids, *made[table]]
        mine = set(_ids(session, table, kept_id))
        give(session, table, table.id, [each for each in back if each in mine], other_id)
    _answers(session, quizzes, kept_id, other_id)


def give(session: Session, table: Any, key: Any, ids: Sequence[object], learner_id: str) -> None:
    """Make rows a learner's, by the values of their ``key``."""
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        session.exec(update(table).where(col(key).in_(some)).values(learner_id=learner_id))


def _ids(session: Session, table: Any, learner_id: str) -> list[str]:
    return list(session.exec(select(table.id).where(table.learner_id == learner_id)))


def _answers(session: Session, quizzes: Sequence[str], come_from: str, to: str) -> None:
    """The answers to one's own quizzes go with them; in a group's both have theirs already."""
    for start in range(0, len(quizzes), _AT_ONCE):
        some = quizzes[start : start + _AT_ONCE]
        alone = select(Quiz.id).where(col(Quiz.id).in_(some), col(Quiz.shared).is_(False))
        session.exec(
            update(QuizAnswer)
            .where(col(QuizAnswer.quiz_id).in_(alone), col(QuizAnswer.learner_id) == come_from)
            .values(learner_id=to)
        )
