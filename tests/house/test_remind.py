"""When reminders come is the learner's to say, and putting one off brings it back once."""

from __future__ import annotations

import pytest

from core.store.tables import Learner
from tests.house.home import Home
from tests.servers.telegram import Person, Shown, TelegramServer

DAY = {"hours": 24}


async def with_card(home: Home, telegram: TelegramServer) -> Person:
    """Somebody with a card, on Monday at ten; it is due on Tuesday."""
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add 7×8 :: 56")
    return ada


async def came(home: Home, ada: Person, **later: float) -> list[Shown]:
    """What a sweep brings some time later."""
    before = {m.message_id for m in ada.private.from_bot}
    home.clock.advance(**later)
    await home.house.sweep()
    await home.quiet()
    return [m for m in ada.private.from_bot if m.message_id not in before]


async def learner(home: Home, ada: Person) -> Learner:
    wanted = await home.learner(ada)
    return await home.read(lambda session: session.get_one(Learner, wanted))


@pytest.mark.parametrize(
    ("said", "hour", "days", "cards"),
    [
        ("18:30", "18:30", "1234567", None),
        ("9", "09:00", "1234567", None),
        ("7pm weekdays", "19:00", "12345", None),
        ("Mon, Wed, Friday 5 cards", "09:00", "135", 5),
        ("晚上？", None, None, None),
        ("20点 周末 3题", "20:00", "67", 3),
        ("周一 星期三", "09:00", "13", None),
        ("25:00", None, None, None),
        ("99 cards", None, None, None),
        ("whenever", None, None, None),
    ],
)
async def test_the_hour_the_days_and_the_number_are_set_in_plain_words(
    home: Home,
    telegram: TelegramServer,
    said: str,
    hour: str | None,
    days: str | None,
    cards: int | None,
) -> None:
    ada = await with_card(home, telegram)
    answer = await home.tell(ada, f"/remind {said}")
    now = await learner(home, ada)
    if hour is None:
        assert "Write it like this" in answer.text
        assert (now.reminder_time, now.reminder_days) == ("09:00", "1234567")
        return
    assert (now.reminder_time, now.reminder_days, now.reminder_cards) == (hour, days, cards)
    assert f"Reminders come at {hour}" in answer.text and "The next one comes" in answer.text


async def test_a_day_that_was_not_chosen_stays_quiet(home: Home, telegram: TelegramServer) -> None:
    ada = await with_card(home, telegram)
    answer = await home.tell(ada, "/remind thursday")
    assert "Only on these days: Thursday." in answer.text and "Thursday" in answer.text
    for _ in range(2):
        assert await came(home, ada, **DAY) == []
    assert len(await came(home, ada, **DAY)) == 1


async def test_off_and_on(home: Home, telegram: TelegramServer) -> None:
    ada = await with_card(home, telegram)
    off = await home.tell(ada, "/remind off")
    assert off.labels == ["Turn reminders on"]
    assert await came(home, ada, **DAY) == []
    assert "The next one comes" in (await home.tell(ada, "/remind on")).text
    assert len(await came(home, ada, **DAY)) == 1


async def test_put_off_for_an_hour_it_comes_once_more_and_not_twice(
    home: Home, telegram: TelegramServer
) -> None:
    ada = await with_card(home, telegram)
    [nudge] = await came(home, ada, **DAY)
    assert nudge.labels == ["Show answer", "In an hour", "Change time", "No reminders"]
    shown, _ = await home.press(nudge, "In an hour")
    assert "The next one comes today at" in shown.text
    assert await came(home, ada, minutes=50) == []
    assert len(await came(home, ada, minutes=15)) == 1
    assert await came(home, ada, hours=2) == []
    assert len(await came(home, ada, hours=21)) == 1, "tomorrow as always"


@pytest.mark.parametrize(
    ("said", "quiet", "then"),
    [("tomorrow", 0, 1), ("3d", 2, 1), ("2026-12-04", 2, 1), ("next week", 5, 1), ("明天", 0, 1)],
)
async def test_put_off_to_a_day_it_comes_on_that_day(
    home: Home, telegram: TelegramServer, said: str, quiet: int, then: int
) -> None:
    ada = await with_card(home, telegram)
    assert "The next one comes" in (await home.tell(ada, f"/snooze {said}")).text
    for _ in range(quiet):
        assert await came(home, ada, **DAY) == []
    total = sum([len(await came(home, ada, **DAY)) for _ in range(2)])
    assert total >= then


@pytest.mark.parametrize("said", ["", "yesterday", "2020-01-01", "400d", "0h", "soon"])
async def test_what_is_no_time_to_come_is_told_so(
    home: Home, telegram: TelegramServer, said: str
) -> None:
    ada = await with_card(home, telegram)
    assert "Write it like this" in (await home.tell(ada, f"/snooze {said}")).text
    assert (await learner(home, ada)).snoozed_until is None
