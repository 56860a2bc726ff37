from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.clock import study_date
from core.learning.digest import (
    Kind,
    LearnerTime,
    NotYet,
    PastNudge,
    Plan,
    Reason,
    is_quiet,
    next_reminder,
    plan,
    slot_instant,
)
from core.learning.selection import DueCard
from core.learning.spacing import Memory, Rating, State, review

BERLIN = ZoneInfo("Europe/Berlin")
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
ADA = LearnerTime(zone=BERLIN, consent_at=LONG_AGO)
MONDAY = date(2026, 11, 30)


def berlin(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=BERLIN).astimezone(UTC)


def after(days: int) -> date:
    return MONDAY + timedelta(days=days)


def card(name: str = "c", *, made: date = date(1999, 1, 1)) -> DueCard:
    return DueCard(name, name, made, None)


def due_on(day: date) -> DueCard:
    memory = Memory(10.0, 5.0, day, day - timedelta(days=10), 3, 0, State.REVIEW)
    return DueCard("k", "k", day - timedelta(days=30), memory)


def digests(*days: date, hour: int = 9) -> list[PastNudge]:
    return [PastNudge(day=day, at=berlin(day, hour)) for day in days]


def reason(outcome: Plan | NotYet) -> Reason | None:
    return outcome.reason if isinstance(outcome, NotYet) else None


def test_a_due_card_is_asked_at_the_chosen_hour_and_the_next_time_is_known() -> None:
    outcome = plan(berlin(MONDAY, 9), ADA, [card()], [])
    assert outcome == Plan(
        kind=Kind.DIGEST,
        day=MONDAY,
        at=berlin(MONDAY, 9),
        cards=("c",),
        next_due_day=after(1),
        next_instant=berlin(after(1), 9),
        slot="digest",
    )


def test_an_instant_without_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        plan(datetime(2026, 11, 30, 9), ADA, [card()], [])


def test_before_the_hour_nothing_is_sent() -> None:
    outcome = plan(berlin(MONDAY, 8, 59), ADA, [card()], [])
    assert outcome == NotYet(Reason.TOO_EARLY, berlin(MONDAY, 9))


def test_a_second_sweep_of_the_same_day_sends_nothing() -> None:
    outcome = plan(berlin(MONDAY, 9, 1), ADA, [card()], digests(MONDAY))
    assert outcome == NotYet(Reason.ALREADY_SENT, berlin(after(1), 9))


def test_without_a_due_card_nothing_is_sent() -> None:
    assert plan(berlin(MONDAY, 9), ADA, [], []) == NotYet(Reason.NOTHING_DUE, None)
    outcome = plan(berlin(MONDAY, 9), ADA, [due_on(after(3))], [])
    assert outcome == NotYet(Reason.NOTHING_DUE, berlin(after(3), 9))


def test_a_leech_alone_brings_no_nudge() -> None:
    missed = due_on(MONDAY)
    assert missed.memory is not None
    leech = replace(missed, memory=replace(missed.memory, lapses=4))
    assert plan(berlin(MONDAY, 9), ADA, [leech], []) == NotYet(Reason.NOTHING_DUE, None)


def test_a_day_whose_share_is_done_brings_no_nudge_until_the_next() -> None:
    memory = Memory(10.0, 5.0, after(5), MONDAY, 3, 0, State.REVIEW)
    answered = [DueCard(f"a{n}", f"a{n}", after(-30), memory) for n in range(20)]
    outcome = plan(berlin(MONDAY, 9), ADA, [*answered, due_on(MONDAY)], [])
    assert outcome == NotYet(Reason.DAY_FULL, berlin(after(1), 9))


@pytest.mark.parametrize(
    "learner",
    [replace(ADA, enabled=False), replace(ADA, consent_at=None)],
    ids=["switched off", "never agreed"],
)
def test_without_consent_nothing_is_ever_sent(learner: LearnerTime) -> None:
    assert plan(berlin(MONDAY, 9), learner, [card()], []) == NotYet(Reason.OFF, None)
    assert next_reminder(berlin(MONDAY, 9), learner, [card()]) is None


def test_the_first_card_is_asked_the_next_morning() -> None:
    evening = berlin(MONDAY, 21, 30)
    learner = LearnerTime(zone=BERLIN, consent_at=evening, last_active=evening)
    first = card(made=study_date(evening, BERLIN))
    promised = next_reminder(evening, learner, [first])
    assert promised == berlin(after(1), 9)
    assert isinstance(plan(promised, learner, [first], []), Plan)


def test_a_card_saved_after_midnight_is_asked_the_same_morning() -> None:
    night = berlin(MONDAY, 1, 30)
    learner = LearnerTime(zone=BERLIN, consent_at=night, last_active=night)
    assert next_reminder(night, learner, [card(made=after(-1))]) == berlin(MONDAY, 9)


