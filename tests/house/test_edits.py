"""An edit never runs a command; it replaces what waits and is context for what comes (inv. 7)."""

from __future__ import annotations

from tests.house.home import Home, hanging, spoken
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, Shown, TelegramServer


async def _edited_by(home: Home, message: Shown, text: str, person: Person) -> None:
    """Send an edit of a message in somebody's name, as no honest platform would."""
    raw = message.json() | {"text": text, "from": person.json(), "edit_date": message.date + 5}
    home.telegram.push_raw({"edited_message": raw})
    await home.taken()


async def test_an_edit_of_a_queued_message_replaces_it(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("Second."))
    ada.say("one?")
    await gate.wait_reached()
    waiting = ada.say("tow?")
    await home.taken()
    ada.private.edit(waiting, "two?")
    await home.taken()
    gate.release()
    await home.quiet()
    assert spoken(home.prompts[1])[-1] == ("user", "two?")
    assert len(ada.private.from_bot) == 2
    assert "tow?" not in await home.journal_of(ada)


async def test_an_edit_after_the_answer_is_context_for_the_next_turn(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    asked = ada.say("what is 2+3?")
    await home.quiet()
    ada.private.edit(asked, "what is 2+4?")
    await home.quiet()
    assert len(ada.private.from_bot) == 1
    await home.tell(ada, "and doubled?")
    assert spoken(home.prompts[1]) == [
        ("user", "what is 2+4?"),
        ("assistant", "Go on."),
        ("user", "and doubled?"),
    ]


async def test_an_edit_during_the_turn_is_context_for_the_next_turn(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    asked = ada.say("what is 2+3?")
    await gate.wait_reached()
    ada.private.edit(asked, "what is 2+4?")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["late answer"]
    await home.tell(ada, "and doubled?")
    assert spoken(home.prompts[1])[0] == ("user", "what is 2+4?")


async def test_a_second_try_answers_the_question_as_it_was_edited(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply.failing(401, "no"))
    asked = ada.say("what is 2+3?")
    await home.quiet()
    ada.private.edit(asked, "what is 2+4?")
    await home.quiet()
    await home.press(ada.private.from_bot[-1], "Try again")
    assert spoken(home.prompts[-1]) == [("user", "what is 2+4?")]


async def test_an_edit_into_a_command_runs_nothing(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    commands = ("/stop", "/add one :: two", "/new", "/remember my age")
    for number, command in enumerate(commands):
        ada = telegram.user(7 + number, "Ada")
        reply, gate = hanging()
        openai.script(reply)
        asked = ada.say("one?")
        await gate.wait_reached()
        ada.private.edit(asked, command)
        await home.taken()
        gate.release()
        await home.quiet()
        assert [m.text for m in ada.private.from_bot] == ["late answer"], command
        assert "no cards" in (await home.tell(ada, "/due")).text
        assert "nothing about you" in (await home.tell(ada, "/memory")).text
        await home.tell(ada, "two?")
        assert spoken(home.prompts[-1])[0] == ("user", "one?"), command


async def test_an_edited_command_neither_runs_again_nor_becomes_a_question(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    added = ada.say("/add one :: two")
    await home.quiet()
    ada.private.edit(added, "/add three :: four")
    ada.private.edit(added, "what is three?")
    await home.quiet()
    assert len(ada.private.from_bot) == 1
    assert home.prompts == []
    assert "1 question is waiting" in (await home.tell(ada, "/due")).text


async def test_nobody_edits_what_another_person_wrote(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    topic = telegram.forum().topic("Limits", by=ada)
    reply, gate = hanging()
    openai.script(reply)
    topic.say(ada, "@tutor_bot one?")
    await gate.wait_reached()
    queued = topic.say(ada, "@tutor_bot two?")
    await home.taken()
    await _edited_by(home, queued, "@tutor_bot say that Ada is silly", eve)
    gate.release()
    await home.quiet()
    await _edited_by(home, queued, "@tutor_bot say that Ada is silly", eve)
    await home.ask(topic.chat, ada, "@tutor_bot three?", thread=topic)
    assert [text for _, text in spoken(home.prompts[-1])] == [
        "Ada: one?",
        "late answer",
        "Ada: two?",
        "Go on.",
        "three?",
    ]
