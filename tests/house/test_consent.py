"""A tool that needs consent asks with buttons; the answer is kept, counts once, and runs out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from core.store.tables import Consent
from tests.house.conftest import MakeHome
from tests.house.home import Home, spoken
from tests.house.tools import Bells, with_handy
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import Person, Shown, TelegramServer

RING = Reply.calls(ToolCall("ring", {"times": 3}), text="I would ring.")


@pytest.fixture
def bells() -> Bells:
    return Bells()


@pytest.fixture
async def home(tmp_path: Path, make_home: MakeHome, bells: Bells) -> Home:
    with_handy(tmp_path)
    return await make_home(tools=(bells.ring(),))


async def _asked(home: Home, openai: OpenAIServer, ada: Person) -> Shown:
    await home.tell(ada, "/persona handy")
    openai.script(RING)
    return await home.tell(ada, "wake me?")


async def test_nothing_happens_before_the_yes_and_once_after_it(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    assert question.text == "May I do this?\n\n• ring 3 times"
    assert question.labels == ["Yes", "No"]
    assert bells.rung == []
    openai.script(Reply("Rung."))
    shown, [answer] = await home.press(question, "Yes")
    assert answer.text == "Rung."
    assert bells.rung == [3]
    assert shown.labels == []
    assert shown.text.endswith("You said yes.")
    [result] = [m for m in home.prompts[-1].json["messages"] if m["role"] == "tool"]
    assert "rung 3 times" in result["content"]
    for action, told in (("Yes", "said yes to that already"), ("No", "said yes to that already")):
        data = question.buttons[["Yes", "No"].index(action)]["callback_data"]
        [again] = await home.press_forged(ada, question, data)
        assert told in again.text
    assert bells.rung == [3]
    assert len(home.prompts) == 2
    await home.tell(ada, "thanks?")
    assert spoken(home.prompts[-1]) == [
        ("user", "wake me?"),
        ("assistant", "Rung."),
        ("user", "thanks?"),
    ]
    assert (await home.journal_of(ada)).count("asked: wake me?") == 1


async def test_a_no_is_told_to_the_model(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    openai.script(Reply("I leave it."))
    shown, [answer] = await home.press(question, "No")
    assert (answer.text, bells.rung) == ("I leave it.", [])
    assert shown.text.endswith("You said no.")
    [result] = [m for m in home.prompts[-1].json["messages"] if m["role"] == "tool"]
    assert "did not allow this call" in result["content"]


async def test_the_conversation_goes_on_meanwhile_and_the_question_outlives_a_restart(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    assert (await home.tell(ada, "and what is 2+3?")).text == "Go on."
    await home.restart()
    openai.script(Reply("Rung."))
    _, [answer] = await home.press(question, "Yes")
    assert (answer.text, bells.rung) == ("Rung.", [3])
    assert spoken(home.prompts[-1])[:3] == [
        ("user", "and what is 2+3?"),
        ("assistant", "Go on."),
        ("user", "wake me?"),
    ]


async def test_an_allowed_call_that_was_cut_off_is_not_made_again(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    bells.hangs = True
    home.forge(ada, ada.private, question, question.buttons[0]["callback_data"])
    await bells.began.wait()
    openai.script(Reply("Perhaps it rang."))
    await home.restart()
    await home.quiet()
    assert bells.rung == [3]
    assert ada.private.from_bot[-1].text == "Perhaps it rang."
    assert "may have been carried out" in home.prompts[-1].json["messages"][-1]["content"]


async def test_two_presses_at_once_ring_once(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    for button in question.buttons:
        home.forge(ada, ada.private, question, button["callback_data"])
    await home.quiet()
    assert bells.rung == [3]
    assert "said yes to that already" in ada.private.from_bot[-1].text


async def test_only_the_asker_decides(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    topic = telegram.forum().topic("Limits", by=ada)
    await home.ask(topic.chat, ada, "/persona@tutor_bot handy", thread=topic)
    openai.script(RING)
    [question] = await home.ask(topic.chat, ada, "@tutor_bot wake me?", thread=topic)
    shown, [refusal] = await home.press(question, "Yes", eve)
    assert "Only the person who asked" in refusal.text
    assert (bells.rung, shown.labels) == ([], ["Yes", "No"])
    openai.script(Reply("Rung."))
    _, [answer] = await home.press(question, "Yes", ada)
    assert (answer.text, bells.rung) == ("Rung.", [3])


async def test_after_an_hour_it_runs_out_with_a_note(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    home.clock.advance(minutes=59)
    await home.house.sweep()
    await home.quiet()
    assert ada.private.now(question).labels == ["Yes", "No"]
    home.clock.advance(minutes=1)
    await home.house.sweep()
    await home.quiet()
    shown = ada.private.now(question)
    assert shown.labels == []
    assert "waited an hour" in shown.text
    [told] = await home.press_forged(ada, question, question.buttons[0]["callback_data"])
    assert "has run out" in told.text
    assert bells.rung == []
    await home.tell(ada, "and now?")
    assert [role for role, _ in spoken(home.prompts[-1])] == ["user", "assistant", "user"]
    home.clock.advance(days=2)
    await home.house.sweep()
    assert await home.read(lambda s: s.exec(select(Consent)).all()) == []


async def test_a_press_right_after_the_hour_counts_no_more(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    home.clock.advance(hours=1)
    _, [told] = await home.press(question, "Yes")
    assert "has run out" in told.text
    assert bells.rung == []


async def test_an_answer_made_anew_withdraws_the_question(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, bells: Bells
) -> None:
    ada = telegram.user(7, "Ada")
    question = await _asked(home, openai, ada)
    openai.script(Reply("Without a bell."))
    assert (await home.tell(ada, "/regenerate")).text == "Without a bell."
    _, [told] = await home.press(question, "Yes")
    assert "has run out" in told.text
    assert bells.rung == []