def test_agreeing_after_the_hour_begins_tomorrow() -> None:
    learner = replace(ADA, consent_at=berlin(MONDAY, 10))
    outcome = plan(berlin(MONDAY, 10, 1), learner, [card()], [])
    assert outcome == NotYet(Reason.AGREED_LATER, berlin(after(1), 9))


def test_after_downtime_it_comes_later_on_the_same_day() -> None:
    outcome = plan(berlin(MONDAY, 20), ADA, [card()], [])
    assert isinstance(outcome, Plan)
    assert outcome.day == MONDAY


def test_after_downtime_into_the_quiet_hours_the_day_is_let_go() -> None:
    outcome = plan(berlin(MONDAY, 22), ADA, [card()], [])
    assert outcome == NotYet(Reason.QUIET_HOURS, berlin(after(1), 9))
    night = plan(berlin(after(1), 3), ADA, [card()], [])
    assert night == NotYet(Reason.QUIET_HOURS, berlin(after(1), 9))


@pytest.mark.parametrize("hour", [time(23), time(6), time(22)])
def test_an_hour_inside_the_quiet_ones_means_their_end(hour: time) -> None:
    learner = replace(ADA, hour=hour)
    assert reason(plan(berlin(MONDAY, 7, 59), learner, [card()], [])) is Reason.TOO_EARLY
    assert isinstance(plan(berlin(MONDAY, 8), learner, [card()], []), Plan)


def test_an_hour_after_midnight_belongs_to_the_day_before() -> None:
    owl = replace(ADA, hour=time(1), quiet_from=time(9), quiet_until=time(17))
    early = plan(berlin(after(1), 0, 59), owl, [card()], [])
    assert early == NotYet(Reason.TOO_EARLY, berlin(after(1), 1))
    outcome = plan(berlin(after(1), 1), owl, [card()], [])
    assert isinstance(outcome, Plan)
    assert outcome.day == MONDAY


def test_quiet_hours_at_noon_only_delay() -> None:
    learner = replace(ADA, hour=time(12), quiet_from=time(13), quiet_until=time(15))
    outcome = plan(berlin(MONDAY, 14), learner, [card()], [])
    assert outcome == NotYet(Reason.QUIET_HOURS, berlin(MONDAY, 15))


def test_equal_ends_mean_no_quiet_hours() -> None:
    learner = replace(ADA, hour=time(3), quiet_from=time(0), quiet_until=time(0))
    assert isinstance(plan(berlin(MONDAY, 3), learner, [card()], []), Plan)


def test_the_local_hour_stays_when_the_clocks_change() -> None:
    sunday = date(2026, 3, 29)
    assert slot_instant(ADA, sunday - timedelta(days=1)) == datetime(2026, 3, 28, 8, tzinfo=UTC)
    assert slot_instant(ADA, sunday) == datetime(2026, 3, 29, 7, tzinfo=UTC)


def test_a_change_of_zone_moves_the_hour_and_repeats_no_day() -> None:
    sent = [PastNudge(day=after(1), at=datetime(2026, 12, 1, 1, tzinfo=UTC))]  # 09:00 in Shanghai
    traveller = replace(ADA, zone=ZoneInfo("America/New_York"))
    for moment in (datetime(2026, 12, 1, 1, 30, tzinfo=UTC), datetime(2026, 12, 1, 15, tzinfo=UTC)):
        outcome = plan(moment, traveller, [card()], sent)
        expected = datetime(2026, 12, 2, 14, tzinfo=UTC)
        assert outcome == NotYet(Reason.ALREADY_SENT, expected)


def test_three_ignored_days_make_it_weekly() -> None:
    two = digests(MONDAY, after(1))
    assert isinstance(plan(berlin(after(2), 9), ADA, [card()], two), Plan)
    third = plan(berlin(after(2), 9), ADA, [card()], two)
    assert isinstance(third, Plan)
    assert third.next_due_day == after(9)
    three = digests(MONDAY, after(1), after(2))
    assert plan(berlin(after(3), 9), ADA, [card()], three) == NotYet(
        Reason.WEEKLY, berlin(after(9), 9)
    )
    assert isinstance(plan(berlin(after(9), 9), ADA, [card()], three), Plan)


