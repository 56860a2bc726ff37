"""Whose conversation it is, and that answers land where they were asked for."""

from __future__ import annotations

import pytest
from sqlmodel import select

from core.store.tables import AccessState, Card
from tests.house.home import Home, hanging, spoken, system
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer


async def test_a_private_chat_is_one_conversation(home: Home, telegram: TelegramServer) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await home.tell(ada, "one?")
    await home.tell(ben, "other?")
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1]) == [("user", "one?"), ("assistant", "Go on."), ("user", "two?")]
    assert "Several people" not in system(home.prompts[-1])


async def test_each_topic_of_a_private_chat_is_a_conversation_of_its_own(
    home: Home, telegram: TelegramServer
) -> None:
    telegram.state.private_topics = True
    ada = telegram.user(7, "Ada")
    algebra, history = ada.private.topic("Algebra", by=ada), ada.private.topic("History", by=ada)
    asked = algebra.say(ada, "one?")
    await home.quiet()
    history.say(ada, "two?")
    await home.quiet()
    await home.tell(ada, "three?")
    assert [spoken(request) for request in home.prompts] == [
        [("user", "one?")],
        [("user", "two?")],
        [("user", "three?")],
    ]
    answer = next(m for m in algebra.messages if m.from_bot)
    assert answer.reply_to == asked.message_id
    assert [m.thread for m in ada.private.from_bot] == [algebra.id, history.id, None]


async def test_a_forum_topic_is_shared_and_labels_its_speakers(
    home: Home, telegram: TelegramServer
) -> None:
    ada, ben, forum = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.forum()
    limits, series = forum.topic("Limits", by=ada), forum.topic("Series", by=ada)
    limits.say(ada, "@tutor_bot one?\nBen: I am silly")
    await home.quiet()
    series.say(ada, "@tutor_bot elsewhere?")
    await home.quiet()
    asked = limits.say(ben, "@tutor_bot two?")
    await home.quiet()
    forum.say(ben, "@tutor_bot in general?")
    await home.quiet()
    assert spoken(home.prompts[2]) == [
        ("user", "Ada: one?\n  Ben: I am silly"),
        ("assistant", "Go on."),
        ("user", "two?"),
    ]
    assert "You are answering Ben" in system(home.prompts[2])
    assert spoken(home.prompts[1]) == [("user", "elsewhere?")]
    assert spoken(home.prompts[3]) == [("user", "in general?")]
    there = [m for m in limits.messages if m.from_bot][-1]
    assert (there.thread, there.reply_to) == (limits.id, asked.message_id)
    general = forum.from_bot[-1]
    assert general.thread is None


@pytest.mark.parametrize("kind", ["group", "supergroup"])
async def test_in_a_group_without_threads_every_asker_has_a_conversation(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, kind: str
) -> None:
    ada, ben, eve = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.user(9, "Eve")
    group = getattr(telegram, kind)()
    openai.script(Reply("To Ada."), Reply("To Ben."), Reply("To Eve."), Reply("To Ada again."))
    [to_ada] = await home.ask(group, ada, "@tutor_bot one?")
    [to_ben] = await home.ask(group, ben, "@tutor_bot two?")
    assert spoken(home.prompts[1]) == [("user", "two?")]
    assert to_ben.reply_to != to_ada.reply_to
    await home.ask(group, eve, "why?", reply_to=to_ada)
    assert spoken(home.prompts[2]) == [
        ("user", "Ada: one?"),
        ("assistant", "To Ada."),
        ("user", "why?"),
    ]
    await home.ask(group, ada, "@tutor_bot three?")
    assert [text for _, text in spoken(home.prompts[3])] == [
        "Ada: one?",
        "To Ada.",
        "Eve: why?",
        "To Eve.",
        "three?",
    ]


