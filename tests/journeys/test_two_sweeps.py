"""Sweeps of two processes at the same instant, with ``serve`` beside them: one reminder each."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.journeys.scene import Scene, scene
from tests.process import Installation
from tests.servers.telegram.people import Person
from tests.servers.telegram.shown import Shown

BERLIN = ZoneInfo("Europe/Berlin")
GOODBYE = "My reminders don't seem to help at the moment"


def test_one_reminder_a_day_weekly_when_ignored_and_one_goodbye(tmp_path: Path) -> None:
    with scene(tmp_path) as house, two_sweepers(house.installation) as sweepers:
        ada, ben = (learner_with_card(house, name) for name in ("Ada", "Ben"))
        today = (datetime.now(BERLIN) - timedelta(hours=4)).date()
        planned: dict[int, int] = {}
        seen = ada.private.messages[-1]
        for number in range(1, 26):
            day = today + timedelta(days=number)
            for early in (time(3, 0), time(8, 55)):
                assert sweepers.at(local(day, early)) == 0
            if number == 1:
                planned[number] = nudge_twice(house.installation, local(day, time(9, 5)))
            else:
                planned[number] = sweepers.at(local(day, time(9, 5)))
            for late in (time(9, 5), time(9, 6), time(21, 0), time(23, 30)):
                assert sweepers.at(local(day, late)) == 0
            if number <= 5:
                ada.private.wait_message_blocking(is_reminder, after=seen)
                if number < 5:
                    ada.say("/due")  # whoever writes has not ignored it
                    house.settled(ada)
                    seen = ada.private.messages[-1]
                else:
                    ada.private.press(reminders(ada)[-1], "No reminders")
                    ada.private.wait_message_blocking(lambda m: "No reminders, then." in m.text)

        # Ada answers for five days and has enough; Ben ignores all: three days, then weekly, and
        # after fourteen ignored days one goodbye.
        assert {number: count for number, count in planned.items() if count} == {
            1: 2,
            2: 2,
            3: 2,
            4: 1,
            5: 1,
            10: 1,
            15: 1,
        }
        ben.private.wait_message_blocking(lambda m: m.text.startswith(GOODBYE))
        for person in (ada, ben):
            house.settled(person)
        assert len(reminders(ada)) == 4  # the fifth became the answer to its own button
        assert len(reminders(ben)) == 4
        assert len([m for m in ben.private.from_bot if m.text.startswith(GOODBYE)]) == 1


def test_nine_is_nine_in_every_zone_and_across_a_clock_change(tmp_path: Path) -> None:
    zones = ("Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles")
    with scene(tmp_path) as house, two_sweepers(house.installation) as sweepers:
        people = []
        for name in zones:
            person = learner_with_card(house, name.rpartition("/")[2])
            person.say(f"/timezone {name}")
            house.settled(person)
            people.append(person)

        change = clock_change(datetime.now(BERLIN).date() + timedelta(days=3))
        begin = datetime.combine(change - timedelta(days=1), time(0), UTC)
        moments = [begin + timedelta(hours=step) for step in range(3 * 24)]
        expected = Counter(
            instant for name in zones for instant in first_three(begin, change, ZoneInfo(name))
        )
        planned = Counter({moment: sweepers.at(moment) for moment in moments})
        assert +planned == expected
        for person in people:
            wait_reminders(person, 3)


class Sweepers:
    """Two processes that sweep when told."""

    def __init__(self, processes: list[subprocess.Popen[str]]) -> None:
        self._processes = processes

    def at(self, moment: datetime) -> int:
        """Let both sweep as of a moment, at once; return how many reminders they planned."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{moment.isoformat()}\n")
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.flush()
        return sum(self._planned(process) for process in self._processes)

    def _planned(self, process: subprocess.Popen[str]) -> int:
        assert process.stdout is not None
        return int(process.stdout.readline())


@contextmanager
def two_sweepers(installation: Installation) -> Iterator[Sweepers]:
    """Two of them in an installation."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.sweeper"],
            cwd=installation.folder,
            env=installation.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(2)
    ]
    try:
        yield Sweepers(processes)
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def nudge_twice(installation: Installation, moment: datetime) -> int:
    """Run two ``partners nudge`` beside each other; return how many reminders they planned."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bots.cli", "nudge", "--as-of", moment.isoformat()],
            cwd=installation.folder,
            env=installation.environment,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=30)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    counts = [re.match(r"(\d+) reminders? planned\.", text) for text in said]
    return sum(int(found[1]) for found in counts if found)


def learner_with_card(house: Scene, name: str) -> Person:
    """Somebody who has saved a card, and with it agreed to reminders."""
    person = house.learner(name)
    person.say("/add Derivative of x²? :: 2x")
    house.settled(person)
    return person


def reminders(person: Person) -> list[Shown]:
    """The reminders a chat shows."""
    return [m for m in person.private.from_bot if is_reminder(m)]


def wait_reminders(person: Person, count: int) -> None:
    """Wait for the last of the reminders that were planned: ``serve`` looks twice a second."""
    person.private.changes.wait_for_blocking(lambda: len(reminders(person)) == count)


def is_reminder(message: Shown) -> bool:
    """Whether a message asks a card by itself."""
    return {"Show answer", "No reminders"} <= set(message.labels)


def local(day: date, at: time, zone: ZoneInfo = BERLIN) -> datetime:
    """The UTC instant of a wall-clock time."""
    return datetime.combine(day, at, zone).astimezone(UTC)


def first_three(begin: datetime, around: date, zone: ZoneInfo) -> list[datetime]:
    """When reminders come that nobody answers, if the first sweep is at ``begin``.

    What was due before that, on the same day and not in quiet hours, is made up for at once. After
    three they come weekly.
    """
    nines = [local(around + timedelta(days=days), time(9), zone) for days in range(-2, 4)]
    late = time(9) < begin.astimezone(zone).time() < time(22)
    return [*([begin] if late else []), *(nine for nine in nines if nine >= begin)][:3]


def clock_change(after: date) -> date:
    """The next day on which the clocks of Berlin change."""
    day = after
    while local(day, time(12)) - local(day - timedelta(days=1), time(12)) == timedelta(days=1):
        day += timedelta(days=1)
    return day
