"""What is remembered, shown and used: the journal, notes, the view, the history."""

from __future__ import annotations

from core.capabilities.talk import MOST_LINES
from memory.layers import Profile
from tests.house.home import Home, spoken, system
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer


async def test_every_turn_is_in_the_journal_of_the_learner(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("What do you think?"))
    await home.tell(ada, "why is the sky blue?\nI mean at noon.")
    await home.tell(ada, "/remember I like short answers")
    await home.tell(ada, "/add one :: two")
    review = await home.tell(ada, "/review")
    shown, _ = await home.press(review, "Show answer")
    await home.press(shown, shown.labels[2])
    home.clock.advance(days=1)
    openai.default = Reply.failing(401, "no")
    await home.tell(ada, "and at night?")
    folder = await home.memory_of(ada)
    days = sorted(path.name for path in folder.events.iterdir())
    assert days == ["2026-11-30.md", "2026-12-01.md"]
    journal = await home.journal_of(ada)
    for line in (
        "- 10:00:00 [chat] asked: why is the sky blue?\n  I mean at noon. ^e_",
        "- 10:00:00 [chat] answered: What do you think? ^e_",
        "[notes] noted: I like short answers ^e_",
        "[review] saved a card: one :: two ^e_",
        "[review] reviewed: one — good, again in ",
        "[chat] asked: and at night? ^e_",
    ):
        assert journal.count(line) == 1, line


async def test_a_note_is_shown_and_enters_the_prompt(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    assert "nothing about you" in (await home.tell(ada, "/memory")).text
    assert "Noted" in (await home.tell(ada, "/remember I am called *Ada* & like_this")).text
    assert (
        "have that note already"
        in (await home.tell(ada, "/remember I am called *Ada* & like_this")).text
    )
    await home.tell(ada, "why?")
    assert "I am called *Ada* & like_this" in system(home.prompts[-1])
    shown = (await home.tell(ada, "/memory")).text
    assert "About you · Your notes" in shown
    assert shown.count("like_this") == 1
    file = (await home.memory_of(ada)).profile(Profile.PROFILE)
    file.write_text(file.read_text("utf-8") + "\nI learn best at night.\n", encoding="utf-8")
    await home.tell(ada, "why?")
    assert "I learn best at night." in system(home.prompts[-1])


async def test_of_much_that_is_known_the_prompt_has_what_the_question_is_about(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await home.tell(ada, "hello")
    known = (await home.memory_of(ada)).profile(Profile.KNOWLEDGE)
    known.parent.mkdir(exist_ok=True)
    mark = "<!--m_01JD0000000000000000000000 2026-11-30 shareable-->"
    lines = [f"- Knows rule {n} of the long grammar of that language {mark}" for n in range(300)]
    lines += [f"- Can add fractions {mark}", f"- 学过极限，会用夹逼定理求一些数列的极限值 {mark}"]
    known.write_text("\n".join(lines), encoding="utf-8")
    await home.tell(ada, "how do I multiply a fraction?")
    assert "Can add fractions" in system(home.prompts[-1])
    assert "学过极限" not in system(home.prompts[-1])
    await home.ask(group, ada, "@tutor_bot 极限怎么求？")
    assert "学过极限" in system(home.prompts[-1])
    quoted = group.say(ada, "my fractions")
    await home.ask(group, ada, "@tutor_bot and this?", reply_to=quoted)
    assert "Can add fractions" in system(home.prompts[-1])


async def test_an_empty_or_endless_note_is_refused_with_a_way_out(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    assert "/remember My exam" in (await home.tell(ada, "/remember")).text
    assert (
        "at most 1,000 characters, this one has 1,500"
        in (await home.tell(ada, "/remember " + "x" * 1_500)).text
    )
    assert "nothing about you" in (await home.tell(ada, "/memory")).text


async def test_a_secret_in_a_note_is_not_kept(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    secret = "sk-abcdefghijklmnopqrstuvwx123456"
    told = (await home.tell(ada, f"/remember my key is {secret}")).text
    assert "without what looked like" in told
    assert secret not in (await home.tell(ada, "/memory")).text
    folder = await home.memory_of(ada)
    for path in folder.path.rglob("*.md"):
        assert secret not in path.read_text("utf-8")


async def test_the_view_stays_within_its_budget(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "plain?")
    for number in range(30):
        await home.tell(ada, f"/remember note {number} " + "word " * 150)
    await home.tell(ada, "why?")
    grown = len(system(home.prompts[-1])) - len(system(home.prompts[0]))
    assert 4_000 < grown < 4 * 1_500 + 400


async def test_due_cards_are_counted_in_the_prompt_and_listed_by_the_tool(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await home.tell(ada, "/add zebra7? :: lion7")
    await home.tell(ben, "/add zebra8? :: lion8")
    home.clock.advance(days=1)
    openai.script(Reply.calls(ToolCall("cards_due"), ToolCall("current_time")), Reply("Two."))
    await home.tell(ada, "what is due?")
    first, second = home.prompts
    assert "Cards due for review today: 1" in system(first)
    results = [m["content"] for m in second.json["messages"] if m["role"] == "tool"]
    assert "zebra7?" in results[0]
    assert "Tuesday, 2026-12-01, 10:00, time zone Europe/Berlin" in results[1]
    assert "lion7" not in str(second.json)
    assert "zebra8" not in str(second.json)
    assert "1 question is due" in (await home.tell(ada, "/memory")).text


async def test_new_cuts_the_history_and_keeps_the_rest(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/remember I like cats")
    await home.tell(ada, "one?")
    assert "fresh start" in (await home.tell(ada, "/new")).text
    await home.tell(ada, "two?")
    assert spoken(home.prompts[-1]) == [("user", "two?")]
    assert "I like cats" in system(home.prompts[-1])
    await home.tell(ada, "three?")
    assert spoken(home.prompts[-1])[0] == ("user", "two?")


async def test_a_prompt_stays_flat_as_a_conversation_grows(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = Reply("A middling answer of the usual length. " * 5)
    for number in range(75):
        ada.say(f"question {number:02}? " + "and some more words " * 5)
    await home.quiet()
    sizes = [len(request.body) for request in home.prompts]
    assert len(sizes) == 75
    assert max(sizes[45:]) <= 1.02 * max(sizes[:45]), "its beginning moves with it, step by step"
    assert spoken(home.prompts[-1])[-1][1].startswith("question 74?")
    assert len(spoken(home.prompts[-1])) <= MOST_LINES + 1
