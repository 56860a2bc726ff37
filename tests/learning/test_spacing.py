from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import study_date
from core.learning.spacing import (
    LoggedReview,
    Memory,
    Rating,
    RetentionOutOfRange,
    Reviewed,
    ReviewOutOfOrder,
    State,
    fuzz_range,
    preview,
    replay,
    retrievability,
    review,
)

START = date(2026, 11, 30)
RATINGS = st.sampled_from(list(Rating))
HISTORIES = st.lists(st.tuples(RATINGS, st.integers(0, 400)), min_size=1, max_size=12)


def run(
    ratings: str, gaps: list[int] | None = None, *, retention: float = 0.90
) -> tuple[Memory, list[int]]:
    """Answer ``ratings`` on the due days, or after ``gaps`` days each; plain intervals."""
    memory: Memory | None = None
    day, intervals = START, list[int]()
    for index, rating in enumerate(ratings):
        if gaps is not None:
            day += timedelta(days=gaps[index])
        elif memory is not None:
            day = memory.due_day
        memory, interval = step(memory, Rating(int(rating)), day, retention)
        intervals.append(interval)
    assert memory is not None
    return memory, intervals


def step(memory: Memory | None, rating: Rating, day: date, retention: float) -> tuple[Memory, int]:
    done = review(memory, rating, day, seed="card", retention=retention, fuzz=False)
    assert done.memory.due_day - day == timedelta(days=done.interval_days)
    return done.memory, done.interval_days


# py-fsrs 6.3.2, fsrs-rs-python 0.9.3 and Anki 26.9.3 agree on these to four decimals.
@pytest.mark.parametrize(
    ("ratings", "intervals", "stability", "difficulty"),
    [
        ("3", [2], 2.3065, 2.1181),
        ("1", [1], 0.212, 6.4133),
        ("2", [1], 1.2931, 5.1122),
        ("4", [8], 8.2956, 1.0),
        ("33333", [2, 11, 46, 163, 497], 497.4472, 2.0906),
        ("3333333", [2, 11, 46, 163, 497, 1346, 3292], 3292.28, 2.0769),
        ("4444", [8, 66, 397, 1875], 1874.92, 1.0),
        ("444", [8, 66, 397], 396.7754, 1.0),
        ("2222", [1, 3, 7, 12], 11.9164, 8.5390),
        ("1333", [1, 2, 6, 17], 17.3792, 6.3798),
        ("3331333", [2, 11, 46, 3, 8, 19, 42], 41.5293, 7.3535),
        ("33313313", [2, 11, 46, 3, 8, 19, 2, 4], 3.6341, 9.1054),
        ("13133", [1, 2, 1, 2, 4], 3.6031, 8.7755),
        ("3232323", [2, 8, 26, 57, 128, 211, 367], 367.1384, 7.6389),
        ("32323", [2, 8, 26, 57, 128], 127.6387, 6.4843),
        ("334133", [2, 11, 77, 4, 10, 25], 25.2036, 7.0034),
        ("1111", [1, 1, 1, 1], 0.0334, 9.8514),
    ],
)
def test_answers_on_the_due_day_give_the_known_intervals(
    ratings: str, intervals: list[int], stability: float, difficulty: float
) -> None:
    memory, got = run(ratings)
    assert got == intervals
    assert memory.stability == pytest.approx(stability, rel=2e-6, abs=6e-5)
    assert memory.difficulty == pytest.approx(difficulty, abs=6e-5)


def test_early_late_and_same_day_answers_give_the_known_memory() -> None:
    memory, intervals = run("333", [0, 1, 20])
    assert intervals[-1] == 55
    assert memory.stability == pytest.approx(54.6369, abs=6e-5)
    assert memory.difficulty == pytest.approx(2.1043, abs=6e-5)
    # py-fsrs's own vector; the second answer falls on the first day.
    memory, _ = run("133333", [0, 0, 1, 3, 8, 21])
    assert memory.stability == pytest.approx(53.62691, abs=1e-4)
    assert memory.difficulty == pytest.approx(6.3574867, abs=1e-6)


@pytest.mark.parametrize(
    ("retention", "intervals"),
    [
        (0.85, [4, 31, 173, 773, 2859]),
        (0.90, [2, 11, 46, 163, 497]),
        (0.95, [1, 3, 8, 19, 43, 89, 175]),
    ],
)
def test_a_higher_retention_asks_more_often(retention: float, intervals: list[int]) -> None:
    assert run("3" * len(intervals), retention=retention)[1] == intervals


def test_the_chance_of_recall_falls_along_the_known_curve() -> None:
    memory, _ = run("3")
    curve = {
        0: 1.0,
        1: 0.9468,
        2: 0.9095,
        3: 0.8809,
        7: 0.8083,
        14: 0.7416,
        30: 0.6675,
        90: 0.5678,
        365: 0.4589,
    }
    for days, chance in curve.items():
        assert retrievability(memory, START + timedelta(days=days)) == pytest.approx(
            chance, abs=6e-5
        )


