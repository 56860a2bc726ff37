from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import SystemClock, ZoneUnknown, local_instant, resolve_zone, study_date, zone

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    ZoneInfo(name)
    for name in (
        "Europe/Berlin",
        "America/New_York",
        "Asia/Shanghai",
        "Pacific/Apia",
        "Australia/Lord_Howe",
    )
]


def test_the_system_clock_gives_aware_utc_instants() -> None:
    assert SystemClock().now().tzinfo is UTC


@pytest.mark.parametrize(
    ("wall", "day"),
    [
        ((2026, 11, 30, 3, 59), date(2026, 11, 29)),
        ((2026, 11, 30, 4, 0), date(2026, 11, 30)),
        ((2026, 12, 1, 0, 30), date(2026, 11, 30)),
    ],
)
def test_a_study_day_lasts_until_four_in_the_morning(
    wall: tuple[int, int, int, int, int], day: date
) -> None:
    assert study_date(datetime(*wall, tzinfo=BERLIN), BERLIN) == day


def test_a_study_day_is_that_of_the_learners_zone() -> None:
    instant = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
    assert study_date(instant, ZoneInfo("Asia/Shanghai")) == date(2026, 12, 1)
    assert study_date(instant, ZoneInfo("America/New_York")) == date(2026, 11, 30)


def test_an_instant_without_offset_has_no_study_day() -> None:
    with pytest.raises(ValueError, match="offset"):
        study_date(datetime(2026, 11, 30), BERLIN)


@pytest.mark.parametrize(
    ("place", "day", "at", "instant"),
    [
        ("Europe/Berlin", date(2026, 11, 30), time(9), "2026-11-30T08:00Z"),
        # 02:00 to 03:00 does not exist, or comes twice.
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), "2026-03-29T01:00Z"),
        ("Europe/Berlin", date(2026, 3, 29), time(2), "2026-03-29T01:00Z"),
        ("Europe/Berlin", date(2026, 3, 29), time(3, 10), "2026-03-29T01:10Z"),
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30Z"),
        ("America/New_York", date(2026, 3, 8), time(2, 1), "2026-03-08T07:00Z"),
        # Half an hour on Lord Howe, a whole day on Samoa.
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "2026-10-03T15:30Z"),
        ("Pacific/Apia", date(2011, 12, 30), time(9), "2011-12-30T10:00Z"),
    ],
)
def test_a_skipped_time_gives_the_next_valid_one_and_a_repeated_time_the_first(
    place: str, day: date, at: time, instant: str
) -> None:
    assert local_instant(day, at, ZoneInfo(place)) == datetime.fromisoformat(instant)


@given(
    day=st.dates(date(2000, 1, 1), date(2037, 12, 31)),
    at=st.times(),
    place=st.sampled_from(ZONES),
)
def test_a_wall_clock_time_is_never_shown_before_it_was_meant(
    day: date, at: time, place: ZoneInfo
) -> None:
    instant = local_instant(day, at, place)
    assert instant.tzinfo is UTC
    wall = instant.astimezone(place).replace(tzinfo=None)
    meant = datetime.combine(day, at)
    assert wall >= meant
    if wall > meant:  # in a gap: a moment earlier the clock had not reached it
        earlier = instant - timedelta(microseconds=1_000_001)
        assert earlier.astimezone(place).replace(tzinfo=None) < meant


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("  europe/BERLIN ", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("new_york", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("sao paulo", "America/Sao_Paulo"),
        ("kolkata", "Asia/Kolkata"),
        ("munich", "Europe/Berlin"),
        ("japan", "Asia/Tokyo"),
        ("上海", "Asia/Shanghai"),
        ("北京", "Asia/Shanghai"),
        ("北京时间", "Asia/Shanghai"),
        ("广州市", "Asia/Shanghai"),
        ("香港", "Asia/Hong_Kong"),
        ("柏林", "Europe/Berlin"),
        ("加尔各答", "Asia/Kolkata"),
        ("德国", "Europe/Berlin"),
        ("UTC", "UTC"),
    ],
)
def test_a_place_is_found_by_its_name_in_english_or_chinese(text: str, first: str) -> None:
    assert resolve_zone(text)[0] == first


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("UTC+8", 480), ("utc 8", 480), ("＋08:00", 480), ("GMT−5", -300), ("+5:30", 330)],
)
def test_an_offset_gives_a_zone_that_keeps_it(text: str, minutes: int) -> None:
    [name] = resolve_zone(text)
    assert zone(name).utcoffset(datetime(2026, 7, 1)) == timedelta(minutes=minutes)


def test_an_ambiguous_place_gives_several_and_nonsense_none() -> None:
    assert resolve_zone("usa")[:2] == ["America/New_York", "America/Chicago"]
    assert len(resolve_zone("san")) > 1
    for nonsense in ("", "   ", "a", "xyzzy", "utc+27", "../../etc/passwd"):
        assert resolve_zone(nonsense) == []


@given(st.text(max_size=30))
def test_whatever_a_person_types_gives_few_and_valid_zones(text: str) -> None:
    found = resolve_zone(text)
    assert len(found) <= 8
    assert len(set(found)) == len(found)
    assert set(found) <= available_timezones()


@pytest.mark.parametrize(
    "name", ["", "Mars/Base", "America", "../etc/passwd", "/etc/localtime", "a\0b", "localtime"]
)
def test_a_name_that_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(ZoneUnknown):
        zone(name)


def test_a_mistyped_zone_is_refused_with_the_right_one() -> None:
    with pytest.raises(ZoneUnknown, match=r"Europe/Berlin\?") as refused:
        zone("Europe/Berln")
    assert refused.value.suggestions == ("Europe/Berlin",)
    assert zone("Europe/Berlin") is BERLIN
