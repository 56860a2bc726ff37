"""A thread for each question, where that is wished: opened once, with a clean title."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from bots.discord import door as doors
from bots.discord.adapter import DiscordChannel
from bots.discord.settings import DiscordSettings
from bots.discord.threads import title
from core.channel import NotSent, Sent, Throttled
from core.context import Command, InboundMessage, ReplyTarget, Text
from core.document import Document, File
from core.i18n import words_for
from tests.discord.door import door, opened
from tests.doorway import Inbox, deliver
from tests.servers.discord import Channel, DiscordServer, Permission, Person, media
from tests.servers.faults import Stage


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    return server.user(7, "Ada")


@pytest.fixture
def room(server: DiscordServer, ada: Person) -> Channel:
    return server.guild("Study group", ada).channel("general")


@asynccontextmanager
async def threading(server: DiscordServer, inbox: Inbox) -> AsyncIterator[DiscordChannel]:
    """A channel that opens threads."""
    channel = door(server, thread_per_question=True)
    await channel.start(inbox, ())
    try:
        yield channel
    finally:
        await channel.stop()


async def asked(server: DiscordServer, inbox: Inbox, room: Channel, ada: Person) -> InboundMessage:
    """Ask something in a room."""
    count = len(inbox.messages)
    room.say(ada, f"{server.mention} why is **0! = 1**?")
    return (await inbox.wait(count + 1))[-1]


# --- what moves ----------------------------------------------------------------------------------


async def test_the_answer_and_the_talk_move_into_a_thread_with_a_clean_title(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    bob, inbox = server.user(8, "Bob"), Inbox()
    async with threading(server, inbox) as channel:
        question = await asked(server, inbox, room, ada)
        async with channel.typing(question.target):
            await server.wait_for(lambda: room.threads and room.threads[0].actions)
        long = "Because. " + "x " * 1500
        sent = await deliver(channel, question.target, long, reply=True)
        [thread] = room.threads
        assert thread.name == "why is 0! = 1?"
        assert [str(m.message_id) for m in thread.from_bot if m.text] == [
            s.message_id for s in sent
        ]
        assert {s.chat for s in sent} == {str(thread.id)}
        assert room.from_bot == []
        [part] = channel.render(Document(markdown="Because it is."))
        await channel.edit(question.target, sent[0].message_id, part)
        assert (await channel.conclude(question.target, sent[0].message_id, part)).chat == str(
            thread.id
        )
        thread.say(ada, "and 1!?")
        thread.say(bob, f"<@{ada.id}> I think so too")
        mine = thread.say(bob, "I wonder")
        thread.say(ada, "you too?", reply_to=mine)
        thread.say(bob, "@everyone look at this")
        media.forward(thread, ada, mine)
        thread.say(ada, "/help")
        heard = (await inbox.wait(8))[1:]
        assert [m.addressed for m in heard] == [True, False, True, False, False, True, True]
        assert heard[-1].content == Command(name="help")
        for message in (question, *heard):
            assert (message.target.chat, message.target.thread) == (str(thread.id),) * 2
            assert message.shared_thread
        [more] = await deliver(channel, heard[0].target, "That too.", reply=True, key="more")
        assert more.chat == str(thread.id)


async def test_only_a_question_in_a_channel_opens_a_thread(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    me = server.mention
    theirs = room.thread("Limits", by=ada)
    async with threading(server, inbox) as channel:
        ada.say("why?")
        theirs.say(ada, f"{me} why?")
        room.say(ada, f"{me} /help")
        room.say(ada, "not for the tutor")
        media.sticker(room, ada, mentions=room.mentions_of(me))
        post = room.guild.forum().open_post(ada, "Fractions", f"{me} flip?")
        places = [str(p.id) for p in (ada.private, theirs, room, room, room, post)]
        heard = await inbox.wait(6)
        assert [m.target.chat for m in heard] == places
        first = await asked(server, inbox, room, ada)
        await deliver(channel, first.target, "Because.", reply=True)
        room.deny(Permission.CREATE_PUBLIC_THREADS)
    async with opened(server, inbox) as channel:
        second = await asked(server, inbox, room, ada)
        assert second.target.chat == str(room.id)
        [answer] = await deliver(channel, second.target, "So.", reply=True, key="second")
    async with threading(server, inbox):
        room.say(ada, "go on", reply_to=int(answer.message_id))
        assert (await inbox.wait(9))[-1].target.chat == str(room.id), "the talk stays where it is"


async def test_a_picture_without_words_opens_one_named_after_its_sender(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    async with threading(server, inbox) as channel:
        media.photo(room, ada, b"png", server.mention)
        [message] = await inbox.wait(1)
        assert message.content == Text(text="") and message.attachments
        file = File(name="notes.md", mime="text/markdown", data=b"# Notes")
        parts = channel.render(Document(markdown="Nice.", files=(file,)))
        for number, part in enumerate(parts):
            await channel.send(message.target, part, key=str(number), reply=number == 0)
    [thread] = room.threads
    assert thread.name == "Ada"
    assert [len(m.attachments) for m in thread.from_bot][-1] == 1


# --- once, whatever happens ----------------------------------------------------------------------


@pytest.mark.parametrize("stage", list(Stage))
async def test_a_thread_that_was_perhaps_opened_is_not_opened_twice(
    server: DiscordServer, ada: Person, room: Channel, stage: Stage
) -> None:
    inbox = Inbox()
    async with threading(server, inbox) as channel:
        question = await asked(server, inbox, room, ada)
        server.drop("threadFromMessage", stage=stage)
        with pytest.raises(NotSent):
            await deliver(channel, question.target, "Because.", reply=True)
        assert room.from_bot == []
        await deliver(channel, question.target, "Because.", reply=True)
    async with threading(server, Inbox()) as channel:  # and after a restart
        await deliver(channel, question.target, "Because.", reply=True)
        await deliver(channel, question.target, "And so on.", key="more")
    [thread] = room.threads
    assert [m.text for m in thread.from_bot if m.text] == ["Because.", "And so on."]


async def test_a_question_told_twice_has_one_thread(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    async with threading(server, inbox) as channel:
        said = room.say(ada, f"{server.mention} why?")
        server.redeliver(said)
        first, second = await inbox.wait(2)
        assert (first.message_id, first.target) == (second.message_id, second.target)
        for message in (first, second):
            await deliver(channel, message.target, "Because.", reply=True)
    [thread] = room.threads
    assert [m.text for m in thread.from_bot if m.text] == ["Because."]


async def test_a_thread_that_somebody_opened_before_is_used(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    async with threading(server, inbox) as channel:
        said = room.say(ada, f"{server.mention} why?")
        [question] = await inbox.wait(1)
        thread = room.thread("Theirs", by=ada, message=said)
        [sent] = await deliver(channel, question.target, "Because.", reply=True)
    assert sent.chat == str(thread.id)
    assert server.requests_of("threadFromMessage") == []


async def test_where_no_thread_can_be_opened_the_channel_has_the_answer(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    room.deny(Permission.CREATE_PUBLIC_THREADS)
    async with threading(server, inbox) as channel:
        question = await asked(server, inbox, room, ada)
        sent: list[Sent] = await deliver(channel, question.target, "Because.", reply=True)
        assert sent[0].chat == str(room.id)
        [part] = channel.render(Document(markdown="Because it is."))
        await channel.edit(question.target, sent[0].message_id, part)
        async with channel.typing(question.target):
            await room.wait_action()
        gone = room.say(ada, f"{server.mention} never mind")
        target: ReplyTarget = (await inbox.wait(2))[-1].target
        room.remove(gone)
        await deliver(channel, target, "As you like.", reply=True, key="gone")
    first, second = room.from_bot
    assert (first.text, str(first.reply_to)) == ("Because it is.", question.message_id)
    assert (second.text, second.reply_to) == ("As you like.", None)
    assert room.threads == []


async def test_flood_control_and_trouble_of_the_platform_open_nothing_elsewhere(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    async with threading(server, inbox) as channel:
        question = await asked(server, inbox, room, ada)
        server.refuse("threadFromMessage", 429, 0, "Slow", retry_after=60.0, **{"global": False})
        with pytest.raises(Throttled):
            await deliver(channel, question.target, "Because.", reply=True)
        server.fail("threadFromMessage", 503, "no")
        with pytest.raises(NotSent):
            await deliver(channel, question.target, "Because.", reply=True)
        server.fail("threadFromMessage", 503, "no")
        async with channel.typing(question.target):
            await server.wait_request("threadFromMessage", count=3)
        await deliver(channel, question.target, "Because.", reply=True)
    assert room.from_bot == []
    assert len(room.threads) == 1


# --- pure ----------------------------------------------------------------------------------------

BOB = {"id": "8", "username": "bob8", "global_name": "Bob"}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("<@1> why?", "why?"),
        ("<@1>, ask <@8> and <@&5> in <#6>", "ask @Bob and in"),
        ("<@1>   two\nlines ", "two lines"),
        ("<@1> see https://example.org/x?y=z now", "see now"),
        ("<@1> **bold** ~~old~~ `x` ||hidden||", "bold old x hidden"),
        ("<@1> what is 2**3 * 4?", "what is 2**3 * 4?"),
        ("<@1>\n# Title\n- item", "Title item"),
        ("<@1>", "Ada"),
        ("<@1> <@&5>", "Ada"),
        ("<@1> <:wave:9> hi", ":wave: hi"),
        ("<@1> " + "word " * 40, "word " * 18 + "word…"),
        ("<@1> " + "x" * 200, "x" * 99 + "…"),
        ("<@1> " + "x" * 100, "x" * 100),
        ("<@1> 为什么零的阶乘等于一？", "为什么零的阶乘等于一？"),
    ],
)
def test_a_title_is_one_line_without_marks(content: str, name: str) -> None:
    author = {"id": "7", "username": "ada7", "global_name": "Ada"}
    message = {"content": content, "author": author, "mentions": [BOB]}
    assert title(message, 1) == name
    assert len(name) <= 100


@pytest.mark.parametrize(("value", "wanted"), [(True, True), (False, False), ("yes", False)])
def test_it_is_switched_on_in_the_settings(
    server: DiscordServer, value: object, wanted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    settings = DiscordSettings(
        DISCORD_BOT_TOKEN=SecretStr(server.token), DISCORD_API_BASE=server.api_url
    )
    with caplog.at_level(logging.WARNING):
        channel = doors.channel(settings, words_for("en"), {"thread_per_question": value})
    assert isinstance(channel, DiscordChannel)
    assert channel.thread_per_question is wanted
    assert ("true or false" in caplog.text) is not isinstance(value, bool)