def test_a_digest_answered_a_little_earlier_the_next_day_earns_a_whole_day() -> None:
    # 21:00 and 20:50 next day are 23 h 50 min apart; whole 24-hour periods would make them one day.
    shanghai = ZoneInfo("Asia/Shanghai")
    evening = datetime(2026, 11, 30, 13, 0, tzinfo=UTC)
    next_evening = evening + timedelta(hours=23, minutes=50)
    memory, _ = step(None, Rating.GOOD, study_date(evening, shanghai), 0.9)
    memory, interval = step(memory, Rating.GOOD, study_date(next_evening, shanghai), 0.9)
    assert interval == 7
    assert memory.stability == pytest.approx(7.32, abs=0.005)


def test_a_missed_card_answered_every_evening_gets_out_of_its_first_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    instant = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
    memory, _ = step(None, Rating.AGAIN, study_date(instant, berlin), 0.9)
    for _ in range(3):
        instant += timedelta(hours=23, minutes=54)
        memory, interval = step(memory, Rating.GOOD, study_date(instant, berlin), 0.9)
    assert interval > 4


def test_hard_on_a_new_card_does_not_loop_for_ever() -> None:
    _, intervals = run("222222")
    assert intervals[-1] > 10


def test_a_review_before_the_last_one_is_refused() -> None:
    memory, _ = run("33")
    with pytest.raises(ReviewOutOfOrder) as refused:
        review(memory, Rating.GOOD, memory.last_day - timedelta(days=1), seed="card")
    assert refused.value.last_day == memory.last_day


@pytest.mark.parametrize("retention", [0.849, 0.951, 0.0, 1.0, math.nan])
def test_a_retention_outside_the_sensible_range_is_refused(retention: float) -> None:
    with pytest.raises(RetentionOutOfRange, match=r"between 0\.85 and 0\.95"):
        review(None, Rating.GOOD, START, seed="card", retention=retention)


def test_lapses_are_counted_once_a_day_and_never_for_the_first_answer() -> None:
    memory, _ = run("1", [0])
    assert (memory.lapses, memory.state) == (0, State.LEARNING)
    memory, _ = run("31", [0, 2])
    assert (memory.lapses, memory.state) == (1, State.RELEARNING)
    memory, _ = run("311", [0, 2, 0])
    assert (memory.lapses, memory.reps) == (1, 3)
    memory, _ = run("3113", [0, 2, 1, 1])
    assert (memory.lapses, memory.state) == (2, State.REVIEW)


@pytest.mark.parametrize(
    ("interval", "bounds"),
    [(1, (1, 1)), (2, (2, 2)), (3, (2, 4)), (7, (5, 9)), (10, (8, 12)), (100, (93, 107))],
)
def test_intervals_spread_as_widely_as_ankis(interval: int, bounds: tuple[int, int]) -> None:
    assert fuzz_range(interval) == bounds


def test_the_spread_is_uniform_over_its_range() -> None:
    memory, _ = run("33")
    day = memory.due_day
    plain = review(memory, Rating.HARD, day, seed="", fuzz=False).interval_days
    low, high = fuzz_range(plain)
    counts = dict.fromkeys(range(low, high + 1), 0)
    for number in range(4000):
        counts[review(memory, Rating.HARD, day, seed=f"c{number}").interval_days] += 1
    share = 4000 / len(counts)
    assert all(0.8 * share < count < 1.2 * share for count in counts.values()), counts


def test_the_spread_of_a_card_is_the_same_on_every_machine() -> None:
    # A changed number here moves the due days of every stored log on replay.
    memory, _ = run("333")
    got = [review(memory, Rating.GOOD, memory.due_day, seed=seed).interval_days for seed in "abcde"]
    assert got == [171, 172, 162, 156, 162]


@given(history=HISTORIES, seed=st.text(max_size=8), retention=st.sampled_from([0.85, 0.9, 0.95]))
def test_preview_review_and_replay_agree(
    history: list[tuple[Rating, int]], seed: str, retention: float
) -> None:
    memory: Memory | None = None
    day, log = START, list[LoggedReview]()
    for rating, gap in history:
        day += timedelta(days=gap)
        promised = preview(memory, day, seed=seed, retention=retention)
        plain = review(memory, rating, day, seed=seed, retention=retention, fuzz=False)
        done: Reviewed = review(memory, rating, day, seed=seed, retention=retention)
        low, high = fuzz_range(plain.interval_days)
        assert done.interval_days == promised[rating]
        assert low <= done.interval_days <= high
        assert done.memory.due_day > day
        assert promised[Rating.HARD] <= promised[Rating.GOOD] <= promised[Rating.EASY]
        assert (done.memory.stability, done.memory.difficulty) == (
            plain.memory.stability,
            plain.memory.difficulty,
        )
        memory = done.memory
        log.append(LoggedReview(day, rating, retention))
    assert memory is not None
    assert memory.reps == len(history)
    assert memory.lapses < memory.reps
    assert replay(log, seed=seed) == memory
    assert 0 < retrievability(memory, day + timedelta(days=1000)) < 1


def test_an_empty_log_is_a_new_card_and_a_shuffled_one_is_refused() -> None:
    assert replay([], seed="card") is None
    with pytest.raises(ReviewOutOfOrder):
        replay(
            [
                LoggedReview(START + timedelta(days=2), Rating.GOOD),
                LoggedReview(START, Rating.GOOD),
            ],
            seed="card",
        )
