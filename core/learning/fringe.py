"""What to learn next on a path: the outer fringe, pure.

The outer fringe are the objectives not passed yet whose prerequisites all are. The one nearest to
the goal comes first; where it was missed three times in a row its weakest prerequisite does, and a
prerequisite that has faded is reviewed before anything is built on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.learning.mastery import Mastery, ObjectiveKind, Status

STEP_DOWN_AFTER: Final = 3
"""Misses in a row after which something easier comes first."""
REVIEW_UNDER: Final = 0.7
"""Chance of recall under which a prerequisite is reviewed before its successor is taught."""


@dataclass(frozen=True, slots=True)
class Objective:
    """One thing to be learned."""

    id: str
    kind: ObjectiveKind
    prerequisites: tuple[str, ...] = ()
    """Ids of objectives of the same path."""


class Why(StrEnum):
    """Why this objective."""

    LEARN = "learn"
    """It is next."""
    REVIEW = "review"
    """It has faded, and what comes next builds on it."""
    STEP_DOWN = "step_down"
    """What comes next was missed again and again, and builds on it."""


@dataclass(frozen=True, slots=True)
class Next:
    """What to do now."""

    objective: str
    why: Why
    towards: str | None = None
    """The objective that waits for it."""


def next_objective(
    objectives: Sequence[Objective],
    states: Mapping[str, Mastery],
    *,
    goals: Collection[str] = (),
) -> Next | None:
    """Choose what to learn now; None when all is passed and fresh, or nothing can be begun.

    ``states`` are the learner's, as of today; one that is missing is new. ``goals`` are the
    objectives that matter most, by default those that nothing builds on.
    """
    fringe = outer_fringe(objectives, states)
    if not fringe:
        return _faded_of(objectives, states)
    distance = _distances(objectives, goals)
    unlocks = _unlocks(objectives)
    place = {objective.id: index for index, objective in enumerate(objectives)}

    def rank(objective: Objective) -> tuple[int, int, float, int]:
        return (
            distance.get(objective.id, len(objectives)),
            -unlocks[objective.id],
            min((_recall(states, each) for each in objective.prerequisites), default=1.0),
            place[objective.id],
        )

    chosen = min(fringe, key=rank)
    weakest = min(
        chosen.prerequisites, key=lambda each: (_recall(states, each), place[each]), default=None
    )
    if weakest is None:
        return Next(chosen.id, Why.LEARN)
    faded = [each for each in chosen.prerequisites if _faded(states, each)]
    if faded:
        first = min(faded, key=lambda each: (_recall(states, each), place[each]))
        return Next(first, Why.REVIEW, chosen.id)
    state = states.get(chosen.id)
    if state is not None and state.misses >= STEP_DOWN_AFTER:
        # Once one of them was answered right since the last miss, it goes on upwards.
        strengthened = any(_right_since(states, p, state.missed_at) for p in chosen.prerequisites)
        if not strengthened:
            return Next(weakest, Why.STEP_DOWN, chosen.id)
    return Next(chosen.id, Why.LEARN)


def outer_fringe(objectives: Sequence[Objective], states: Mapping[str, Mastery]) -> list[Objective]:
    """Return what can be learned now, in the order of the path."""
    return [
        objective
        for objective in objectives
        if not _passed(states, objective.id)
        and all(_passed(states, each) for each in objective.prerequisites)
    ]


def cycle(objectives: Sequence[Objective]) -> tuple[str, ...]:
    """Return objectives that wait for each other in a circle, empty when there are none."""
    needs = {objective.id: objective.prerequisites for objective in objectives}
    done: set[str] = set()
    for start in needs:
        trail: list[str] = []
        pending = [(start, iter(needs[start]))] if start not in done else []
        trail.extend(each for each, _ in pending)
        while pending:
            here, left = pending[-1]
            following = next((each for each in left if each in needs and each not in done), None)
            if following is None:
                done.add(here)
                pending.pop()
                trail.pop()
            elif following in trail:
                return tuple(trail[trail.index(following) :])
            else:
                trail.append(following)
                pending.append((following, iter(needs[following])))
    return ()


def _passed(states: Mapping[str, Mastery], objective: str) -> bool:
    state = states.get(objective)
    return state is not None and state.status.passed


def _recall(states: Mapping[str, Mastery], objective: str) -> float:
    state = states.get(objective)
    return 0.0 if state is None or state.recall is None else state.recall


def _faded(states: Mapping[str, Mastery], objective: str) -> bool:
    state = states[objective]
    return state.status is Status.NEEDS_REVIEW or _recall(states, objective) < REVIEW_UNDER


def _faded_of(objectives: Sequence[Objective], states: Mapping[str, Mastery]) -> Next | None:
    """With nothing left to begin, the objective that has faded most."""
    worn = [
        objective.id
        for objective in objectives
        if _passed(states, objective.id) and states[objective.id].status is Status.NEEDS_REVIEW
    ]
    if not worn:
        return None
    return Next(min(worn, key=lambda each: _recall(states, each)), Why.REVIEW)


def _right_since(states: Mapping[str, Mastery], objective: str, moment: datetime | None) -> bool:
    right_at = states[objective].right_at
    return right_at is not None and moment is not None and right_at > moment


def _distances(objectives: Sequence[Objective], goals: Collection[str]) -> dict[str, int]:
    """Steps from each objective up to the nearest goal; objectives that lead to none are left out.

    Walks down from the goals, level by level.
    """
    needs = {objective.id: objective.prerequisites for objective in objectives}
    built_on = {each for prerequisites in needs.values() for each in prerequisites}
    level = [each for each in needs if (each in goals if goals else each not in built_on)]
    found: dict[str, int] = {}
    steps = 0
    while level:
        for each in level:
            found.setdefault(each, steps)
        below = {p for each in level for p in needs[each] if p in needs and p not in found}
        level, steps = sorted(below), steps + 1
    return found


def _unlocks(objectives: Sequence[Objective]) -> dict[str, int]:
    """How many objectives name each one as a prerequisite."""
    count = {objective.id: 0 for objective in objectives}
    for objective in objectives:
        for each in set(objective.prerequisites):
            if each in count:
                count[each] += 1
    return count
