"""A group that takes the tutor in, and one that gets a new address."""

from __future__ import annotations

from tests.house.conftest import MakeHome
from tests.house.home import Home, spoken
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer


async def test_it_introduces_itself_once_to_a_group_that_takes_it_in(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/start")
    group = telegram.group("Club")
    for _ in range(2):
        group.kick_bot(ada)
        group.add_bot(ada)
        await home.quiet()
    [hello] = group.from_bot
    assert hello.text.startswith("Hello, I'm a tutor. Call me by my name or reply")
    assert hello.reply_to is None
    assert not home.prompts


async def test_a_stranger_who_takes_it_in_moves_it_to_nothing(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(allow=["telegram:7"], mode="allowlist")
    eve = telegram.user(9, "Eve")
    group = telegram.group("Club")
    group.kick_bot(eve)
    group.add_bot(eve)
    await home.quiet()
    assert not group.from_bot and not home.prompts


async def test_who_blocks_and_unblocks_it_hears_nothing_of_that(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "hello")
    said = len(ada.private.from_bot)
    ada.block()
    ada.unblock()
    await home.quiet()
    assert len(ada.private.from_bot) == said


async def test_a_talk_goes_on_where_a_group_moved_to(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    group = telegram.group("Club")
    openai.script(Reply("First."), Reply("Second."))
    await home.ask(group, ada, "@tutor_bot one?")
    there = group.migrate()
    await home.quiet()
    await home.ask(there, ada, "@tutor_bot two?")
    assert spoken(home.prompts[-1]) == [
        ("user", "Ada: one?"),
        ("assistant", "First."),
        ("user", "two?"),
    ]


async def test_an_answer_under_way_follows_and_so_does_its_talk(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    group = telegram.group("Club")
    gate = openai.hold("chat.completions")
    group.say(ada, "@tutor_bot one?")
    await gate.wait_reached()
    there = group.migrate()
    gate.release()
    await home.quiet()
    answers = [m.text for m in there.from_bot if m.text]
    assert len(answers) == 1
    await home.ask(there, ada, "@tutor_bot two?")
    assert [text for role, text in spoken(home.prompts[-1]) if role == "user"] == [
        "Ada: one?",
        "two?",
    ]
