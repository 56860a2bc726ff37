"""Memory is consolidated by itself: at the right time, within the limits, and in nobody's way."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text as sql
from sqlmodel import select

from core.limits import Limits
from core.llm.client import OpenAIModel
from core.llm.local import LocalModel
from core.llm.port import ChatModel
from core.loop.gates import Budget, Price
from core.memory_tuning import Consolidating, MemoryTuning
from core.scheduling.consolidation import Consolidator, Held
from core.spending import Spending
from core.store.tables import Consolidation, ConsolidationOutcome
from memory.document import parse
from memory.entries import noted
from memory.layers import LearnerFolder, Profile, Surface
from memory.progress import FILE
from tests.house.conftest import MakeHome
from tests.house.home import Home, system
from tests.servers.faults import Gate, RecordedRequest
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, TelegramServer

BY_ITSELF = MemoryTuning()
ONLINE = OpenAIModel(name="scripted", api_key="sk-x", base_url="http://127.0.0.1:9/v1")


def answer(*operations: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"operations": operations}, ensure_ascii=False))


def new_events(request: RecordedRequest) -> list[tuple[str, str]]:
    """(Short name, text) of the events that a request is about."""
    user = request.json["messages"][-1]["content"]
    return re.findall(r"^(e\d+) \S+ \w+ \d\d:\d\d (.*)$", user.partition("\nNew:")[2], re.M)


def notes(request: RecordedRequest) -> Reply:
    """A model that notes what was asked, raises what is observed, and teaches in a few words."""
    said = system(request)
    if "changes to a tutor's notes" in said:
        return answer(
            *(
                {"op": "add", "section": "Background", "cites": [name],
                 "text": "Is interested in " + text.removeprefix("asked: ")}
                for name, text in new_events(request) if text.startswith("asked")
            )
        )  # fmt: skip
    if "changes to a portrait" in said:
        user = request.json["messages"][-1]["content"]
        return answer(
            *(
                {"op": "add", "document": "profile", "section": "Background", "text": text,
                 "cites": [name]}
                for name, text in re.findall(r"^(e\d+) \[\w+\] \S+ \w+: (.*)$", user, re.M)
            )
        )  # fmt: skip
    return answer() if "JSON" in said else Reply("Go on.")


def about_memory(openai: OpenAIServer) -> list[RecordedRequest]:
    return [request for request in openai.chats if '"operations"' in system(request)]


async def swept(home: Home) -> None:
    await home.house.sweep()
    await home.house.consolidator.settled()


async def rows(home: Home) -> Sequence[Consolidation]:
    return await home.read(
        lambda session: session.exec(select(Consolidation).order_by(Consolidation.id)).all()
    )


async def talks(home: Home, person: Person, *topics: str) -> LearnerFolder:
    for topic in topics:
        await home.tell(person, topic)
    return await home.memory_of(person)


def portrait(folder: LearnerFolder) -> list[str]:
    return [one.text for one in noted(parse(folder.read(folder.profile(Profile.PROFILE))))]


def observed(folder: LearnerFolder) -> list[str]:
    return [one.text for one in noted(parse(folder.read(folder.surface(Surface.CHAT))))]


async def test_a_quiet_half_hour_after_a_talk_becomes_memory(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=BY_ITSELF)
    openai.default = notes
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "prime numbers", "knots")
    await swept(home)
    assert about_memory(openai) == []
    home.clock.advance(minutes=31)
    await swept(home)
    assert sorted(portrait(folder)) == [
        "Is interested in knots",
        "Is interested in prime numbers",
    ]
    assert "prime" not in home.log
    await home.tell(ada, "and now?")
    assert "Is interested in knots" in system(home.prompts[-1])
    learn, raised, *_ = await rows(home)
    assert (learn.stage, raised.stage) == ("learn", "raise")
    assert (learn.outcome, learn.prompt_tokens, learn.model) == ("done", 100, "scripted")
    assert json.loads(learn.counts) == {"add": 2}
    first = about_memory(openai)[0].json
    assert first["response_format"] == {"type": "json_object"}
    assert "tools" not in first
    calls = len(about_memory(openai))
    await swept(home)
    assert len(about_memory(openai)) == calls


async def test_many_events_are_not_waited_with_and_few_wait_for_the_night(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=MemoryTuning(events=6))
    openai.default = notes
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one")
    home.clock.advance(minutes=40)
    await swept(home)  # the first time there is no night before
    assert observed(folder) == ["Is interested in one"]
    await talks(home, ada, "two")
    home.clock.advance(minutes=40)
    await swept(home)
    assert len(observed(folder)) == 1
    await talks(home, ada, "three", "four")
    await swept(home)
    assert len(observed(folder)) == 4
    await talks(home, ada, "five")
    home.clock.advance(hours=14)  # past three at night in Berlin: 01:40
    await swept(home)
    assert len(observed(folder)) == 4
    home.clock.advance(hours=3)
    await swept(home)
    assert len(observed(folder)) == 5
    assert any("check a tutor's notes" in system(request) for request in about_memory(openai))


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        (Reply.failing(500, "down"), "failed"),
        (Reply.failing(401, "no"), "failed"),
        (Reply("I'm sorry, I cannot do that."), "unreadable"),
        (Reply('{"operations": [{"op": "add", "sec', finish="length"), "unreadable"),
        (Reply.failing(400, "filtered", code="content_filter"), "unreadable"),
        (Reply.empty(), "unreadable"),
    ],
)
async def test_an_hour_of_a_broken_model_costs_no_data_and_few_calls(
    make_home: MakeHome,
    telegram: TelegramServer,
    openai: OpenAIServer,
    broken: Reply,
    outcome: str,
) -> None:
    home = await make_home(consolidation=BY_ITSELF)
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    folder = await talks(home, ada, "one", "two")
    other = await talks(home, ben, "three", "four")
    openai.default = broken
    home.clock.advance(minutes=31)
    for _ in range(60):
        await swept(home)
        home.clock.advance(minutes=1)
    assert {row.outcome for row in await rows(home)} == {outcome}
    assert 3 <= len(await rows(home)) <= 8
    assert len(about_memory(openai)) <= 5 * 8
    assert observed(folder) == observed(other) == []
    assert not (folder.path / FILE).exists()
    await home.restart()  # what has failed is known after a restart too
    calls = len(about_memory(openai))
    await swept(home)
    assert len(about_memory(openai)) == calls
    openai.default = notes
    for _ in range(6):
        home.clock.advance(hours=1)
        await swept(home)
    assert len(portrait(folder)) == len(portrait(other)) == 2


async def test_the_pause_of_one_learner_holds_up_no_other(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=BY_ITSELF)
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await talks(home, ada, "poison", "two")
    home.clock.advance(minutes=1)
    other = await talks(home, ben, "three", "four")

    def allergic(request: RecordedRequest) -> Reply:
        poisoned = "poison" in request.json["messages"][-1]["content"]
        return Reply("I can't.") if poisoned else notes(request)

    openai.default = allergic
    home.clock.advance(minutes=31)
    await swept(home)
    assert len(portrait(other)) == 2


async def test_what_memory_costs_counts_in_the_limits_of_the_day(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    price = Budget(prices=(Price("scripted", 10, 20),))
    home = await make_home(
        consolidation=BY_ITSELF, limits=Limits(learner_tokens_per_day=300), budget=price
    )
    openai.default = notes
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one", "two")
    home.clock.advance(minutes=31)
    await swept(home)
    (row,) = await rows(home)
    assert row.cost == pytest.approx((100 * 10 + 20 * 20) / 1_000_000)
    assert (len(observed(folder)), portrait(folder)) == (2, [])
    assert "all I may answer you today" in (await home.tell(ada, "three")).text
    learner = await home.learner(ada)
    assert (await home.house.consolidator.refresh(learner)).held is Held.LIMIT
    home.clock.advance(days=1)
    await swept(home)
    assert len(portrait(folder)) == 2


async def test_a_learner_can_ask_for_it_and_hears_what_came_of_it(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = notes
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one")
    await swept(home)
    assert about_memory(openai) == []  # by itself it does nothing here
    learner = await home.learner(ada)
    report = await home.house.consolidator.refresh(learner)
    assert (report.calls, report.held, report.counts["add"]) == (2, None, 2)
    assert portrait(folder) == ["Is interested in one"]
    openai.default = Reply("No.")
    await home.tell(ada, "two")
    assert (await home.house.consolidator.refresh(learner)).held is Held.UNREADABLE
    openai.default = notes
    assert (await home.house.consolidator.refresh(learner)).held is None  # no pause when asked
    with pytest.raises(LookupError):
        await home.house.consolidator.refresh("01JDQZ7Y3WJ5M8RKT2V4X6A0AD")


async def test_a_turn_waits_for_no_consolidation_and_neither_does_the_end(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=BY_ITSELF)
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one", "two")
    gate = Gate()
    openai.script(Reply.hanging(gate, "{}"))
    home.clock.advance(minutes=31)
    await home.house.sweep()
    await openai.wait_for(lambda: len(about_memory(openai)) == 1)
    assert (await home.tell(ada, "three")).text == "Go on."
    await home.house.sweep()
    assert len(about_memory(openai)) == 1
    await home.restart()
    gate.release()
    assert not (folder.path / FILE).exists()
    openai.default = notes
    home.clock.advance(hours=1)
    await swept(home)
    assert len(portrait(folder)) == 3


async def test_files_that_change_meanwhile_are_asked_about_anew(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one")
    path = folder.surface(Surface.CHAT)

    def edited_meanwhile(request: RecordedRequest) -> Reply:
        path.parent.mkdir(exist_ok=True)
        path.write_text("# Mine\n\n- I like knots.\n", "utf-8")
        return notes(request)

    openai.script(edited_meanwhile, notes, notes)
    learner = await home.learner(ada)
    assert (await home.house.consolidator.refresh(learner)).held is None
    assert path.read_text("utf-8").startswith("# Mine\n\n- I like knots.\n")
    assert observed(folder) == ["Is interested in one"]
    outcomes = [row.outcome for row in await rows(home)]
    assert outcomes == ["drifted", "done", "done"]
    second = about_memory(openai)[1]
    assert "- I like knots." in second.json["messages"][-1]["content"]


async def test_files_that_change_all_the_time_are_left_for_later(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one")
    path = folder.surface(Surface.CHAT)

    def restless(request: RecordedRequest) -> Reply:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"- I changed my mind {len(openai.chats)} times.\n", "utf-8")
        return notes(request)

    openai.default = restless
    report = await home.house.consolidator.refresh(await home.learner(ada))
    assert (report.calls, report.held) == (1, Held.FAILED)
    assert {row.outcome for row in await rows(home)} == {ConsolidationOutcome.DRIFTED}
    assert len(about_memory(openai)) == 3


@pytest.mark.parametrize(
    ("consolidate", "model", "happens"),
    [
        (Consolidating.AUTO, ONLINE, True),
        (Consolidating.AUTO, LocalModel(), False),
        (Consolidating.ON, LocalModel(), True),
        (Consolidating.OFF, ONLINE, False),
    ],
)
async def test_a_small_model_consolidates_only_when_it_is_switched_on(
    home: Home, consolidate: Consolidating, model: ChatModel, happens: bool
) -> None:
    spending = Spending(Limits(), "UTC", "en", ())
    tuning = MemoryTuning(consolidate=consolidate)
    consolidator = Consolidator(
        home.store, home.clock, home.memory, model, Budget(), spending, tuning
    )
    assert consolidator.by_itself is happens


async def test_calls_for_one_learner_are_counted_in_a_day(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=MemoryTuning(calls_per_day=1))
    openai.default = notes
    ada = telegram.user(7, "Ada")
    folder = await talks(home, ada, "one", "two")
    learner = await home.learner(ada)
    assert (await home.house.consolidator.refresh(learner)).held is Held.CALLS
    assert (len(observed(folder)), portrait(folder)) == (2, [])
    home.clock.advance(days=1, minutes=1)
    await swept(home)
    assert len(portrait(folder)) == 2


async def test_what_is_learned_in_a_group_is_the_speakers_and_says_where_it_was_said(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, ben, group = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.supergroup()
    await home.ask(group, ada, "@tutor_bot I love graphs")
    await home.ask(group, ben, "@tutor_bot and I love knots")
    noticed = {"op": "add", "section": "Background", "text": "Loves graphs", "cites": ["e1"]}
    raised = {**noticed, "document": "profile"}
    openai.script(answer(noticed), answer(raised))
    await home.house.consolidator.refresh(await home.learner(ada))
    asked = about_memory(openai)[0].json["messages"][-1]["content"]
    assert "asked in a group: I love graphs" in asked
    assert "knots" not in asked
    assert portrait(await home.memory_of(ada)) == ["Loves graphs (said in a group)"]
    assert portrait(await home.memory_of(ben)) == []


async def test_no_request_and_no_file_of_one_holds_a_word_of_another(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = notes
    group = telegram.supergroup()
    people = [telegram.user(number, f"P{number}") for number in range(7, 11)]
    for number, person in enumerate(people):
        await home.tell(person, f"canary{number}private")
        await home.tell(person, f"/remember canary{number}note")
        await home.ask(group, person, f"@tutor_bot canary{number}group")
    for number, person in enumerate(people):
        before = len(about_memory(openai))
        report = await home.house.consolidator.refresh(await home.learner(person))
        assert (report.held, report.counts["add"] > 0) == (None, True)
        folder = await home.memory_of(person)
        written = b"".join(path.read_bytes() for path in folder.path.rglob("*") if path.is_file())
        asked = "".join(str(one.json) for one in about_memory(openai)[before:])
        for text in (asked, written.decode()):
            assert set(re.findall(r"canary(\d)", text)) == {str(number)}
    assert "canary" not in home.log


async def test_a_database_in_trouble_is_logged_and_the_next_sweep_does_it(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(consolidation=BY_ITSELF)
    openai.default = notes
    folder = await talks(home, telegram.user(7, "Ada"), "one", "two")
    home.clock.advance(minutes=31)
    await home.store.write(lambda s: s.execute(sql("ALTER TABLE consolidation RENAME TO away")))
    await swept(home)
    assert "memory could not be looked after" in home.log
    assert observed(folder) == []
    await home.store.write(lambda s: s.execute(sql("ALTER TABLE away RENAME TO consolidation")))
    await swept(home)
    assert len(portrait(folder)) == 2
