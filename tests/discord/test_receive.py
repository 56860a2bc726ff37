"""What an event means, case by case, as the real library hears it from a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC

import pytest
import pytest_asyncio

from bots.discord.adapter import DiscordChannel
from bots.discord.words import Known, own_words
from core.context import (
    ChatKind,
    Command,
    InboundMessage,
    Press,
    Quote,
    ReplyTarget,
    Text,
    Unsupported,
)
from core.document import Button
from tests.discord.door import MENUS, at, opened
from tests.doorway import Inbox, deliver
from tests.servers.discord import Channel, DiscordServer, Person, Shown, media


@dataclass(frozen=True, slots=True)
class World:
    """A server with a study group in it, and a channel that listens."""

    server: DiscordServer
    ada: Person
    bob: Person
    room: Channel
    channel: DiscordChannel
    inbox: Inbox

    async def heard(self, *said: object) -> list[InboundMessage]:
        """Return what came in since the last call, in order, once a last word has come."""
        end = self.ada.say("END")
        before = len(self.inbox.messages)
        while not any(m.message_id == str(end.message_id) for m in self.inbox.messages):
            before = len(self.inbox.messages)
            await self.inbox.wait(before + 1)
        taken = [m for m in self.inbox.messages if m.message_id != str(end.message_id)]
        self.inbox.messages.clear()
        return taken

    async def one(self, said: object) -> InboundMessage:
        """Return the one message that came in."""
        (message,) = await self.heard(said)
        return message


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest_asyncio.fixture
async def world(server: DiscordServer) -> AsyncIterator[World]:
    ada, bob = server.user(7, "Ada", "zh-CN"), server.user(8, "Bob")
    room = server.guild("Study group", ada, bob).channel("general")
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        yield World(server, ada, bob, room, channel, inbox)


# --- who, where, when ----------------------------------------------------------------------------


async def test_a_private_message_is_addressed_and_complete(world: World) -> None:
    said = world.ada.say("What is 2+2?")
    message = await world.one(said)
    assert message == InboundMessage(
        message_id=str(said.message_id),
        target=ReplyTarget(
            channel="discord",
            account=str(world.server.bot_id),
            chat=str(world.ada.private.id),
            reply_to=str(said.message_id),
        ),
        chat_kind=ChatKind.PRIVATE,
        sender=message.sender,
        content=Text(text="What is 2+2?"),
        addressed=True,
        received_at=message.received_at,
    )
    sender = message.sender
    assert (sender.account, sender.name, sender.language) == ("discord:7", "Ada", None)
    assert message.received_at.tzinfo is UTC


async def test_in_a_group_only_what_is_meant_for_us_is_addressed(world: World) -> None:
    room, me, bob = world.room, world.server.mention, f"<@{world.bob.id}>"
    (sent,) = await deliver(world.channel, at(room), "Why?")
    own = room.guild.bot_role.id
    other = room.guild.role("Maths", world.bob).id
    shared = room.guild.role("Helpers", bot=True).id
    mine = room.find(int(sent.message_id))
    bobs = room.say(world.bob, "hm")
    cases: list[tuple[str, Shown | None, bool]] = [
        ("hello all", None, False),
        (f"{me} why?", None, True),
        (f"so {me}, why?", None, True),
        (f"<@!{world.server.bot_id}> why?", None, True),
        (f"<@&{own}> why?", None, True),
        (f"<@&{other}> why?", None, False),
        (f"<@&{shared}> why?", None, False),
        ("@everyone look", None, False),
        ("@here look", None, False),
        (f"{bob} why?", None, False),
        (f"{bob} and {me} why?", None, True),
        (f"`{me}` is how to call it", None, False),
        ("because", mine, True),
        (f"{bob} look at this", mine, False),
        ("because", bobs, False),
        ("/help", None, False),
    ]
    for text, answered, _ in cases:
        room.say(world.ada, text, reply_to=answered)
    heard = (await world.heard())[1:]
    assert [m.addressed for m in heard] == [expected for _, _, expected in cases]
    assert all(m.chat_kind is ChatKind.GROUP and not m.shared_thread for m in heard)


async def test_a_reply_without_a_ping_is_still_for_us(world: World) -> None:
    (sent,) = await deliver(world.channel, at(world.room), "Why?")
    message = await world.one(
        world.room.say(world.ada, "because", reply_to=int(sent.message_id), ping=False)
    )
    assert message.addressed
    assert message.quote == Quote(
        author="tutor", text="Why?", message_id=sent.message_id, from_tutor=True
    )


async def test_threads_and_posts_are_conversations_of_their_own(world: World) -> None:
    me = world.server.mention
    thread = world.room.thread("Limits", by=world.bob)
    forum = world.room.guild.forum()
    thread.say(world.ada, f"{me} why?")
    meant = forum.open_post(world.ada, "Fractions", f"{me} flip?")
    other = forum.open_post(world.ada, "Lunch", "when?")
    first, post, unmeant = await world.heard()
    for message, place in ((first, thread), (post, meant), (unmeant, other)):
        assert message.target.chat == message.target.thread == str(place.id)
        assert message.shared_thread
    assert (first.addressed, post.addressed, unmeant.addressed) == (True, True, False)
    assert post.content == Text(text="flip?")


async def test_what_no_person_said_is_nothing(world: World) -> None:
    robot = world.server.user(9, "Robot", bot=True)
    robot_room = world.room
    robot_room.say(robot, f"{world.server.mention} hello")
    world.room.post(world.ada, f"{world.server.mention} hi", extra={"webhook_id": "123"})
    world.room.guild.join(world.server.user(10, "Cy"), welcome=world.room)
    message = world.room.say(world.ada, "start here")
    world.room.thread("From a message", by=world.bob, message=message)
    world.room.thread("On its own", by=world.bob)
    (heard,) = await world.heard()
    assert heard.content == Text(text="start here")


async def test_what_the_platform_itself_tells_is_no_question(world: World) -> None:
    told = [kind for kind in range(1, 40) if kind not in (19, 20, 23)]  # reply and commands
    for kind in told:
        world.room.post(world.ada, f"{world.server.mention} look", kind=kind)
    assert await world.heard() == []


async def test_everyone_beside_our_name_is_for_us_and_alone_is_not(world: World) -> None:
    (sent,) = await deliver(world.channel, at(world.room), "Why?")
    mine = world.room.find(int(sent.message_id))
    for text in ("@everyone", "@here hello", f"@everyone {world.server.mention} why?"):
        world.room.say(world.ada, text)
    world.room.say(world.ada, "@everyone see this", reply_to=mine)
    heard = await world.heard()
    assert [m.addressed for m in heard] == [False, False, True, True]


# --- what was said -------------------------------------------------------------------------------


async def test_marks_become_what_the_app_shows(world: World) -> None:
    me = world.server.mention
    role = world.room.guild.role("Maths")
    cases = {
        f"{me}, why?": "why?",
        f"hey {me} why?": "hey why?",
        f"ask <@{world.bob.id}> {me}": "ask @Bob",
        f"{me} tell <@&{role.id}> in <#{world.room.id}>": "tell @Maths in #general",
        f"{me} <:wave:123> <a:wave:123>": ":wave: :wave:",
        f"{me} at <t:0:R>": "at 1970-01-01 00:00 UTC",
        f"{me} use </add:123>": "use /add",
        f"{me} what is `<@8>`?": "what is `<@8>`?",
        f"{me} <@999> <t:99999999999999:R> <#1>": "<@999> <t:99999999999999:R> <#1>",
        me: "",
    }
    for text in cases:
        world.room.say(world.ada, text)
    heard = await world.heard()
    assert [m.content for m in heard] == [Text(text=expected) for expected in cases.values()]


async def test_a_command_written_out_is_one_where_we_are_meant(world: World) -> None:
    me = world.server.mention
    world.ada.say("/add 2+2 :: 4")
    world.room.say(world.ada, f"{me} /Add x :: y")
    world.room.say(world.ada, "/add x :: y")
    world.ada.say("`/add x`")
    heard = [m.content for m in await world.heard()]
    assert heard == [
        Command(name="add", arguments="2+2 :: 4"),
        Command(name="add", arguments="x :: y"),
        Text(text="/add x :: y"),
        Text(text="`/add x`"),
    ]


async def test_what_cannot_be_read_is_named(world: World) -> None:
    chat, ada = world.ada.private, world.ada
    media.sticker(chat, ada)
    media.poll(chat, ada, "When?", ["now", "later"])
    kinds = [m.content for m in await world.heard()]
    assert kinds == [Unsupported(what=what) for what in ("sticker", "poll")]


async def test_a_quote_is_what_was_replied_to_or_passed_on(world: World) -> None:
    first = world.room.say(world.bob, f"see <@{world.ada.id}>")
    photo = media.photo(world.room, world.bob, b"png")
    gone = world.room.say(world.bob, "gone")
    world.room.remove(gone)
    world.room.say(world.ada, "this", reply_to=first)
    world.room.say(world.ada, "this", reply_to=photo)
    world.room.say(world.ada, "this", reply_to=gone)
    media.forward(world.ada.private, world.ada, first)
    media.forward(world.room, world.ada, first)
    heard = (await world.heard())[3:]
    quotes = [m.quote and m.quote.model_copy(update={"attachments": ()}) for m in heard]
    assert quotes == [
        Quote(author="Bob", text="see @Ada", message_id=str(first.message_id)),
        Quote(author="Bob", text="[image]", message_id=str(photo.message_id)),
        None,
        Quote(author="", text=f"see <@{world.ada.id}>"),
        Quote(author="", text=f"see <@{world.ada.id}>"),
    ]
    assert [len(m.quote.attachments) if m.quote else 0 for m in heard] == [0, 1, 0, 0, 0]
    assert [m.addressed for m in heard] == [False, False, False, True, False]
    assert heard[3].content == Text(text="")


async def test_an_edit_is_a_new_version_and_a_preview_is_none(world: World) -> None:
    said = world.ada.say("helo")
    command = world.ada.say("fine")
    media.unfurl(world.ada.private.edit(said, "hello"))
    media.unfurl(command)
    world.ada.private.edit(command, "/new")
    first, second, *edits = await world.heard()
    assert (first.edited, second.edited) == (False, False)
    assert {(m.message_id, m.edited, m.content) for m in edits} == {
        (first.message_id, True, Text(text="hello"))
    }


# --- commands and buttons ------------------------------------------------------------------------


async def test_a_command_tells_its_arguments_and_the_language(world: World) -> None:
    thread = world.room.thread("Limits", by=world.ada)
    used = [
        world.ada.private.slash(world.ada, "add", {"text": " 2+2 :: 4 "}),
        world.room.slash(world.ada, "help"),
        thread.slash(world.ada, "help"),
    ]
    private, group, inner = await world.inbox.wait(3)
    assert private.content == Command(name="add", arguments="2+2 :: 4")
    assert group.content == Command(name="help", arguments="")
    assert private.sender.language == "zh-CN"
    for message, press in zip((private, group, inner), used, strict=True):
        assert message.message_id == f"ix:{press.interaction_id}" == message.target.reply_to
        assert message.addressed
        assert message.target.chat == str(press.chat.id)
    kinds = [ChatKind.PRIVATE, ChatKind.GROUP, ChatKind.GROUP]
    assert [m.chat_kind for m in (private, group, inner)] == kinds
    assert (group.shared_thread, inner.shared_thread) == (False, True)
    assert (group.sender.account, group.sender.name) == ("discord:7", "Ada")


async def test_a_press_tells_action_and_origin(world: World) -> None:
    rows = ((Button(label="Yes", action="a:yes"),),)
    (sent,) = await deliver(world.channel, at(world.room), "Ready?", buttons=rows)
    shown = world.room.find(int(sent.message_id))
    assert shown is not None
    press = world.room.press(shown, "Yes", world.bob)
    (message,) = await world.inbox.wait(1)
    assert message.content == Press(action="a:yes", origin=sent.message_id)
    assert message.message_id == f"ix:{press.interaction_id}"
    assert message.target.reply_to == sent.message_id
    assert (message.sender.account, message.addressed) == ("discord:8", True)


async def test_a_replayed_event_has_the_same_id(world: World) -> None:
    said = world.ada.say("hello")
    press = world.room.slash(world.ada, "help")
    world.server.redeliver(said)
    world.server.redeliver(press)
    ids = [m.message_id for m in await world.inbox.wait(4)]
    assert sorted(ids) == sorted([str(said.message_id), f"ix:{press.interaction_id}"] * 2)


# --- pure ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text", "mentioned"),
    [
        ("", "", False),
        ("<@1>", "", True),
        ("<@1>，你好", "你好", True),
        ("hi <@1> , you", "hi , you", True),
        ("a <@1> b <@1>", "a b", True),
        ("x<@1>y", "xy", True),
        ("```\n<@1>\n```", "```\n<@1>\n```", False),
        ("nul\x00", "nul", False),
        ("<@2>", "@two words", False),
        ("<@&3>", "@role", False),
    ],
)
def test_own_words(content: str, text: str, mentioned: bool) -> None:
    known = Known(users={2: "two\nwords"}, roles={3: "role"}, ours=frozenset({1}))
    assert own_words(content, known) == (text, mentioned)
