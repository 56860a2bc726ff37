"""Turns of one conversation run in order, conversations side by side; a turn can be stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from core.store.tables import Turn
from tests.house.conftest import MakeHome
from tests.house.home import Home, hanging, spoken
from tests.house.tools import Stuck, with_handy
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer


async def test_two_messages_of_one_conversation_are_answered_in_order(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("Second."))
    ada.say("one?")
    await gate.wait_reached()
    ada.say("two?")
    await home.taken()
    assert len(home.prompts) == 1, "the second question waits for the first answer"
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["late answer", "Second."]
    assert spoken(home.prompts[1]) == [
        ("user", "one?"),
        ("assistant", "late answer"),
        ("user", "two?"),
    ]


async def test_a_hanging_model_call_holds_no_other_conversation(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, ben, group = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.supergroup()
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    await gate.wait_reached()
    ben.say("two?")
    group.say(ada, "@tutor_bot three?")
    await ben.private.wait_message()
    await group.wait_message()
    assert ada.private.from_bot == []
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["late answer"]


async def test_status_is_answered_while_a_turn_runs(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    await gate.wait_reached()
    ada.say("/status")
    answer = await ada.private.wait_message()
    assert "working on your question" in answer.text
    gate.release()
    await home.quiet()
    assert "I'm ready" in (await home.tell(ada, "/status")).text


async def test_stop_ends_a_hanging_call_and_keeps_the_question(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    call = await gate.wait_reached()
    ada.say("/stop")
    stopped = await ada.private.wait_message()
    assert "Stopped" in stopped.text
    await openai.wait_for(lambda: call.hung_up)
    gate.release()
    await home.quiet()
    assert ada.private.from_bot == [stopped], "the stopped answer never comes"
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1]) == [("user", "one?"), ("user", "two?")]
    turns = await home.read(lambda s: s.exec(select(Turn).order_by(Turn.id)).all())
    assert [turn.reason for turn in turns].count("cancelled") == 1
    assert "asked: one?" in await home.journal_of(ada)


async def test_stop_keeps_what_was_said_so_far(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    gate = Gate()
    openai.script(Reply.hanging(gate, "First this. Then that.", after=1, chunks=2))
    ada.say("one?")
    await gate.wait_reached()
    await telegram.wait_for(lambda: any("First" in d for d in ada.private.drafts.values()))
    ada.say("/stop")
    await home.quiet()
    gate.release()
    await home.tell(ada, "two?")
    asked, said, _ = spoken(home.prompts[-1])
    assert asked == ("user", "one?")
    assert said[0] == "assistant"
    assert said[1].startswith("First this")
    assert said[1].endswith("…")


@pytest.mark.parametrize("name", ["wait", "block"])
async def test_stop_ends_a_tool_that_hangs_also_in_a_thread(
    name: str,
    tmp_path: Path,
    make_home: MakeHome,
    telegram: TelegramServer,
    openai: OpenAIServer,
) -> None:
    stuck = Stuck()
    with_handy(tmp_path)
    home = await make_home(tools=stuck.tools())
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona handy")
    last = ada.private.from_bot[-1]
    openai.script(Reply.calls(ToolCall(name), text="Let me see."))
    ada.say("one?")
    await stuck.began.wait()
    ada.say("/stop")
    await ada.private.wait_message(lambda m: "Stopped" in m.text, after=last)
    assert not stuck.free.is_set(), "the tool still hangs"
    stuck.free.set()
    await home.quiet()
    assert len(home.prompts) == 1, "nothing goes on behind the stop"
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1])[0] == ("user", "one?")


async def test_the_message_behind_a_stopped_turn_is_answered(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("Second."))
    ada.say("one?")
    await gate.wait_reached()
    ada.say("two?")
    ada.say("/stop")
    await home.quiet()
    assert sorted(m.text for m in ada.private.from_bot) == [
        "Second.",
        "Stopped. I remember what you asked.",
    ]


async def test_only_the_asker_or_an_owner_can_stop_a_turn(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(owners=["telegram:9"])
    ada, eve, boss = telegram.user(7, "Ada"), telegram.user(8, "Eve"), telegram.user(9, "Boss")
    forum = telegram.forum()
    topic = forum.topic("Limits", by=ada)
    for stopper, expected in ((eve, "Only the person who asked"), (boss, "Stopped")):
        reply, gate = hanging()
        openai.script(reply)
        topic.say(ada, "@tutor_bot one?")
        await gate.wait_reached()
        last = topic.messages[-1]
        topic.say(stopper, "/stop@tutor_bot")
        answer = await forum.wait_message(after=last)
        assert expected in answer.text
        gate.release()
        await home.quiet()
    assert [m.text for m in topic.messages if m.from_bot].count("late answer") == 1


async def test_stop_with_nothing_to_stop_says_so(home: Home, telegram: TelegramServer) -> None:
    assert "Nothing is running" in (await home.tell(telegram.user(7, "Ada"), "/stop")).text


async def test_a_stop_that_comes_too_late_loses_nothing(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    """Whatever instant of a turn a stop meets, there is one end, in the chat and in the journal."""
    ada = telegram.user(7, "Ada")
    for number in range(12):
        last = ada.private.messages[-1] if ada.private.messages else None
        ada.say(f"question {number}?")
        await openai.wait_request("chat.completions", count=number + 1)
        ada.say("/stop")
        await home.quiet()
        said = [m.text for m in ada.private.from_bot if not last or m.message_id > last.message_id]
        if len(said) == 1:
            assert said == ["Stopped. I remember what you asked."]
        else:
            assert sorted(said)[0] in ("Go on.", "Go on. …")
            assert len(said) == 2
    journal = await home.journal_of(ada)
    for number in range(12):
        assert f"asked: question {number}?" in journal