def test_fourteen_ignored_days_end_in_one_goodbye_and_silence() -> None:
    history, sent = list[PastNudge](), list[tuple[int, Kind]]()
    for number in range(60):
        outcome = plan(berlin(after(number), 9), ADA, [card()], history)
        if isinstance(outcome, Plan):
            sent.append((number, outcome.kind))
            history.append(PastNudge(day=outcome.day, at=outcome.at, kind=outcome.kind))
    assert sent == [
        (0, Kind.DIGEST),
        (1, Kind.DIGEST),
        (2, Kind.DIGEST),
        (9, Kind.DIGEST),
        (14, Kind.GOODBYE),
    ]
    assert plan(berlin(after(99), 9), ADA, [card()], history) == NotYet(Reason.STOPPED, None)
    goodbye = plan(berlin(after(14), 9), ADA, [card()], history[:-1])
    assert isinstance(goodbye, Plan)
    assert (goodbye.cards, goodbye.next_instant) == ((), None)


def test_the_goodbye_too_needs_a_due_card() -> None:
    history = digests(MONDAY, after(1), after(2), after(9))
    outcome = plan(berlin(after(14), 9), ADA, [due_on(after(20))], history)
    assert outcome == NotYet(Reason.NOTHING_DUE, berlin(after(20), 9))


def test_a_word_from_the_learner_begins_anew() -> None:
    history = [
        *digests(MONDAY, after(1), after(2), after(9)),
        PastNudge(day=after(14), at=berlin(after(14), 9), kind=Kind.GOODBYE),
    ]
    back = replace(ADA, last_active=berlin(after(30), 15))
    outcome = plan(berlin(after(31), 9), back, [card()], history)
    assert isinstance(outcome, Plan)
    assert outcome.kind is Kind.DIGEST
    assert outcome.next_due_day == after(32)


def test_an_answered_nudge_ends_the_row_of_ignored_ones() -> None:
    history = digests(MONDAY, after(1), after(2))
    history[1] = replace(history[1], answered=True)
    assert isinstance(plan(berlin(after(3), 9), ADA, [card()], history), Plan)


def test_what_never_arrived_is_not_held_against_the_learner() -> None:
    lost = [replace(nudge, delivered=False) for nudge in digests(MONDAY, after(1), after(2))]
    assert isinstance(plan(berlin(after(3), 9), ADA, [card()], lost), Plan)
    assert reason(plan(berlin(after(2), 10), ADA, [card()], lost)) is Reason.ALREADY_SENT


def test_days_on_which_the_program_was_down_are_not_ignored_days() -> None:
    outcome = plan(berlin(after(40), 9), ADA, [card()], digests(MONDAY, after(20)))
    assert isinstance(outcome, Plan)
    assert outcome.kind is Kind.DIGEST


def test_nudges_of_another_kind_do_not_count() -> None:
    other = [replace(nudge, slot="letter") for nudge in digests(MONDAY)]
    assert isinstance(plan(berlin(MONDAY, 9), ADA, [card()], other), Plan)


# Each zone with a stretch of days around a change of its clocks; Samoa also skips 30 December 2011.
STRETCHES = [
    ("Europe/Berlin", date(2026, 3, 25)),
    ("Europe/Berlin", date(2026, 10, 21)),
    ("America/New_York", date(2026, 3, 5)),
    ("America/New_York", date(2026, 10, 29)),
    ("Asia/Shanghai", date(2026, 6, 1)),
    ("Pacific/Apia", date(2011, 12, 26)),
    ("Pacific/Apia", date(2012, 3, 29)),
    ("Australia/Lord_Howe", date(2026, 4, 1)),
    ("Australia/Lord_Howe", date(2026, 10, 1)),
]
MINUTE_TIMES = st.times().map(lambda t: t.replace(second=0, microsecond=0))
HABITS = st.builds(
    lambda stretch, hour, quiet_from, quiet_until: (
        stretch[1],
        LearnerTime(
            zone=ZoneInfo(stretch[0]),
            hour=hour,
            quiet_from=quiet_from,
            quiet_until=quiet_until,
            consent_at=LONG_AGO,
        ),
    ),
    st.sampled_from(STRETCHES),
    MINUTE_TIMES,
    st.just(time(22)) | MINUTE_TIMES,
    st.just(time(8)) | MINUTE_TIMES,
)
# Minutes to the next sweep: mostly close, sometimes hours or days of downtime.
GAPS = st.lists(
    st.integers(1, 45) | st.integers(1, 240) | st.integers(1, 4000), min_size=1, max_size=80
)


def quiet_by_hand(instant: datetime, learner: LearnerTime) -> bool:
    """The quiet hours again, counted in minutes round the dial."""
    local = instant.astimezone(learner.zone)
    start, end = (t.hour * 60 + t.minute for t in (learner.quiet_from, learner.quiet_until))
    return (local.hour * 60 + local.minute - start) % 1440 < (end - start) % 1440


