"""Evidence is only ever added to, and says the same however it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import copyfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import Session

from core.i18n import words_for
from core.learning.evidence import Answered, Grader, append, judged_anew, read, standing, undone
from core.learning.items import Difficulty, FreeKey, ItemKind, Question
from core.store.session import Store
from core.store.tables import Item, Learner
from tests.learning.answers import LEARNER, MONDAY, answered

LATER = MONDAY + timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path, fresh_database: Path) -> Iterator[Store]:
    copyfile(fresh_database, tmp_path / "partners.db")
    opened = Store.open(f"sqlite:///{tmp_path / 'partners.db'}", words_for("en"))
    yield opened
    opened.close()


def _people(session: Session) -> None:
    for learner_id in (LEARNER, LEARNER[:-1] + "2"):
        session.add(Learner(id=learner_id, zone="UTC", seen_at=MONDAY, created_at=MONDAY))
        session.flush()
    question = Question(text="Why?", key=FreeKey(reference="Because."))
    for item in "ab":
        session.add(
            Item(
                id=item,
                learner_id=LEARNER,
                topic="why",
                kind=ItemKind.FREE,
                difficulty=2,
                question=question.model_dump_json(),
                created_from="quiz:q",
                created_at=MONDAY,
            )
        )


async def test_what_is_written_is_read_as_it_was(store: Store) -> None:
    rows = (
        answered("a", criteria={"cause": True, "example": False}, score=0.5, right=False),
        answered("b", minute=1, kind=ItemKind.CHOICE, difficulty=Difficulty.HARD, hint_level=2),
        answered("b", minute=2, objective=None, grader=Grader.MODEL, confidence=0.9),
    )
    await store.write(_people)
    await store.write(lambda session: append(session, *rows))
    assert await store.read(lambda session: read(session, LEARNER)) == rows
    assert await store.read(lambda session: read(session, LEARNER, objective="o")) == rows[:2]
    assert await store.read(lambda session: read(session, LEARNER[:-1] + "2")) == ()


async def test_an_appeal_adds_a_row_and_leaves_the_first_one(store: Store) -> None:
    first = answered("a", right=False)
    granted = judged_anew(
        first, correct=True, score=1.0, grader=Grader.LEARNER, confidence=1.0, now=LATER
    )
    await store.write(_people)
    await store.write(lambda session: append(session, first))
    await store.write(lambda session: append(session, granted))
    rows = await store.read(lambda session: read(session, LEARNER))
    assert rows == (first, granted)
    assert standing(rows) == (granted,)
    assert (granted.at, granted.study_day) == (first.at, first.study_day)


def test_an_undo_leaves_the_place_empty_and_can_be_undone() -> None:
    first, second = answered("a"), answered("b", minute=5)
    back = undone(first, LATER)
    assert standing([first, second, back]) == (second,)
    again = replace(
        judged_anew(back, correct=True, score=1, grader=Grader.CODE, confidence=1, now=LATER)
    )
    assert standing([first, second, back, again]) == (again, second)


def test_of_two_judgements_of_one_answer_the_later_one_counts() -> None:
    first = answered("a", right=False)
    one = judged_anew(first, correct=True, score=1, grader=Grader.LEARNER, confidence=1, now=LATER)
    two = judged_anew(
        first,
        correct=False,
        score=0,
        grader=Grader.MODEL,
        confidence=1,
        now=LATER + timedelta(minutes=1),
    )
    assert standing([two, first, one]) == (two,)


def test_a_judgement_sorts_behind_what_it_replaces_also_after_the_clock_went_back() -> None:
    first = answered("a")
    assert undone(first, MONDAY - timedelta(days=400)).id > first.id


@given(st.data())
def test_the_order_in_which_rows_are_read_changes_nothing(data: st.DataObject) -> None:
    rows: list[Answered] = [answered(f"i{n}", minute=n, right=n % 2 == 0) for n in range(4)]
    for step in range(data.draw(st.integers(0, 6))):
        target = data.draw(st.sampled_from(rows))
        now = LATER + timedelta(minutes=step)
        rows.append(
            undone(target, now)
            if data.draw(st.booleans())
            else judged_anew(
                target, correct=True, score=1, grader=Grader.LEARNER, confidence=1, now=now
            )
        )
    expected = standing(rows)
    assert standing(data.draw(st.permutations(rows))) == expected
    assert standing([*rows, *rows]) == expected
    assert len(expected) <= 4, "one answer counts once"
    assert list(expected) == sorted(expected, key=lambda row: (row.at, row.id))
