"""What a learner asked to be reminded of comes once, at the time their clock shows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.scheduling.reminders import MOST
from core.tools.registry import Tool, ToolContext, ToolResult, run_tool
from core.tools.reminders import cancel_reminder, schedule_reminder
from tests.house.conftest import MakeHome
from tests.house.home import Home
from tests.servers.telegram import Person, TelegramServer


class Desk:
    """The tools, used as the model uses them in a turn of one learner."""

    def __init__(self, home: Home, learner: str, zone: str = "Europe/Berlin") -> None:
        self.home = home
        self.context = ToolContext(learner, zone, "en", home.clock.now(), "c")  # type: ignore[arg-type]

    async def keep(self, text: str, at: str) -> ToolResult:
        return await self._run(
            schedule_reminder(self.home.store, self.home.clock), text=text, at=at
        )

    async def cancel(self, reminder: str = "") -> ToolResult:
        return await self._run(cancel_reminder(self.home.store), reminder=reminder)

    async def _run(self, tool: Tool, **values: object) -> ToolResult:
        given = tool.arguments.model_validate(values)
        return await run_tool(tool, given, self.context, seconds=10)


async def at_desk(home: Home, person: Person) -> Desk:
    await home.tell(person, "hello")
    return Desk(home, await home.learner(person))


def shown(person: Person) -> list[str]:
    return [m.text for m in person.private.from_bot if "remind you" in m.text]


async def test_it_comes_once_at_the_time_that_was_meant(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    desk = await at_desk(home, ada)
    kept = await desk.keep("call *Ben*", "2026-11-30T19:00")
    assert kept.text.startswith("Kept. [")
    assert "Monday, 2026-11-30, 19:00, time zone Europe/Berlin" in kept.text
    home.clock.advance(hours=8, minutes=59)
    await home.house.sweep()
    await home.quiet()
    assert shown(ada) == []
    home.clock.advance(minutes=1)
    await home.house.sweep()
    await home.house.sweep()
    await home.quiet()
    assert shown(ada) == ["You asked me to remind you: call *Ben*"]


async def test_one_that_is_asked_for_twice_is_kept_once(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    desk = await at_desk(home, ada)
    first = await desk.keep("call Ben", "2026-11-30T19:00")
    assert await desk.keep("call Ben", "2026-11-30T19:00") == first
    assert (await desk.keep("call Ben", "2026-11-30T20:00")) != first
    assert (await desk.cancel()).text.count("call Ben") == 2


async def test_one_that_comes_late_says_so(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await (await at_desk(home, ada)).keep("call Ben", "2026-11-30T19:00")
    home.clock.advance(days=1)
    await home.house.sweep()
    await home.quiet()
    [text] = shown(ada)
    assert "meant for yesterday at" in text


async def test_it_moves_with_the_learner(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await (await at_desk(home, ada)).keep("call Ben", "2026-11-30T19:00")
    await home.tell(ada, "/timezone New York")
    home.clock.advance(hours=10)  # 20:00 in Berlin, 14:00 in New York
    await home.house.sweep()
    await home.quiet()
    assert shown(ada) == []
    home.clock.advance(hours=5)
    await home.house.sweep()
    await home.quiet()
    assert len(shown(ada)) == 1


@pytest.mark.parametrize(
    ("at", "why"),
    [("2026-11-30T09:59", "is past"), ("2029-01-01T09:00", "two years")],
)
async def test_a_time_of_no_use_is_refused_with_the_present_one(
    home: Home, telegram: TelegramServer, at: str, why: str
) -> None:
    desk = await at_desk(home, telegram.user(7, "Ada"))
    refused = await desk.keep("call Ben", at)
    assert not refused.ok
    assert why in refused.text
    assert "Monday, 2026-11-30, 10:00" in refused.text


async def test_they_can_be_listed_and_taken_back_by_their_learner_alone(
    home: Home, telegram: TelegramServer
) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    desk, other = await at_desk(home, ada), await at_desk(home, ben)
    kept = (await desk.keep("zebra7", "2026-12-01T19:00")).text
    number = kept.split("[")[1].split("]")[0]
    assert "No reminder is waiting" in (await other.cancel()).text
    assert not (await other.cancel(number)).ok
    assert "zebra7" in (await desk.cancel()).text
    assert "Taken back" in (await desk.cancel(number)).text
    home.clock.advance(days=2)
    await home.house.sweep()
    await home.quiet()
    assert shown(ada) == []


async def test_there_is_a_limit(make_home: MakeHome, telegram: TelegramServer) -> None:
    home = await make_home()
    desk = await at_desk(home, telegram.user(7, "Ada"))
    at = home.clock.now() + timedelta(days=1)
    for number in range(MOST):
        assert (await desk.keep(f"number {number}", at.isoformat())).ok
    assert "too many" in (await desk.keep("one more", at.isoformat())).text