@given(habits=HABITS, gaps=GAPS, answers=st.lists(st.booleans(), min_size=80, max_size=80))
def test_sweeps_at_any_time_nudge_at_most_once_a_day_and_never_in_quiet_hours(
    habits: tuple[date, LearnerTime], gaps: list[int], answers: list[bool]
) -> None:
    first, learner = habits
    now = datetime.combine(first, time(0), tzinfo=UTC)
    history = list[PastNudge]()
    cards = [card(f"c{n}") for n in range(3)]
    for gap, answer in zip(gaps, answers, strict=False):
        now += timedelta(minutes=gap)
        outcome = plan(now, learner, cards, history)
        assert is_quiet(now, learner) == quiet_by_hand(now, learner)
        if isinstance(outcome, NotYet):
            if outcome.next_instant is not None:
                assert outcome.next_instant > now
                kept = plan(outcome.next_instant, learner, cards, history)
                assert isinstance(kept, Plan), (outcome, kept)
            continue
        day = study_date(now, learner.zone)
        assert outcome.day == day
        assert day not in {nudge.day for nudge in history}
        assert not quiet_by_hand(now, learner)
        assert now >= slot_instant(learner, day)
        assert outcome.cards or outcome.kind is Kind.GOODBYE
        history.append(PastNudge(day=day, at=now, kind=outcome.kind))
        if answer:
            learner = replace(learner, last_active=now + timedelta(seconds=30))
            cards = [answered(known, day) for known in cards]
    assert sum(nudge.kind is Kind.GOODBYE for nudge in history) <= 1 or any(answers)


def answered(known: DueCard, day: date) -> DueCard:
    if known.due_day > day:
        return known
    return replace(known, memory=review(known.memory, Rating.HARD, day, seed=known.card_id).memory)


@settings(deadline=None)
@given(habits=HABITS)
def test_sweeps_every_quarter_hour_miss_no_day(habits: tuple[date, LearnerTime]) -> None:
    first, learner = habits
    learner = replace(learner, quiet_from=time(22), quiet_until=time(8))
    history = list[PastNudge]()
    now = datetime.combine(first, time(0), tzinfo=UTC)
    days = set[date]()
    for _ in range(9 * 96):
        now += timedelta(minutes=15)
        day = study_date(now, learner.zone)
        days.add(day)
        outcome = plan(now, learner, [card()], history)
        if isinstance(outcome, Plan):
            history.append(PastNudge(day=day, at=now, answered=True))
            if day == min(days):
                continue  # the sweeps began in the middle of it
            local = now.astimezone(learner.zone)
            wanted = max(learner.hour, time(8)) if learner.hour < time(22) else time(8)
            late = local.replace(tzinfo=None) - datetime.combine(local.date(), wanted)
            assert timedelta(0) <= late < timedelta(minutes=15)
    # Samoa skipped the 30th: only its small hours, at night, carried its name.
    skipped = date(2011, 12, 30) if learner.zone.key == "Pacific/Apia" else None
    expected = sorted(days - {skipped})[1:-1]
    # Between the last sweep before the quiet hours and their beginning there is none to send it.
    if not time(21, 45) < learner.hour < time(22):
        assert [nudge.day for nudge in history if nudge.day in expected] == expected


@settings(deadline=None)
@given(
    days=st.sets(st.integers(1, 7), min_size=1).map(frozenset),
    snoozed=st.integers(0, 10 * 24 * 60).map(lambda minutes: timedelta(minutes=minutes)),
    step=st.integers(7, 180),
)
def test_days_off_and_a_put_off_are_kept_and_cost_no_reminder(
    days: frozenset[int], snoozed: timedelta, step: int
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
    until = start + snoozed
    learner = LearnerTime(
        zone, consent_at=start - timedelta(days=9), days=days, snoozed_until=until
    )
    cards = [card("one")]
    history: list[PastNudge] = []
    now, sent = start, list[datetime]()
    while now < start + timedelta(days=21):
        outcome = plan(now, learner, cards, history)
        if isinstance(outcome, Plan):
            sent.append(now)
            history.append(PastNudge(outcome.day, now, outcome.kind, outcome.slot, answered=True))
            assert outcome.day.isoweekday() in days
            assert not is_quiet(now, learner)
            assert now >= until
        now += timedelta(minutes=step)
    keys = [(one.day, one.slot) for one in history]
    assert len(keys) == len(set(keys)), "once a day, and once more where it was put off"
    wanted = {
        study_date(start, zone) + timedelta(days=ahead)
        for ahead in range(1, 20)
        if (study_date(start, zone) + timedelta(days=ahead)).isoweekday() in days
    }
    late = study_date(until, zone)
    assert {day for day in wanted if day > late} <= {day for day, _ in keys}
