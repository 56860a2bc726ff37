"""An answer is made anew: the same question without the old answer, which stays if that fails."""

from __future__ import annotations

from sqlmodel import col, select

from core.loop.gates import Budget
from core.store.tables import Line
from tests.house.conftest import MakeHome
from tests.house.home import Home, hanging, spoken, system
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, TelegramServer

LONG = "\n\n".join(f"Part {n}. " + "word " * 700 for n in range(3))
"""Two messages, at least."""


def texts(person: Person) -> list[str]:
    return [m.text for m in person.private.from_bot]


async def test_the_new_answer_takes_the_place_of_the_old_one(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("First."), Reply("Second."), Reply("Third."), Reply("Done."))
    await home.tell(ada, "one?")
    for command, expected in (("/regenerate", "Second."), ("/retry", "Third.")):
        ada.say(command)
        await home.quiet()
        assert texts(ada) == [expected]
    assert [spoken(one) for one in home.prompts] == [[("user", "one?")]] * 3
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1]) == [
        ("user", "one?"),
        ("assistant", "Third."),
        ("user", "two?"),
    ]
    lines = await home.read(lambda s: s.exec(select(Line).order_by(col(Line.id))).all())
    asked = [line for line in lines if line.text == "one?"]
    assert len(asked) == 1, "the question is not written twice"
    assert [line.text for line in lines if line.superseded_by] == ["First.", "Second."]
    journal = await home.journal_of(ada)
    assert journal.count("asked: one?") == 1
    assert journal.count("answered:") == 2


async def test_the_button_below_an_answer_does_the_same(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(offers_anew=True)
    ada = telegram.user(7, "Ada")
    openai.script(Reply("First."), Reply("Second."))
    first = await home.tell(ada, "one?")
    assert first.labels == ["↻"]
    second, new = await home.press(first, "↻")
    assert (second.text, second.labels, new) == ("Second.", ["↻"], [])
    await home.tell(ada, "two?")
    _, [stale] = await home.press(second, "↻")
    assert "something else since" in stale.text
    group = telegram.supergroup()
    [shown] = await home.ask(group, ada, "@tutor_bot three?")
    assert shown.labels == []


async def test_a_longer_and_a_shorter_answer_leave_nothing_of_the_old_one(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("Short."), Reply(LONG), Reply("Short again."))
    await home.tell(ada, "one?")
    ada.say("/regenerate")
    await home.quiet()
    long = texts(ada)
    assert len(long) > 1
    assert long[0].startswith("Part 0.")
    assert sum(text.count("word") for text in long) == 2100
    ada.say("/regenerate")
    await home.quiet()
    assert texts(ada) == ["Short again.", *["(My new answer stands above.)"] * (len(long) - 1)]


async def test_the_old_answer_stays_when_the_new_one_fails(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("First."), Reply.failing(401, "no"), Reply("Second."))
    first = await home.tell(ada, "one?")
    note = await home.tell(ada, "/regenerate")
    assert "my earlier one stays" in note.text
    assert ada.private.now(first).text == "First."
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1])[:2] == [("user", "one?"), ("assistant", "First.")]


async def test_a_stop_leaves_the_old_answer(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    gate = Gate()
    openai.script(Reply("First."), Reply.hanging(gate, "Half of an answer.", after=2, chunks=4))
    await home.tell(ada, "one?")
    ada.say("/regenerate")
    await gate.wait_reached()
    ada.say("/stop")
    await home.quiet()
    gate.release()
    assert texts(ada) == ["First.", "Stopped. I remember what you asked."]
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1])[:2] == [("user", "one?"), ("assistant", "First.")]


async def test_a_question_without_an_answer_is_asked_again(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply.failing(401, "no"), Reply("At last."))
    failed = await home.tell(ada, "one?")
    assert (await home.tell(ada, "/retry")).text == "At last."
    _, [told] = await home.press(failed, "Try again")
    assert "answered that already" in told.text
    assert "answered: At last." in await home.journal_of(ada)


