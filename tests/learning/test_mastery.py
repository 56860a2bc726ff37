"""The gate: its truth table, what follows it, the simulations it was chosen by, and any history."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from core.learning.evidence import TOLD, Answered, Grader, judged_anew, standing, undone
from core.learning.items import Difficulty, ItemKind
from core.learning.mastery import (
    Gate,
    Mastery,
    Missing,
    ObjectiveKind,
    Status,
    gate,
    mastery,
    rating_of,
)
from core.learning.spacing import Rating
from tests.learning.answers import MONDAY, answered

DAY = date(2026, 11, 30)


def history(
    marks: str = "1111111111", *, days: Sequence[int] = (), items: str = "abc", **more: Any
) -> list[Answered]:
    """Answers in a row; the second half comes a day later unless ``days`` says otherwise.

    Each has an item of its own, made of the letters that are given.
    """
    days = days or [0 if n < len(marks) // 2 else 1 for n in range(len(marks))]
    return [
        answered(
            items[n % len(items)] + str(n // len(items)),
            day=days[n],
            minute=n,
            right=mark == "1",
            **more,
        )
        for n, mark in enumerate(marks)
    ]


def state(rows: Sequence[Answered], day: int = 1, **more: object) -> Mastery:
    today = DAY + timedelta(days=day)
    return mastery(rows, ObjectiveKind.PROCEDURE, today, **more)  # type: ignore[arg-type]


def judged(rows: Sequence[Answered], **more: object) -> Gate:
    return gate(standing(rows), ObjectiveKind.PROCEDURE, **more)  # type: ignore[arg-type]


TRUTH: list[tuple[str, list[Answered], set[Missing]]] = [
    ("ten of ten over two days", history(), set()),
    ("nine of ten", history("0111111111"), set()),
    ("nine of ten, the miss in the middle", history("1110111111"), set()),
    ("eight of ten", history("0110111111"), {Missing.RIGHT}),
    ("early errors let go", history("0000" + "1" * 10), set()),
    ("nine answers are too few", history("1" * 9), {Missing.ANSWERS}),
    ("one day", history(days=[0] * 10), {Missing.DAYS}),
    ("the latest day begins with a miss", history("1111101111"), {Missing.DELAYED}),
    (
        "three items are enough over several days",
        [answered(i, day=d, minute=n) for d in range(4) for n, i in enumerate("abc")],
        set(),
    ),
    (
        "two items again and again",
        [answered(i, day=d, minute=n) for d in range(5) for n, i in enumerate("ab")],
        {Missing.ITEMS},
    ),
    ("only easy ones", history(difficulty=Difficulty.EASY), {Missing.TARGET}),
    (
        "one of them at target",
        [*history("1" * 9, difficulty=Difficulty.EASY), answered("z", day=1, minute=50)],
        set(),
    ),
    ("hard ones are at target too", history(difficulty=Difficulty.HARD), set()),
    ("multiple choice counts fully", history(kind=ItemKind.CHOICE), set()),
    (
        "true or false never counts",
        history(kind=ItemKind.TRUE_FALSE),
        {
            Missing.ANSWERS,
            Missing.RIGHT,
            Missing.ITEMS,
            Missing.TARGET,
            Missing.DAYS,
            Missing.DELAYED,
        },
    ),
    (
        "a repetition on the same day counts once",
        [*history("1" * 9), answered("a0", day=0, minute=3)],
        {Missing.ANSWERS},
    ),
    (
        "the same item on another day counts again",
        [*history("1" * 9), answered("a0", day=1, minute=30)],
        set(),
    ),
    (
        "a second try counts for nothing",
        [*history("1" * 9), answered("z", day=1, minute=30, first_attempt=False)],
        {Missing.ANSWERS},
    ),
    (
        "an answer with help counts for nothing",
        [*history("1" * 9), answered("z", day=1, minute=30, hint_level=1)],
        {Missing.ANSWERS},
    ),
    (
        "what was told counts as missed",
        [*history("0" + "1" * 8), answered("z", day=1, minute=30, hint_level=TOLD)],
        {Missing.RIGHT},
    ),
    (
        "the latest day begins with help",
        [*history(), answered("z", day=1, minute=1, hint_level=1)],
        {Missing.DELAYED},
    ),
    (
        "a grader that is not sure does not count",
        [*history("1" * 9), answered("z", day=1, minute=30, grader=Grader.MODEL, confidence=0.7)],
        {Missing.ANSWERS},
    ),
    (
        "a grader that is sure does",
        [*history("1" * 9), answered("z", day=1, minute=30, grader=Grader.MODEL, confidence=0.8)],
        set(),
    ),
]


@pytest.mark.parametrize(
    ("rows", "missing"), [(rows, m) for _, rows, m in TRUTH], ids=[t for t, _, _ in TRUTH]
)
def test_truth_table(rows: list[Answered], missing: set[Missing]) -> None:
    found = judged(rows)
    assert set(found.missing) == missing
    assert found.open is (not missing)
    assert state(rows).status.passed == (not missing)


@pytest.mark.parametrize(
    ("hours_before", "opens"), [(17.9, False), (18, True), (40, True), (-1, True)]
)
def test_the_first_answer_of_the_day_comes_long_after_teaching(
    hours_before: float, opens: bool
) -> None:
    rows = history()
    first = next(row for row in rows if row.study_day > DAY)
    taught = [first.at - timedelta(hours=hours_before)]
    assert judged(rows, taught=taught).open is opens
    assert state(rows, taught=taught).status.passed is opens


def test_a_worked_analogue_is_teaching_and_a_pointer_is_not() -> None:
    rows = history()
    for level, opens in ((1, True), (2, True), (3, False)):
        # The evening before, eleven hours ahead of the latest day's first answer.
        helped = answered("h", day=0, minute=13 * 60, hint_level=level)
        assert judged([*rows, helped]).open is opens


def test_what_was_passed_stays_passed_whatever_follows() -> None:
    rows = history()
    missed = [answered("z", day=2 + n, minute=1, right=False) for n in range(12)]
    after = state([*rows, *missed], day=14)
    assert after.status is Status.NEEDS_REVIEW
    assert after.passed_day == DAY + timedelta(days=1)
    assert not after.gate.open, "the score of now is shown as it is"


def test_it_is_provisional_until_a_review_on_a_later_day() -> None:
    rows = history()
    assert state(rows).status is Status.PROVISIONAL
    same_day = [*rows, answered("z", day=1, minute=300)]
    assert state(same_day).status is Status.PROVISIONAL
    assert state([*rows, answered("z", day=3)], day=3).status is Status.MASTERED
    helped = [*rows, answered("z", day=3, hint_level=1)]
    assert state(helped, day=3).status is Status.PROVISIONAL
    guessed = [*rows, answered("z", day=3, kind=ItemKind.TRUE_FALSE)]
    assert state(guessed, day=3).status is Status.PROVISIONAL
    explained = [answered("z", day=3).at - timedelta(hours=2)]
    assert (
        state([*rows, answered("z", day=3)], day=3, taught=explained).status is Status.PROVISIONAL
    )


def test_one_lapse_is_forgiven_and_two_in_a_row_need_review() -> None:
    mastered = [*history(), answered("y", day=3)]
    one = [*mastered, answered("z", day=9, right=False)]
    assert state(one, day=9).status is Status.MASTERED
    between = [*one, answered("z", day=10), answered("z", day=13, right=False)]
    assert state(between, day=13).status is Status.MASTERED
    two = [*one, answered("z", day=10, right=False)]
    assert state(two, day=10).status is Status.NEEDS_REVIEW
    again = [*two, answered("z", day=11)]
    assert state(again, day=11).status is Status.MASTERED
    same_day = [*mastered, *(answered(f"m{n}", day=9, minute=n, right=False) for n in range(3))]
    assert state(same_day, day=9).status is Status.MASTERED, "one day's misses are one lapse"


def test_what_nobody_asked_for_long_needs_review() -> None:
    rows = history()
    fading = [state(rows, day=day) for day in (1, 3, 30, 400)]
    assert [each.status for each in fading[:3]] == [Status.PROVISIONAL] * 3
    assert fading[3].status is Status.NEEDS_REVIEW
    recalls = [each.recall or 0.0 for each in fading]
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[3] < 0.5


def test_the_first_review_is_due_after_two_days() -> None:
    memory = state(history()).memory
    assert memory is not None
    assert memory.due_day == DAY + timedelta(days=3)


def placing(marks: str = "11111", **more: Any) -> list[Answered]:
    rows = [answered(f"p{n}", minute=n, right=mark == "1", **more) for n, mark in enumerate(marks)]
    return [replace(rows[0], difficulty=Difficulty.HARD), *rows[1:]] if rows else rows


@pytest.mark.parametrize(
    ("rows", "placed"),
    [
        (placing(), True),
        (placing("1111"), False),
        (placing("11110"), False),
        (placing("111101"), False),
        (placing("0" + "1" * 6), False),
        (placing(kind=ItemKind.NUMBER), True),
        (placing(kind=ItemKind.CHOICE), False),
        (placing(kind=ItemKind.ORDER), False),
        ([replace(row, difficulty=Difficulty.TARGET) for row in placing()], False),
        ([*placing("1111"), answered("late", day=1)], False),
        ([answered("h", minute=-1, hint_level=1), *placing()], False),
        ([answered("yesterday", day=-1), *placing()], False),
        ([replace(row, item_id="p") for row in placing()], False),
    ],
)
def test_placement(rows: list[Answered], placed: bool) -> None:
    found = state(rows, day=0)
    assert found.placed is placed
    assert found.status is (Status.PROVISIONAL if placed else Status.LEARNING)


def test_nobody_is_placed_after_having_been_taught() -> None:
    assert not state(placing(), day=0, taught=[MONDAY - timedelta(days=3)]).placed


def test_words_are_judged_by_every_criterion() -> None:
    met = {"names it": True, "gives a reason": True}
    partly = {"names it": True, "gives a reason": False}

    def judge(*criteria: dict[str, bool], kind: ObjectiveKind = ObjectiveKind.CONCEPT) -> Mastery:
        rows = [
            answered(f"i{n}", day=n, criteria=each, grader=Grader.MODEL, confidence=0.9)
            for n, each in enumerate(criteria)
        ]
        return mastery(rows, kind, DAY + timedelta(days=len(criteria)))

    assert judge(met, met, met).status is Status.PROVISIONAL
    assert judge(met, met, met, kind=ObjectiveKind.DESIGN).status is Status.PROVISIONAL
    assert judge(met, met).gate.missing == (Missing.ANSWERS, Missing.RIGHT)
    assert Missing.RIGHT in judge(met, met, partly).gate.missing
    assert judge(partly, met, met, met).status is Status.PROVISIONAL
    # One yes from the model, without criteria, is nothing.
    assert judge({}, {}, {}).status is Status.LEARNING
    assert judge({}, {}, {}).gate.of == 0


def test_an_appeal_can_open_the_gate_and_an_undo_close_it() -> None:
    rows = history("0110111111")
    assert not state(rows).status.passed
    later = MONDAY + timedelta(days=1, hours=5)
    granted = judged_anew(
        rows[0], correct=True, score=1.0, grader=Grader.LEARNER, confidence=1.0, now=later
    )
    assert state([*rows, granted]).status.passed
    assert not state([*rows, granted, undone(rows[3], later)]).status.passed, "nine are too few"


@pytest.mark.parametrize(
    ("more", "rating"),
    [
        ({}, Rating.GOOD),
        ({"hint_level": 1}, Rating.HARD),
        ({"first_attempt": False}, Rating.HARD),
        ({"right": False, "score": 0.5}, Rating.HARD),
        ({"right": False, "score": 0.4}, Rating.AGAIN),
        ({"right": False}, Rating.AGAIN),
        ({"hint_level": TOLD}, Rating.AGAIN),
    ],
)
def test_what_an_answer_says_about_memory(more: dict[str, object], rating: Rating) -> None:
    assert rating_of(answered(**more)) is rating  # type: ignore[arg-type]


# --- the simulations that the rule was chosen by --------------------------------------------------

GUESS, SLIP, LEARN, OVERNIGHT, A_DAY = 0.25, 0.08, 0.12, 0.4, 6
"""A choice of four; chance to miss what is known, to learn from an answer, to lose what was learned
on a day over night; answers a day."""

Rule = Callable[[Sequence[Answered]], bool]
_ROWS = {
    (n, right): answered(f"i{n}", day=n // A_DAY, minute=n % A_DAY, right=right)
    for n in range(60)
    for right in (True, False)
}


def ours(rows: Sequence[Answered]) -> bool:
    return gate(rows, ObjectiveKind.PROCEDURE).open


def nine_of_ten(rows: Sequence[Answered]) -> bool:
    return len(rows) >= 10 and sum(row.correct for row in rows[-10:]) >= 9


def three_in_a_row(rows: Sequence[Answered]) -> bool:
    return len(rows) >= 3 and all(row.correct for row in rows[-3:])


def lifetime(rows: Sequence[Answered]) -> bool:
    return len(rows) >= 5 and sum(row.correct for row in rows) >= 0.9 * len(rows)


def _until_passed(
    rule: Rule, seed: int, *, most: int, knows: bool = False, learns: bool = False
) -> tuple[int, bool]:
    """Answers until the rule passes a learner, 0 for never, and whether they knew it then."""
    rng = random.Random(seed)
    fresh = False
    rows: list[Answered] = []
    for n in range(most):
        if n and n % A_DAY == 0:
            if fresh and rng.random() < OVERNIGHT:
                knows = False
            fresh = False
        if learns and not knows and rng.random() < LEARN:
            knows = fresh = True
        right = rng.random() < ((1 - SLIP) if knows else GUESS)
        rows.append(_ROWS[n, right])
        if rule(rows):
            return n + 1, knows
    return 0, knows


@pytest.mark.parametrize(
    ("rule", "least", "most"),
    [(three_in_a_row, 0.24, 0.33), (lifetime, 0, 0.01), (nine_of_ten, 0, 0.01), (ours, 0, 0.01)],
)
def test_how_often_a_guesser_passes_within_thirty_answers(
    rule: Rule, least: float, most: float
) -> None:
    passed = sum(bool(_until_passed(rule, seed, most=30)[0]) for seed in range(800))
    assert least <= passed / 800 < most


@pytest.mark.parametrize(
    ("rule", "least", "most"),
    [(three_in_a_row, 3.2, 3.8), (nine_of_ten, 10.7, 11.5), (ours, 10.7, 12.2)],
)
def test_one_who_knows_needs_about_eleven_answers(rule: Rule, least: float, most: float) -> None:
    needed = [_until_passed(rule, seed, most=60, knows=True)[0] for seed in range(800)]
    assert all(needed)
    assert least < sum(needed) / 800 < most


@pytest.mark.parametrize(
    ("rule", "median", "premature", "never"),
    [
        (three_in_a_row, (6, 8), (0.05, 0.13), (0, 0.01)),
        (nine_of_ten, (17, 20), (0, 0.02), (0, 0.05)),
        (lifetime, (9, 12), (0, 0.03), (0.6, 0.75)),
        # The delayed answer costs a few answers more, and keeps out who would lose it over night.
        (ours, (19, 23), (0, 0.01), (0, 0.08)),
    ],
)
def test_when_one_who_learns_passes(
    rule: Rule,
    median: tuple[float, float],
    premature: tuple[float, float],
    never: tuple[float, float],
) -> None:
    runs = [_until_passed(rule, seed, most=60, learns=True) for seed in range(800)]
    passed = sorted(n for n, _ in runs if n)
    for value, (least, most) in (
        (passed[len(passed) // 2], median),
        (sum(n > 0 and not knew for n, knew in runs) / 800, premature),
        (sum(not n for n, _ in runs) / 800, never),
    ):
        assert least <= value <= most


# --- any history ----------------------------------------------------------------------------------


def _pool(rng: random.Random) -> list[list[Answered]]:
    """For each moment of a history some answers that might be given at it, most of them right."""
    made = []
    for slot in range(26):
        made.append(
            [
                answered(
                    f"i{rng.randrange(14)}",
                    day=slot // 6,
                    minute=slot % 6,
                    right=rng.random() < 0.9,
                    kind=rng.choice([ItemKind.FREE, ItemKind.CHOICE, ItemKind.NUMBER])
                    if rng.random() < 0.93
                    else ItemKind.TRUE_FALSE,
                    difficulty=rng.choice(list(Difficulty)),
                    hint_level=0 if rng.random() < 0.94 else rng.randint(1, TOLD),
                    first_attempt=rng.random() < 0.96,
                )
                for _ in range(12)
            ]
        )
    return made


def _by_the_rule(answers: Sequence[Answered]) -> bool:
    """The rule again, written as plainly as it goes, over every beginning of a history."""
    counts: list[Answered] = []
    placement: list[Answered] = []
    for n, answer in enumerate(answers):
        tf = answer.kind is ItemKind.TRUE_FALSE
        counted = answer.first_attempt and not tf and answer.hint_level in (0, TOLD)
        if not counted or any(
            (c.item_id, c.study_day) == (answer.item_id, answer.study_day) for c in counts
        ):
            continue
        counts.append(answer)
        if answer.kind is not ItemKind.CHOICE and answer.study_day == answers[0].study_day:
            placement.append(answer)
            helped = any(a.hint_level for a in answers[: n + 1])
            hard = any(a.difficulty is Difficulty.HARD for a in placement)
            if len(placement) == 5 and hard and not helped and all(a.correct for a in placement):
                return True
        ten = counts[-10:]
        first = next(
            a
            for a in answers
            if a.study_day == answer.study_day and a.kind is not ItemKind.TRUE_FALSE
        )
        taught = [a.at for a in answers if a.hint_level >= 3 and a.at <= first.at]
        if (
            len(ten) == 10
            and sum(a.correct and not a.hint_level for a in ten) >= 9
            and len({a.item_id for a in ten}) >= 3
            and any(a.difficulty >= Difficulty.TARGET for a in ten)
            and len({a.study_day for a in ten}) >= 2
            and first.correct
            and first.first_attempt
            and not first.hint_level
            and all(first.at - t >= timedelta(hours=18) for t in taught)
        ):
            return True
    return False


def test_ten_thousand_histories_keep_the_rule_and_say_the_same_again() -> None:
    rng = random.Random(2026)
    pool = _pool(rng)
    judge: Callable[[Sequence[Answered]], Mastery] = lambda rows: state(rows, day=5)  # noqa: E731
    opened = 0
    for number in range(10_000):
        length = rng.randint(4, 26)
        rows = [rng.choice(slot) for slot in pool[:length]]
        found = judge(rows)
        passed = found.status.passed
        opened += passed
        assert passed == _by_the_rule(rows)
        if number % 5 == 0:
            again = rows[::-1] if number % 2 else rng.sample(rows, length)
            assert judge(again) == found, "the order in which rows are read changes nothing"
            assert passed <= judge([*rows, *(rng.choice(s) for s in pool[length:])]).status.passed
            n = rng.randrange(length)
            better = [*rows[:n], replace(rows[n], correct=True, score=1.0), *rows[n + 1 :]]
            assert passed <= judge(better).status.passed, "a right answer never takes it away"
    assert 1_000 < opened < 9_000
