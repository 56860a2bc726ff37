"""One quiz: its questions, what became of each, and what it comes to. Then its rows.

A quiz stands at one open question, and whatever is done with it moves the quiz on by one, in one
transaction; so a restart in the middle loses nothing, and a second tap changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from sqlmodel import Session, col, select

from core.context import ReplyTarget
from core.ids import new_id
from core.learning import evidence
from core.learning.cards import BACK_MAX, FRONT_MAX, CardText
from core.learning.evidence import TOLD, Answered, Grader
from core.learning.grading import Verdict
from core.learning.items import Question, label, options, right_answer
from core.store.session import insert_rows, update_where
from core.store.tables import Item, Quiz, QuizAnswer, QuizState

HINTED: Final = 1
"""Level of the one hint that a quiz gives."""
TALKED: Final = 2
"""Level of a talk with the tutor while the question stood open."""
KNOWN_QUESTIONS: Final = 40
"""Newest questions of a learner that are not to be asked again."""
_LINE: Final = 300
GIVEN_MAX: Final = 2_000
"""Characters of an answer that are kept."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a quiz; its id is the seed of the order of its options."""

    item_id: str
    question: Question


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a learner did with a question."""

    verdict: Verdict | None
    """Undecided when nobody could tell; None for a question passed over."""
    given: str
    score: float
    """0 to 1."""
    hint_level: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """A quiz as one learner sees it."""

    id: str
    learner_id: str
    topic: str
    language: str
    state: QuizState
    position: int
    """Number of the open question, from 0."""
    asked_at: datetime
    items: tuple[Asked, ...]
    outcomes: Mapping[int, Outcome]
    """By the number of the question."""
    hint_level: int
    """What was helped with the open question."""

    @property
    def current(self) -> Asked | None:
        """The open question; None when the quiz is over."""
        over = self.state is not QuizState.ASKING or self.position >= len(self.items)
        return None if over else self.items[self.position]

    @property
    def result(self) -> Result:
        """What it has come to so far."""
        verdicts = [outcome.verdict for outcome in self.outcomes.values()]
        return Result(
            right=verdicts.count(Verdict.RIGHT),
            partly=verdicts.count(Verdict.PARTIAL),
            missed=verdicts.count(Verdict.WRONG) + verdicts.count(None),
            unsure=verdicts.count(Verdict.UNDECIDED),
        )

    @property
    def misses(self) -> tuple[Asked, ...]:
        """The questions that were answered wrong or passed over, in order."""
        return tuple(
            self.items[nth]
            for nth, outcome in sorted(self.outcomes.items())
            if outcome.verdict in (None, Verdict.WRONG)
        )


@dataclass(frozen=True, slots=True)
class Result:
    """The questions that were dealt with, by what became of them."""

    right: int
    partly: int
    missed: int
    unsure: int
    """Those that nobody could grade; they do not count."""

    @property
    def counted(self) -> int:
        """How many of them count."""
        return self.right + self.partly + self.missed


@dataclass(frozen=True, slots=True)
class Graded:
    """What was found of an answer, to be recorded."""

    verdict: Verdict | None
    """None for a question passed over."""
    given: str = ""
    score: float = 0.0
    grader: Grader = Grader.CODE
    confidence: float = 1.0
    criteria: Mapping[str, bool] | None = None


def card_of(asked: Asked) -> CardText:
    """Return the card that a missed question becomes."""
    question, key = asked.question, asked.question.key
    front = question.text
    shown = options(key, asked.item_id)
    listed = "\n".join(f"{label(n)}: {each}" for n, each in enumerate(shown))
    if shown and len(front) + len(listed) + 2 <= FRONT_MAX:
        front = f"{front}\n\n{listed}"
    back = right_answer(key, asked.item_id)
    if question.explanation and len(back) + len(question.explanation) + 2 <= BACK_MAX:
        back = f"{back}\n\n{question.explanation}"
    return CardText(_fitting(front, FRONT_MAX), _fitting(back, BACK_MAX))


# --- rows -----------------------------------------------------------------------------------------


def begin(
    session: Session,
    *,
    learner_id: str,
    conversation_id: str,
    target: ReplyTarget,
    topic: str,
    language: str,
    questions: Sequence[Question],
    now: datetime,
    shared: bool = False,
) -> Sheet:
    """Store a quiz that stands at its first question; an earlier one is for the caller to stop.

    A ``shared`` one is everybody's in its chat (``core.learning.together``).
    """
    quiz_id = new_id(now)
    items = [Asked(new_id(now), question) for question in questions]
    insert_rows(
        session,
        Item,
        *(
            {
                "id": item.item_id,
                "learner_id": learner_id,
                "objective": None,
                "topic": topic,
                "kind": item.question.kind,
                "difficulty": int(item.question.difficulty),
                "question": item.question.model_dump_json(),
                "created_from": f"quiz:{quiz_id}",
                "created_at": now,
            }
            for item in items
        ),
    )
    session.add(
        Quiz(
            id=quiz_id,
            learner_id=learner_id,
            conversation_id=conversation_id,
            target=target.model_dump_json(),
            topic=topic,
            language=language,
            shared=shared,
            items=json.dumps([item.item_id for item in items]),
            asked_at=now,
            created_at=now,
        )
    )
    session.flush()
    return Sheet(
        quiz_id, learner_id, topic, language, QuizState.ASKING, 0, now, tuple(items), {}, 0
    )


def open_quiz(session: Session, conversation_id: str, learner_id: str) -> Sheet | None:
    """Return the quiz that a learner has open in a conversation."""
    rows = _open(session, conversation_id, learner_id)
    return _sheet(session, rows[-1]) if rows else None


def load(session: Session, quiz_id: str, learner_id: str) -> Sheet | None:
    """Return a quiz of this learner alone; None for one that is not there, or not theirs."""
    row = session.get(Quiz, quiz_id)
    own = row is not None and row.learner_id == learner_id and not row.shared
    return _sheet(session, row) if own and row is not None else None


def note(session: Session, conversation_id: str, learner_id: str) -> str:
    """Return what a tutor has to know of the quiz that is open; empty when none is.

    The answer of the open question is not in it, so that it cannot slip out.
    """
    sheet = open_quiz(session, conversation_id, learner_id)
    if sheet is None or sheet.current is None:
        return ""
    parts = [
        f"- A quiz is open, and this question of it waits for the learner: "
        f"{_line(sheet.current.question.text)} Do not answer it and rule out no option; help with "
        "what it is about, in one or two sentences, and say that it waits."
    ]
    last = sheet.outcomes.get(sheet.position - 1)
    if last is not None:
        asked = sheet.items[sheet.position - 1]
        parts.append(
            f"- The question before: {_line(asked.question.text)} Answered: "
            f"{_line(last.given) or 'passed over'} ({last.verdict or 'not answered'}). Right is: "
            f"{_line(right_answer(asked.question.key, asked.item_id))}"
        )
    return "\n".join(parts)


def known_questions(session: Session, learner_id: str) -> tuple[str, ...]:
    """Return what a learner was asked of late, the newest first."""
    rows = session.exec(
        select(Item.question)
        .where(Item.learner_id == learner_id)
        .order_by(col(Item.id).desc())
        .limit(KNOWN_QUESTIONS)
    )
    return tuple(Question.model_validate_json(row).text for row in rows)


def give_hint(session: Session, sheet: Sheet, now: datetime) -> Sheet:
    """Note that the open question was helped with."""
    row = _answer_row(session, sheet, sheet.position, now)
    row.hint_level = max(row.hint_level, HINTED)
    session.flush()
    return _again(session, sheet)


def talk_about(session: Session, sheet: Sheet, now: datetime) -> None:
    """Note that something was talked about while a question stood open: it may have helped."""
    fresh = _again(session, sheet)
    if fresh.current is not None and fresh.position == sheet.position:
        row = _answer_row(session, sheet, sheet.position, now)
        row.hint_level = max(row.hint_level, TALKED)


def settle(
    session: Session, sheet: Sheet, found: Graded, *, day: date, now: datetime, source: str
) -> Sheet:
    """Record what became of the open question, with its evidence, and move on to the next.

    ``source`` is the event of the answer, ``day`` the learner's study day. What nobody could grade
    is no evidence.
    """
    asked = sheet.current
    if asked is None:
        return sheet
    row = _answer_row(session, sheet, sheet.position, now)
    row.given = found.given[:GIVEN_MAX] or None
    row.verdict, row.score, row.at = found.verdict, found.score, now
    if found.verdict is not Verdict.UNDECIDED:
        answered = Answered(
            id=new_id(now),
            learner_id=sheet.learner_id,
            item_id=asked.item_id,
            objective=None,
            kind=asked.question.kind,
            difficulty=asked.question.difficulty,
            correct=found.verdict is Verdict.RIGHT,
            score=found.score,
            # Who passes a question over sees its answer, and has not given it.
            hint_level=TOLD if found.verdict is None else row.hint_level,
            first_attempt=True,
            grader=found.grader,
            confidence=found.confidence,
            study_day=day,
            at=now,
            source=source,
            criteria=found.criteria or {},
        )
        session.flush()
        evidence.append(session, answered)
        row.evidence_id = answered.id
    quiz = session.get_one(Quiz, sheet.id)
    quiz.position += 1
    quiz.asked_at = now
    if quiz.position >= len(sheet.items):
        quiz.state = QuizState.DONE
    session.flush()
    return _again(session, sheet)


def judge_anew(
    session: Session, sheet: Sheet, nth: int, found: Graded, *, now: datetime
) -> Sheet | None:
    """Record that an answer was looked at again and found better; None where there is nothing to.

    The earlier judgement stays where it is, and a further row takes its place.
    """
    row = session.get(QuizAnswer, (sheet.id, nth, sheet.learner_id))
    if row is None or row.evidence_id is None or row.verdict == Verdict.RIGHT:
        return None
    first = evidence.get(session, row.evidence_id)
    if first is None or found.verdict is None:
        return None
    anew = evidence.judged_anew(
        first,
        correct=found.verdict is Verdict.RIGHT,
        score=found.score,
        grader=found.grader,
        confidence=found.confidence,
        now=now,
    )
    evidence.append(session, anew)
    row.verdict, row.score, row.evidence_id = found.verdict, found.score, anew.id
    session.flush()
    return _again(session, sheet)


def stop(session: Session, sheet: Sheet) -> None:
    """End a quiz before its last question."""
    equal = {"id": sheet.id, "state": QuizState.ASKING}
    update_where(session, Quiz, equal, {"state": QuizState.STOPPED})


def _open(session: Session, conversation_id: str, learner_id: str) -> Sequence[Quiz]:
    return session.exec(
        select(Quiz)
        .where(
            Quiz.conversation_id == conversation_id,
            Quiz.state == QuizState.ASKING,
            Quiz.learner_id == learner_id,
            col(Quiz.shared).is_(False),
        )
        .order_by(col(Quiz.id))
    ).all()


def items_of(session: Session, row: Quiz) -> tuple[Asked, ...]:
    """Return the questions of a quiz, in the order of asking."""
    ids: list[str] = json.loads(row.items)
    items = {
        item.id: Asked(item.id, Question.model_validate_json(item.question))
        for item in session.exec(select(Item).where(col(Item.id).in_(ids)))
    }
    return tuple(items[each] for each in ids)


def _sheet(session: Session, row: Quiz) -> Sheet:
    answers = {
        each.nth: each
        for each in session.exec(
            select(QuizAnswer).where(
                QuizAnswer.quiz_id == row.id, QuizAnswer.learner_id == row.learner_id
            )
        )
    }
    here = answers.get(row.position)
    return Sheet(
        id=row.id,
        learner_id=row.learner_id,
        topic=row.topic,
        language=row.language,
        state=QuizState(row.state),
        position=row.position,
        asked_at=row.asked_at,
        items=items_of(session, row),
        outcomes={
            nth: Outcome(
                None if each.verdict is None else Verdict(each.verdict),
                each.given or "",
                each.score or 0.0,
                each.hint_level,
            )
            for nth, each in answers.items()
            if nth < row.position
        },
        hint_level=here.hint_level if here else 0,
    )


def _again(session: Session, sheet: Sheet) -> Sheet:
    return _sheet(session, session.get_one(Quiz, sheet.id))


def _answer_row(session: Session, sheet: Sheet, nth: int, now: datetime) -> QuizAnswer:
    key = (sheet.id, nth, sheet.learner_id)
    row = session.get(QuizAnswer, key)
    if row is None:
        row = QuizAnswer(quiz_id=sheet.id, nth=nth, learner_id=sheet.learner_id, at=now)
        session.add(row)
    return row


def _line(text: str) -> str:
    return _fitting(" ".join(text.split()), _LINE)


def _fitting(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
