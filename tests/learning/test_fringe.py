"""What comes next on a path."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.learning.fringe import Next, Objective, Why, cycle, next_objective, outer_fringe
from core.learning.mastery import Gate, Mastery, ObjectiveKind, Status
from tests.learning.answers import MONDAY

PATH = (
    Objective("sets", ObjectiveKind.MEMORY),
    Objective("counting", ObjectiveKind.PROCEDURE, ("sets",)),
    Objective("probability", ObjectiveKind.CONCEPT, ("sets", "counting")),
    Objective("conditional", ObjectiveKind.PROCEDURE, ("probability",)),
    Objective("graphs", ObjectiveKind.MEMORY, ("sets",)),
)


def at(
    status: Status, recall: float | None = None, *, misses: int = 0, right: float | None = None
) -> Mastery:
    """A state; ``right`` is in hours after the last miss."""
    return Mastery(
        status=status,
        gate=Gate(0, 0, 9, 10, ()),
        passed_day=None,
        placed=False,
        memory=None,
        recall=recall,
        misses=misses,
        missed_at=MONDAY if misses else None,
        right_at=None if right is None else MONDAY + timedelta(hours=right),
    )


KNOWN = at(Status.MASTERED, 0.95)


def test_it_begins_where_nothing_is_needed() -> None:
    assert next_objective(PATH, {}) == Next("sets", Why.LEARN)


def test_of_what_can_be_begun_the_nearest_to_the_goal_comes_first() -> None:
    states = {"sets": KNOWN}
    assert [each.id for each in outer_fringe(PATH, states)] == ["counting", "graphs"]
    assert next_objective(PATH, states) == Next("graphs", Why.LEARN)
    assert next_objective(PATH, states, goals=["conditional"]) == Next("counting", Why.LEARN)


def test_what_is_only_learning_opens_nothing() -> None:
    states = {"sets": KNOWN, "counting": at(Status.LEARNING)}
    assert "probability" not in [each.id for each in outer_fringe(PATH, states)]


@pytest.mark.parametrize("status", [Status.PROVISIONAL, Status.NEEDS_REVIEW, Status.MASTERED])
def test_what_was_passed_once_keeps_open_what_it_opened(status: Status) -> None:
    assert "counting" in [each.id for each in outer_fringe(PATH, {"sets": at(status, 0.4)})]


def test_a_faded_prerequisite_is_reviewed_first_the_weakest_before_others() -> None:
    states = {"sets": at(Status.MASTERED, 0.65), "counting": at(Status.MASTERED, 0.6)}
    wanted = Next("counting", Why.REVIEW, "probability")
    assert next_objective(PATH, states, goals=["conditional"]) == wanted
    states["counting"] = at(Status.MASTERED, 0.7)
    wanted = Next("sets", Why.REVIEW, "probability")
    assert next_objective(PATH, states, goals=["conditional"]) == wanted
    lapsed = {"sets": at(Status.NEEDS_REVIEW, 0.99), "counting": KNOWN}
    assert next_objective(PATH, lapsed, goals=["conditional"]) == wanted


def test_three_misses_lead_down_to_the_weakest_prerequisite_and_up_again() -> None:
    states = {
        "sets": at(Status.MASTERED, 0.9),
        "counting": at(Status.MASTERED, 0.8),
        "probability": at(Status.LEARNING, misses=2),
    }

    def chosen() -> Next | None:
        return next_objective(PATH, states, goals=["conditional"])

    assert chosen() == Next("probability", Why.LEARN)
    states["probability"] = at(Status.LEARNING, misses=3)
    assert chosen() == Next("counting", Why.STEP_DOWN, "probability")
    states["counting"] = at(Status.MASTERED, 0.99, right=-1)
    assert chosen() == Next("sets", Why.STEP_DOWN, "probability")
    states["sets"] = at(Status.MASTERED, 1.0, right=1)
    assert chosen() == Next("probability", Why.LEARN)


def test_at_the_end_what_has_faded_comes_back() -> None:
    states = {each.id: KNOWN for each in PATH}
    assert next_objective(PATH, states) is None
    states["graphs"] = at(Status.NEEDS_REVIEW, 0.4)
    states["sets"] = at(Status.NEEDS_REVIEW, 0.45)
    assert next_objective(PATH, states) == Next("graphs", Why.REVIEW)


def test_a_circle_is_found() -> None:
    assert cycle(PATH) == ()
    loop = (*PATH, Objective("a", ObjectiveKind.MEMORY, ("b",)))
    assert cycle((*loop, Objective("b", ObjectiveKind.MEMORY, ("sets", "a")))) == ("a", "b")
    assert cycle((Objective("x", ObjectiveKind.MEMORY, ("x",)),)) == ("x",)


@given(st.data())
def test_whoever_learns_what_comes_next_gets_to_the_end(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 9))
    path = [
        Objective(
            str(n),
            ObjectiveKind.MEMORY,
            tuple(str(m) for m in range(n) if data.draw(st.booleans())),
        )
        for n in range(size)
    ]
    path = data.draw(st.permutations(path))
    assert cycle(path) == ()
    states: dict[str, Mastery] = {}
    while (following := next_objective(path, states)) is not None:
        assert following.why is Why.LEARN
        assert following.objective not in states
        states[following.objective] = KNOWN
    assert len(states) == size