async def test_it_is_refused_at_once_while_a_turn_is_under_way(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    await gate.wait_reached()
    ada.say("/regenerate")
    assert "still working" in (await ada.private.wait_message()).text
    gate.release()
    await home.quiet()
    assert len(home.prompts) == 1


async def test_without_a_question_there_is_nothing_to_answer_anew(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    nothing = "nothing here that I could answer anew"
    assert nothing in (await home.tell(ada, "/regenerate")).text
    await home.tell(ada, "one?")
    await home.tell(ada, "/new")
    assert nothing in (await home.tell(ada, "/regenerate")).text
    assert len(home.prompts) == 1


async def test_in_a_shared_thread_only_the_asker_may(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    topic = telegram.forum().topic("Limits", by=ada)
    openai.script(Reply("First."), Reply("Second."))
    [first] = await home.ask(topic.chat, ada, "@tutor_bot one?", thread=topic)
    [refusal] = await home.ask(topic.chat, eve, "/regenerate@tutor_bot", thread=topic)
    assert "Only the person who asked" in refusal.text
    assert await home.ask(topic.chat, ada, "/regenerate@tutor_bot", thread=topic) == []
    assert topic.chat.now(first).text == "Second."


async def test_the_persona_is_the_one_of_the_question_unless_another_is_named(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "one?")
    await home.tell(ada, "/persona euler")
    for command in ("/regenerate", "/regenerate persona=euler", "/regenerate persona=Socrates"):
        ada.say(command)
        await home.quiet()
    named = ["Socrates", "Socrates", "Euler", "Socrates"]
    for name, prompt in zip(named, home.prompts, strict=True):
        assert f"You are {name}" in system(prompt)
    for wrong, expected in (
        ("persona=nobody", "no tutor of that name"),
        ("colour=red", "Write it like this"),
        ("please", "Write it like this"),
        ("model=other", "Only the one who runs me"),
    ):
        assert expected in (await home.tell(ada, f"/regenerate {wrong}")).text
    assert len(home.prompts) == 4


async def test_an_owner_may_name_the_model(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(owners=["telegram:7"])
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "one?")
    ada.say("/regenerate model=other-model")
    await home.quiet()
    assert [p.json["model"] for p in home.prompts] == ["scripted", "other-model"]


async def test_it_goes_on_after_a_restart(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(Reply("First."), reply, Reply("Second."))
    await home.tell(ada, "one?")
    ada.say("/regenerate")
    await gate.wait_reached()
    await home.restart()
    gate.release()
    await home.quiet()
    assert texts(ada) == ["Second."]


async def test_what_the_chat_does_not_let_replace_is_said_anew(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("First."), Reply("Second."))
    first = await home.tell(ada, "one?")
    ada.private.take_away(first.message_id)
    ada.say("/regenerate")
    await home.quiet()
    assert texts(ada) == ["Second."]


async def test_where_a_long_answer_is_gone_the_new_one_is_said_anew_and_nothing_else(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply(LONG), Reply("Short."))
    long = await home.ask(ada.private, ada, "one?")
    assert len(long) > 1
    ada.private.take_away(long[0].message_id)
    ada.say("/regenerate")
    await home.quiet()
    assert texts(ada) == [*(m.text for m in long[1:]), "Short."]


async def test_half_an_answer_takes_the_place_of_no_whole_one(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(budget=Budget(deadline_seconds=1))
    ada = telegram.user(7, "Ada")
    gates = [Gate(), Gate()]
    halves = [Reply.hanging(gate, "Half of an answer.", after=2, chunks=4) for gate in gates]
    openai.script(Reply("First."), *halves)
    await home.tell(ada, "one?")
    note = await home.tell(ada, "/regenerate")
    for gate in gates:
        gate.drop()
    assert "my earlier one stays" in note.text
    assert texts(ada)[0] == "First."