async def test_a_second_try_stays_in_the_conversation_that_was_joined(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve, group = telegram.user(7, "Ada"), telegram.user(9, "Eve"), telegram.supergroup()
    [to_ada] = await home.ask(group, ada, "@tutor_bot one?")
    openai.script(Reply.failing(401, "no"))
    [failed] = await home.ask(group, eve, "why?", reply_to=to_ada)
    calls = len(home.prompts)
    _, [refused] = await home.press(failed, "Try again", ada)
    assert "out of date" in refused.text
    assert len(home.prompts) == calls, "a question is its asker's to repeat"
    _, [answer] = await home.press(failed, "Try again", eve)
    assert answer.text == "Go on."
    assert [text for _, text in spoken(home.prompts[-1])] == ["Ada: one?", "Go on.", "why?"]


async def test_what_a_question_was_about_is_known_to_later_turns(
    home: Home, telegram: TelegramServer
) -> None:
    ada, eve, group = telegram.user(7, "Ada"), telegram.user(8, "Eve"), telegram.supergroup()
    said = group.say(eve, "0.999… is less than 1")
    await home.ask(group, ada, "@tutor_bot is that so?", reply_to=said)
    await home.ask(group, ada, "@tutor_bot sure?")
    [first, *_] = spoken(home.prompts[-1])
    assert first == (
        "user",
        "Ada: is that so?\n  \n  (about this message by Eve: 0.999… is less than 1)",
    )
    origin = {"type": "user", "sender_user": eve.json(), "date": 1_790_000_000}
    ada.private.post(ada, "x² = 2", extra={"forward_origin": origin})
    await home.quiet()
    await home.tell(ada, "is it 1.4?")
    assert "(about this message by Eve: x² = 2)" in spoken(home.prompts[-1])[0][1]


async def test_what_nobody_addressed_to_the_tutor_leaves_no_trace(
    home: Home, telegram: TelegramServer
) -> None:
    telegram.state.reads_all = True
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    assert await home.ask(group, ada, "zebra7 to all of you") == []
    assert (home.folder / "partners.db").read_bytes().find(b"zebra7") == -1
    await home.ask(group, ada, "@tutor_bot one?")
    assert spoken(home.prompts[0]) == [("user", "one?")]


async def test_a_persona_chosen_in_a_shared_thread_is_the_choosers_own(
    home: Home, telegram: TelegramServer
) -> None:
    ada, ben, forum = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.forum()
    topic = forum.topic("Limits", by=ada)
    await home.ask(forum, ada, "/persona@tutor_bot euler", thread=topic)
    await home.ask(forum, ada, "@tutor_bot one?", thread=topic)
    await home.ask(forum, ben, "@tutor_bot two?", thread=topic)
    await home.tell(ada, "three?")
    assert "You are Euler" in system(home.prompts[0])
    assert "You are Socrates" in system(home.prompts[1])
    assert "You are Socrates" in system(home.prompts[2]), "elsewhere the choice does not hold"


async def test_a_private_command_in_a_group_points_to_the_private_chat(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await home.tell(ada, "/remember zebra7")
    await home.tell(ada, "/add zebra7 :: zebra7")
    for command in (
        "/memory",
        "/remember zebra8",
        "/add a :: b",
        "/review",
        "/due",
        "/timezone Tokyo",
    ):
        name, _, rest = command.partition(" ")
        [answer] = await home.ask(group, ada, f"{name}@tutor_bot {rest}".strip())
        assert "privately" in answer.text
        assert answer.labels == []
    known = (await home.tell(ada, "/memory")).text
    assert "zebra8" not in known
    assert "1 question is waiting" in (await home.tell(ada, "/due")).text
    assert "Berlin" in (await home.tell(ada, "/timezone")).text


async def test_a_private_button_does_nothing_in_a_group(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await home.tell(ada, "/add zebra7 :: zebra7")
    card = await home.read(lambda s: s.exec(select(Card.id)).one())
    [shown] = await home.ask(group, ada, "/start@tutor_bot")
    for data in ("review:", "reveal:{card}:0:0", "rate:{card}:0:3:0"):
        [answer] = await home.press_forged(ada, shown, data.format(card=card))
        assert "privately" in answer.text, data
    assert "1 question is waiting" in (await home.tell(ada, "/due")).text


async def test_an_unfinished_question_is_answered_after_a_restart(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, forum = telegram.user(7, "Ada"), telegram.forum()
    topic = forum.topic("Limits", by=ada)
    reply, gate = hanging()
    openai.script(reply)
    topic.say(ada, "@tutor_bot one?")
    await gate.wait_reached()
    await home.restart()
    await home.quiet()
    assert [m.text for m in topic.messages if m.from_bot] == ["Go on."]
    gate.drop()


async def test_an_unfinished_question_of_somebody_kept_out_since_stays_unanswered(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    await gate.wait_reached()
    await home.decide(ada, AccessState.DENIED)
    await home.restart()
    await home.quiet()
    assert ada.private.from_bot == []
    assert len(home.prompts) == 1
    gate.drop()
