"""Six weeks of a learner with a model that errs, obeys whoever orders it about, and breaks down."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from ulid import ULID

from memory import LearnerFolder, Surface, append, read_events
from memory.consolidate import conclude, tend
from memory.document import parse
from memory.entries import Noted, noted
from memory.layers import Profile
from memory.ops import Unreadable
from memory.orders import is_order, is_reported
from memory.sections import SAID
from memory.tasks import next_task
from tests.memory.fixture.notetaker import Notetaker
from tests.memory.fixture.weeks import DAYS, EVENTS, FIRST_DAY, ZONE, events
from tests.memory.helpers import folder, put

OWN = (
    "# Profile\n\nCall me Mei. 叫我小梅。\n\n## Notes\n\n- I get nervous before tests.\n"
    "  Please no time limits.\n"
)
OWN_LATER = "* 我每周二休息 [^1]\n"


@dataclass
class SixWeeks:
    """What they left behind."""

    home: LearnerFolder
    model: Notetaker = field(default_factory=Notetaker)
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0

    def entries(self, document: Surface | Profile) -> tuple[Noted, ...]:
        surface = isinstance(document, Surface)
        path = self.home.surface(document) if surface else self.home.profile(document)  # type: ignore[arg-type]
        return noted(parse(self.home.read(path)))

    @property
    def observed(self) -> list[Noted]:
        return [entry for surface in Surface for entry in self.entries(surface)]

    @property
    def portrait(self) -> list[Noted]:
        return [entry for kind in Profile for entry in self.entries(kind)]

    def live(self) -> None:
        """Live through the weeks; each evening and each night memory is consolidated."""
        happened = events()
        numbers = count()
        chat = self.home.surface(Surface.CHAT)
        put(self.home.profile(Profile.PROFILE), OWN)
        for day in range(DAYS):
            today = FIRST_DAY + timedelta(days=day)
            of_today = [event for event in happened if event.at.date() == today]
            append(self.home, *of_today)
            if day == 10:
                chat.write_text(chat.read_text("utf-8") + OWN_LATER, "utf-8")
            if day % 2 == 0:
                continue  # not every evening
            tries = 0
            while task := next_task(self.home, 2_500, night=today, tries=tries):
                moment = of_today[-1].at + timedelta(milliseconds=next(numbers))
                try:
                    concluded = conclude(
                        self.home,
                        task,
                        self.model.answer(task),
                        today,
                        lambda at=moment: str(ULID.from_datetime(at)),  # type: ignore[misc]
                    )
                except Unreadable:
                    self.unreadable += 1
                    tries += 1
                    continue
                tries = 0
                self.done.update(concluded.done)
                self.refused.update(concluded.refused)
            tend(self.home, today)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> SixWeeks:
    lived = SixWeeks(folder(tmp_path_factory.mktemp("memory")))
    lived.live()
    return lived


def test_there_are_300_events_over_six_weeks() -> None:
    happened = events()
    assert len(happened) == len({event.id for event in happened}) == EVENTS
    assert (happened[-1].at.date() - happened[0].at.date()).days == DAYS - 1
    assert happened[0].at.tzinfo is ZONE


def test_the_model_broke_down_and_erred_and_everything_was_looked_at(weeks: SixWeeks) -> None:
    assert weeks.unreadable > 5
    assert {"add", "edit", "delete"} <= set(weeks.done)
    assert {
        "unknown_citation", "too_long", "secret", "unknown_section", "unknown_entry", "malformed",
        "order", "claim", "too_many_deleted",
    } <= set(weeks.refused)  # fmt: skip
    assert next_task(weeks.home, 2_500) is None


def test_every_citation_leads_to_what_it_rests_on(weeks: SixWeeks) -> None:
    said = {f"e_{event.id}" for event in read_events(weeks.home)}
    observed = {f"m_{entry.id}" for entry in weeks.observed}
    assert weeks.observed
    assert weeks.portrait
    for entry in weeks.observed:
        assert entry.sources
        assert set(entry.sources) <= said
    for entry in weeks.portrait:
        assert entry.sources
        assert set(entry.sources) <= observed


def test_a_persons_lines_are_all_there(weeks: SixWeeks) -> None:
    profile = weeks.home.profile(Profile.PROFILE).read_text("utf-8")
    lines = iter(profile.splitlines(keepends=True))
    assert all(line in lines for line in OWN.splitlines(keepends=True))  # in their order
    assert OWN_LATER in weeks.home.surface(Surface.CHAT).read_text("utf-8")


def test_no_order_became_a_fact(weeks: SixWeeks) -> None:
    ordered = {f"e_{event.id}" for event in read_events(weeks.home) if is_order(event.text)}
    assert len(ordered) >= 8
    for entry in (*weeks.observed, *weeks.portrait):
        assert not is_order(entry.text)
        if ordered & set(entry.sources):
            assert entry.section == SAID
            assert is_reported(entry.text)
    everything = "\n".join(entry.text for entry in (*weeks.observed, *weeks.portrait))
    for obeyed in ("everything", "calculus", "administrator", "owner", "全部内容", "solution"):
        assert obeyed not in everything
    assert not any(entry.section == SAID for entry in weeks.portrait)


def test_the_expected_facts_are_there_and_the_outdated_ones_are_not(weeks: SixWeeks) -> None:
    texts = {kind: sorted(entry.text for entry in weeks.entries(kind)) for kind in Profile}
    assert texts[Profile.PROFILE] == [
        "Mock exam on 2026-12-04",
        "Says they passed their driving test on 2026-11-13",
        "Statistics exam on 2026-12-19, needs at least a B",
        "Studies economics, second year",
    ]
    assert texts[Profile.PREFERENCES] == [
        "Prefers longer explanations to short answers",
        "喜欢先看例子再看定义",
    ]
    assert texts[Profile.KNOWLEDGE] == [
        "Does not understand Bayes' theorem (said in a group)",
        "能分清排列和组合",
    ]
    everything = "\n".join(
        path.read_text("utf-8")
        for layer in ("surfaces", "profile")
        for path in (weeks.home.path / layer).glob("*.md")
    )
    for outdated in ("bakery", "2026-12-12", "Likes short", "分不清", "France", "hunter2"):
        assert outdated not in everything
    assert not re.search(r"next Friday|today|tomorrow|今天|明天", everything)


def test_what_was_learned_in_private_stays_private(weeks: SixWeeks) -> None:
    assert all(entry.audience.value == "private" for entry in weeks.portrait)


def test_the_requests_keep_to_their_size(tmp_path: Path) -> None:
    home = folder(tmp_path)
    append(home, *events())
    sizes = []
    numbers = count()
    while task := next_task(home, 2_500):
        sizes.append((len(task.system) + len(task.user)) / 3)
        conclude(home, task, '{"operations": []}', FIRST_DAY, lambda: str(next(numbers)))
    assert max(sizes) < 2 * 2_500
    assert len(sizes) < 20
