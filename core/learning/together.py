"""A quiz of a group: one question for all, each answer private until it is closed.

An answer is kept as it was given, and may be changed, until whoever asked for the quiz closes the
question. Then every answer is graded and becomes its own learner's evidence; what is told of it are
numbers only, so nobody is shown up. Only choices are asked, since words would be read by all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlmodel import Session, col, select

from core.clock import standing, study_date
from core.context import ReplyTarget
from core.ids import new_id
from core.learning import evidence
from core.learning.evidence import Answered, Grader
from core.learning.grading import Verdict, grade
from core.learning.quiz import Asked, items_of
from core.store.tables import Learner, Quiz, QuizAnswer, QuizState


@dataclass(frozen=True, slots=True)
class Round:
    """A group's quiz as all see it."""

    id: str
    asker: str
    """Id of the learner who asked for it, and closes its questions."""
    topic: str
    language: str
    """What all read it in: that of the asker."""
    state: QuizState
    position: int
    items: tuple[Asked, ...]
    answers: int
    """How many have answered the open question."""

    @property
    def current(self) -> Asked | None:
        """The open question; None when the quiz is over."""
        over = self.state is not QuizState.ASKING or self.position >= len(self.items)
        return None if over else self.items[self.position]


@dataclass(frozen=True, slots=True)
class Count:
    """Answers, and how many of them are right."""

    right: int
    all: int


def load(session: Session, quiz_id: str) -> Round | None:
    """Return a group's quiz; None for one that is not there, or is one learner's alone."""
    row = session.get(Quiz, quiz_id)
    return _round(session, row) if row is not None and row.shared else None


def open_in(session: Session, target: ReplyTarget) -> Round | None:
    """Return the quiz that is open in a chat, or in a thread of it."""
    rows = [row for row in _open(session) if _same_place(row, target)]
    return _round(session, rows[-1]) if rows else None


def stop_in(session: Session, target: ReplyTarget) -> None:
    """End what is open in a chat; a new quiz takes its place."""
    for row in _open(session):
        if _same_place(row, target):
            row.state = QuizState.STOPPED
    session.flush()


def answer(session: Session, quiz: Round, learner_id: str, option: str, now: datetime) -> Round:
    """Keep what a learner chose; the last choice before the question is closed counts."""
    key = (quiz.id, quiz.position, learner_id)
    row = session.get(QuizAnswer, key)
    if row is None:
        row = QuizAnswer(quiz_id=quiz.id, nth=quiz.position, learner_id=learner_id, at=now)
        session.add(row)
    row.given, row.at = option, now
    session.flush()
    return _again(session, quiz)


def close(session: Session, quiz: Round, *, now: datetime, source: str) -> tuple[Round, Count]:
    """Grade the answers to the open question, write their evidence, move on to the next one.

    ``source`` is the event that closed it. Returns what the question came to as well.
    """
    asked = quiz.current
    if asked is None:
        return quiz, Count(0, 0)
    question = asked.question
    rows = session.exec(
        select(QuizAnswer).where(QuizAnswer.quiz_id == quiz.id, QuizAnswer.nth == quiz.position)
    ).all()
    right = 0
    for row in rows:
        found = grade(question.key, row.given or "", seed=asked.item_id)
        learner = session.get_one(Learner, row.learner_id)
        answered = Answered(
            id=new_id(now),
            learner_id=row.learner_id,
            item_id=asked.item_id,
            objective=None,
            kind=question.kind,
            difficulty=question.difficulty,
            correct=found.verdict is Verdict.RIGHT,
            score=found.score,
            hint_level=0,
            first_attempt=True,
            grader=Grader.CODE,
            confidence=1.0,
            study_day=study_date(row.at, ZoneInfo(standing(learner.zone))),
            at=row.at,
            source=source,
        )
        evidence.append(session, answered)
        row.verdict, row.score, row.evidence_id = found.verdict, found.score, answered.id
        right += answered.correct
    stored = session.get_one(Quiz, quiz.id)
    stored.position += 1
    stored.asked_at = now
    if stored.position >= len(quiz.items):
        stored.state = QuizState.DONE
    session.flush()
    return _again(session, quiz), Count(right, len(rows))


def total(session: Session, quiz: Round) -> Count:
    """Return what all closed questions came to together."""
    verdicts = session.exec(
        select(QuizAnswer.verdict).where(
            QuizAnswer.quiz_id == quiz.id, col(QuizAnswer.verdict).is_not(None)
        )
    ).all()
    return Count(sum(each == Verdict.RIGHT for each in verdicts), len(verdicts))


def stop(session: Session, quiz: Round) -> None:
    """End a quiz before its last question; the answers to the open one count for nothing."""
    session.get_one(Quiz, quiz.id).state = QuizState.STOPPED
    session.flush()


def _open(session: Session) -> list[Quiz]:
    wanted = select(Quiz).where(Quiz.state == QuizState.ASKING, col(Quiz.shared).is_(True))
    return list(session.exec(wanted.order_by(col(Quiz.id))))


def _same_place(row: Quiz, target: ReplyTarget) -> bool:
    place = ReplyTarget.model_validate(json.loads(row.target))
    return place.model_copy(update={"reply_to": None}) == target.model_copy(
        update={"reply_to": None}
    )


def _again(session: Session, quiz: Round) -> Round:
    return _round(session, session.get_one(Quiz, quiz.id))


def _round(session: Session, row: Quiz) -> Round:
    given = session.exec(
        select(QuizAnswer.learner_id).where(
            QuizAnswer.quiz_id == row.id, QuizAnswer.nth == row.position
        )
    ).all()
    return Round(
        row.id,
        row.learner_id,
        row.topic,
        row.language,
        QuizState(row.state),
        row.position,
        items_of(session, row),
        len(given),
    )
