"""What was said while nobody listened is read afterwards, in order, and answered once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copyfile

import pytest

from bots.discord.adapter import DiscordChannel
from bots.discord.history import MESSAGES
from core.channel import Known, Recall
from core.context import Text
from tests.contract.discord import DiscordStage
from tests.contract.home import StageHome
from tests.discord.door import MENUS, door
from tests.doorway import Inbox
from tests.servers.discord import Channel, Chat, DiscordServer, Permission, Person
from tests.servers.openai import OpenAIServer, Reply

DAY = 24 * 60 * 60


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


def knows(last: object, *chats: Chat) -> Recall:
    """What the house remembers."""

    async def recall() -> Known:
        return Known(str(last), tuple(str(chat.id) for chat in chats))

    return recall


@asynccontextmanager
async def looking(
    server: DiscordServer, inbox: Inbox, recall: Recall
) -> AsyncIterator[DiscordChannel]:
    """A channel that looks back."""
    channel = door(server)
    channel.look_back(recall)
    await channel.start(inbox, MENUS)
    try:
        yield channel
    finally:
        await channel.stop()


def texts(inbox: Inbox) -> list[str]:
    return [m.content.text for m in inbox.messages if isinstance(m.content, Text)]


async def test_a_start_reads_the_chats_of_the_talk_and_no_others(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    me, inbox = server.mention, Inbox()
    bob = server.user(8, "Bob")
    other = room.guild.channel("other")
    thread = room.thread("Limits", by=ada)
    last = ada.say("known")
    room.say(ada, f"{me} in the room")
    own = room.guild.bot_role.id
    thread.say(bob, f"<@&{own}> in the thread")
    room.say(ada, "not for the tutor")
    other.say(ada, f"{me} elsewhere")
    bob.say("from a stranger to the list")
    ada.say("in private")
    async with looking(server, inbox, knows(last.message_id, ada.private, room, thread)):
        ada.say("and now")
        await inbox.until(lambda: "and now" in texts(inbox))
    meant = [m for m in inbox.messages if m.addressed]
    told = list(dict.fromkeys(m.content.text for m in meant if isinstance(m.content, Text)))
    assert told == ["known", "in the room", "in the thread", "in private", "and now"]
    assert "elsewhere" not in texts(inbox) and "from a stranger to the list" not in texts(inbox)
    seen = {m.message_id: m for m in inbox.messages}
    assert seen[str(last.message_id)].target.chat == str(ada.private.id)
    assert all(m.shared_thread for m in inbox.messages if m.target.chat == str(thread.id))


async def test_a_lost_session_is_made_up_for_and_a_resumed_one_needs_nothing(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with looking(server, inbox, knows(1, ada.private)):
        ada.say("before")
        await inbox.until(lambda: "before" in texts(inbox))
        reads = len(server.requests_of("listMessages"))
        server.drop_connections()  # resumed
        ada.say("in a short gap")
        await inbox.until(lambda: "in a short gap" in texts(inbox))
        assert len(server.requests_of("listMessages")) == reads
        gate = server.hold("getMe")
        server.gateway.close_connections(4012, "the session is lost")
        await gate.wait_reached()
        ada.say("in a long gap")
        gate.release()
        await server.wait_ready()
        ada.say("after")
        await inbox.until(lambda: "after" in texts(inbox))
    said = list(dict.fromkeys(texts(inbox)))
    assert said == ["before", "in a short gap", "in a long gap", "after"]


async def test_it_reads_a_hundred_messages_and_no_further_back_than_a_day() -> None:
    inbox = Inbox()
    moment = [time.time() - DAY - 60]
    with DiscordServer(rates=None, now=lambda: moment[0]) as server:
        ada = server.user(7, "Ada")
        ada.say("a day ago")
        moment[0] = time.time()
        for number in range(MESSAGES + 5):
            ada.say(f"{number}")
        async with looking(server, inbox, knows(1, ada.private)):
            ada.say("end")
            await inbox.until(lambda: "end" in texts(inbox))
    assert texts(inbox) == [*(f"{number}" for number in range(MESSAGES)), "end"]


async def test_beside_a_thread_of_ours_its_channel_is_read(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    theirs = room.guild.channel("other").thread("Theirs", by=ada)
    ours = room.thread("Ours")
    last = ada.say("known")
    theirs.parent.say(ada, f"{server.mention} beside theirs")
    room.say(ada, f"{server.mention} the next question")
    ours.say(ada, "and another thing")
    async with looking(server, inbox, knows(last.message_id, ours, theirs)):
        ada.say("now")
        await inbox.until(lambda: "now" in texts(inbox))
    assert texts(inbox) == ["the next question", "and another thing", "now"]


async def test_chats_that_cannot_be_read_hold_up_nothing(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    secret, gone = room.guild.channel("secret"), room.guild.channel("gone")
    forum = room.guild.forum()
    secret.deny(Permission.VIEW_CHANNEL)
    gone.delete()
    last = ada.say("known")
    ada.say("missed")
    server.fail(lambda r: r.name == "listMessages" and r.json["channel_id"] == str(room.id), 500)
    recall = knows(last.message_id, secret, gone, forum, room, ada.private)
    async with looking(server, inbox, recall) as channel:
        await inbox.until(lambda: "missed" in texts(inbox))
        ada.say("now")
        await inbox.until(lambda: "now" in texts(inbox))
        assert channel.health() is None


@pytest.mark.parametrize("known", [None, "nothing a message could be called", "broken"])
async def test_without_a_memory_nothing_is_read_and_everything_new_is_heard(
    server: DiscordServer, ada: Person, known: str | None
) -> None:
    inbox = Inbox()
    ada.say("long ago")

    async def recall() -> Known | None:
        if known == "broken":
            raise OSError("disk full")
        return None if known is None else Known(known, (str(ada.private.id),))

    async with looking(server, inbox, recall):
        ada.say("hello")
        await inbox.wait(1)
    assert texts(inbox) == ["hello"]
    assert server.requests_of("listMessages") == []


async def test_a_door_that_closes_while_it_reads_is_closed_at_once(
    server: DiscordServer, ada: Person
) -> None:
    said = ada.say("known")
    gate = server.hold("listMessages")
    async with looking(server, Inbox(), knows(said.message_id, ada.private)):
        await gate.wait_reached()
    gate.drop()


async def test_a_house_that_was_away_answers_what_came_and_nothing_twice(
    tmp_path: Path, fresh_database: Path, openai: OpenAIServer
) -> None:
    copyfile(fresh_database, tmp_path / "partners.db")
    openai.default = Reply("Go on.")
    stage = DiscordStage()
    stage.open()
    home = await StageHome(tmp_path, stage, openai).open()
    try:
        ada, bob = stage.person("Ada"), stage.person("Bob")
        room = stage.group(ada, bob)
        await home.tell(ada, "first")
        await home.ask(room, ada, "first", mention=True)
        await home.close()
        missed = ada.private.say(ada, "while you were away")
        bobs = room.say(bob, f"{stage.server.mention} me too")
        room.say(bob, "not for the tutor")
        home = await StageHome(tmp_path, stage, openai).open()
        await stage.server.wait_for(
            lambda: len(ada.private.from_bot) == 2 and len(room.from_bot) == 2
        )
        await home.quiet()
        assert [m.reply_to for m in ada.private.from_bot][1:] == [missed.message_id]
        assert [m.reply_to for m in room.from_bot][1:] == [bobs.message_id]
        await home.restart()
        assert (await home.tell(ada, "and now?")).text == "Go on."
        assert len(ada.private.from_bot) == 3
    finally:
        await home.close()
        stage.close()
