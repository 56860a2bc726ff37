"""Sending through the real library to a strict server: the right place, and honest outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from core.channel import (
    NotSent,
    OutcomeUnknown,
    Part,
    Rejected,
    SendError,
    Throttled,
    Unreachable,
)
from core.document import Button, Document
from tests.discord.door import at, door, opened
from tests.doorway import Inbox, deliver
from tests.servers.discord import Bucket, Channel, DiscordServer, Permission, Person, Rates
from tests.servers.faults import Stage


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    return server.user(7)


@pytest.fixture
def room(server: DiscordServer, ada: Person) -> Channel:
    return server.guild("Study group", ada).channel("general")


# --- the right place -----------------------------------------------------------------------------


async def test_an_answer_is_formatted_replies_and_shows_no_preview(
    server: DiscordServer, ada: Person
) -> None:
    asked = ada.say("why?")
    async with opened(server) as channel:
        (sent,) = await deliver(
            channel,
            at(ada.private, asked.message_id),
            "This is **bold**, see [it](https://example.org).",
            reply=True,
        )
        (plain,) = await deliver(channel, at(ada.private, asked.message_id), "so", key="other")
    first, second = ada.private.from_bot
    assert (sent.message_id, sent.chat) == (str(first.message_id), str(ada.private.id))
    assert first.text == "This is **bold**, see [it](https://example.org)."
    assert first.reply_to == asked.message_id
    assert (second.reply_to, plain.message_id) == (None, str(second.message_id))
    assert all(message.flags & 1 << 2 for message in (first, second))


async def test_nobody_is_ever_notified(server: DiscordServer, ada: Person, room: Channel) -> None:
    role = room.guild.role("Maths", ada)
    words = f"repeat: @everyone @here <@{ada.id}> <@&{role.id}> `@everyone`"
    asked = room.say(ada, "hello")
    async with opened(server, menus=()) as channel:
        (sent,) = await deliver(channel, at(room, asked.message_id), words, reply=True)
        (part,) = channel.render(Document(markdown=words + " edited"))
        await channel.edit(at(room), sent.message_id, part)
    (shown,) = room.from_bot
    assert "edited" in shown.text
    assert shown.pinged == frozenset()
    assert not shown.mentions.users and not shown.mentions.roles
    assert not shown.mentions.all
    sent_bodies = [r.json for r in server.requests if r.name in ("createMessage", "editMessage")]
    assert [body["allowed_mentions"] for body in sent_bodies] == [{"parse": []}] * 2


async def test_everything_stays_in_its_thread(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    thread = room.thread("Limits", by=ada)
    post = room.guild.forum().open_post(ada, "Fractions", "flip?")
    async with opened(server, inbox) as channel:
        for number, place in enumerate((thread, post), start=1):
            place.say(ada, f"{server.mention} why?")
            target = (await inbox.wait(number))[-1].target
            async with channel.typing(target):
                await place.wait_action()
            sent = await deliver(channel, target, "so", reply=True, key=str(number))
            (part,) = channel.render(Document(markdown="so it is"))
            await channel.edit(target, sent[0].message_id, part)
            assert [message.text for message in place.from_bot] == ["so it is"]
    assert room.from_bot == []


async def test_a_long_answer_arrives_whole_and_in_order(server: DiscordServer, ada: Person) -> None:
    asked = ada.say("tell me")
    words = [f"word{number}" for number in range(2000)]
    paragraphs = [" ".join(words[start : start + 50]) for start in range(0, 2000, 50)]
    async with opened(server) as channel:
        sent = await deliver(
            channel, at(ada.private, asked.message_id), "\n\n".join(paragraphs), reply=True
        )
    shown = ada.private.from_bot
    assert len(shown) == len(sent) > 5
    assert " ".join(message.text for message in shown).split() == words
    assert [message.reply_to for message in shown] == [asked.message_id] + [None] * (len(shown) - 1)


async def test_buttons_are_shown_and_go_with_an_edit(server: DiscordServer, ada: Person) -> None:
    ada.say("hi")
    rows = ((Button(label="Yes", action="a:yes"), Button(label="No", action="a:no")),)
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(ada.private), "Ready?", buttons=rows)
        assert ada.private.from_bot[0].button("No")["custom_id"] == "a:no"
        (part,) = channel.render(Document(markdown="Good."))
        await channel.edit(at(ada.private), sent.message_id, part)
        await channel.edit(at(ada.private), sent.message_id, part)
    (shown,) = ada.private.from_bot
    assert (shown.text, shown.labels) == ("Good.", [])


async def test_a_first_message_needs_no_word_from_the_learner_after_a_restart(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox):
        ada.say("hi")
        home = (await inbox.wait(1))[0].target.model_copy(update={"reply_to": None})
    async with opened(server) as channel:
        await deliver(channel, home, "12 questions wait")
    assert [message.text for message in ada.private.from_bot] == ["12 questions wait"]


async def test_what_cannot_be_quoted_is_answered_all_the_same(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    gone = room.say(ada, "why?")
    room.remove(gone)
    system = room.post(ada, kind=7)
    asked = room.say(ada, "why?")
    async with opened(server) as channel:
        await deliver(channel, at(room, gone.message_id), "a", reply=True, key="a")
        await deliver(channel, at(room, system.message_id), "b", reply=True, key="b")
        room.deny(Permission.READ_MESSAGE_HISTORY)
        await deliver(channel, at(room, asked.message_id), "c", reply=True, key="c")
    assert [(m.text, m.reply_to) for m in room.from_bot] == [("a", None), ("b", None), ("c", None)]


# --- what can go wrong ---------------------------------------------------------------------------


async def test_a_send_in_doubt_may_be_repeated_and_shows_once(
    server: DiscordServer, ada: Person
) -> None:
    ada.say("hi")
    async with opened(server) as channel:
        assert channel.capabilities.repeatable_for > 0
        server.drop("createMessage", stage=Stage.ANSWER)
        with pytest.raises(OutcomeUnknown):
            await deliver(channel, at(ada.private), "so")
    async with opened(server) as channel:  # and from another process
        (again,) = await deliver(channel, at(ada.private), "so")
        (other,) = await deliver(channel, at(ada.private), "so", key="another")
    ids = [str(message.message_id) for message in ada.private.from_bot]
    assert ids == [again.message_id, other.message_id]


def orders(server: DiscordServer) -> dict[str, tuple[Callable[[], object], type[SendError]]]:
    """Faults and what a send must say about each."""

    def refuse(status: int, code: int) -> Callable[[], object]:
        return lambda: server.refuse("createMessage", status, code, "No")

    return {
        "unknown channel": (refuse(404, 10003), Unreachable),
        "unknown person": (refuse(404, 10013), Unreachable),
        "missing access": (refuse(403, 50001), Unreachable),
        "takes no messages": (refuse(403, 50007), Unreachable),
        "missing permissions": (refuse(403, 50013), Unreachable),
        "refused content": (refuse(400, 50035), Rejected),
        "blocked words": (refuse(400, 200000), Rejected),
        "token": (lambda: server.refuse("createMessage", 401, 0, "401: Unauthorized"), NotSent),
        "unavailable": (lambda: server.fail("createMessage", 503, "no"), OutcomeUnknown),
        "garbage": (lambda: server.fail("createMessage", 200, "garbage"), OutcomeUnknown),
        "cut before": (lambda: server.drop("createMessage"), OutcomeUnknown),
        "cut after": (
            lambda: server.drop("createMessage", stage=Stage.ANSWER),
            OutcomeUnknown,
        ),
        "long pause": (
            lambda: server.refuse(
                "createMessage", 429, 0, "Slow", retry_after=60.0, **{"global": False}
            ),
            Throttled,
        ),
        "banned for a while": (
            lambda: server.fail("createMessage", 429, "<html>", headers={"Retry-After": "61"}),
            Throttled,
        ),
    }


async def test_every_fault_has_its_outcome_and_the_next_message_goes(
    server: DiscordServer, ada: Person
) -> None:
    ada.say("hi")
    async with opened(server) as channel:
        for number, (name, (order, expected)) in enumerate(orders(server).items()):
            order()
            with pytest.raises(SendError) as told:
                await deliver(channel, at(ada.private), "so", key=f"{number}")
            assert type(told.value) is expected, name
            if isinstance(told.value, Throttled):
                assert told.value.retry_after in (60.0, 61.0)
            await deliver(channel, at(ada.private), name, key=f"after {number}")
    assert ada.private.from_bot[-1].text == "banned for a while"


async def test_a_short_pause_is_waited_for(server: DiscordServer, ada: Person) -> None:
    ada.say("hi")
    server.set_rates(Rates({"createMessage": Bucket(1, 0.2)}))
    async with opened(server) as channel:
        for number in range(3):
            await deliver(channel, at(ada.private), f"{number}", key=f"{number}")
        server.refuse("createMessage", 429, 0, "Slow", retry_after=0.05, **{"global": False})
        await deliver(channel, at(ada.private), "3", key="3")
    assert [message.text for message in ada.private.from_bot] == ["0", "1", "2", "3"]
    refused = [r for r in server.requests_of("createMessage") if r.status == 429]
    assert len(refused) == 1


async def test_places_closed_to_us_are_unreachable_and_others_are_not(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    bob = server.user(8, "Bob")
    bob.say("hi")
    ada.say("hi")
    ada.block()
    closed, locked = room.guild.channel("closed"), room.thread("Locked", by=bob)
    gone = room.guild.channel("gone")
    gone.delete()
    closed.deny(Permission.SEND_MESSAGES)
    locked.archive(locked=True)
    async with opened(server) as channel:
        for number, place in enumerate((ada.private, closed, locked, gone)):
            with pytest.raises(Unreachable):
                await deliver(channel, at(place), "hello", key=f"{number}")
        await deliver(channel, at(bob.private), "hello", key="bob")
    assert [m.text for m in room.from_bot] == []


async def test_an_edit_of_what_is_gone_or_asleep_is_rejected(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    theirs = room.say(ada, "mine")
    thread = room.thread("Limits", by=ada)
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(room), "ours", key="a")
        room.remove(room.from_bot[0])
        (asleep,) = await deliver(channel, at(thread), "ours", key="b")
        thread.archive()
        (part,) = channel.render(Document(markdown="new"))
        for place, number in (
            (room, sent.message_id),
            (room, str(theirs.message_id)),
            (thread, asleep.message_id),
        ):
            with pytest.raises(Rejected):
                await channel.edit(at(place), number, part)
        await deliver(channel, at(thread), "new", key="c")
    assert thread.from_bot[-1].text == "new"


async def test_a_server_that_is_gone_was_surely_not_reached(
    server: DiscordServer, ada: Person
) -> None:
    ada.say("hi")
    async with opened(server) as channel:
        await deliver(channel, at(ada.private), "one", key="one")
        server.stop()
        with pytest.raises(OutcomeUnknown):  # the line was open
            await deliver(channel, at(ada.private), "two", key="two")
        with pytest.raises(NotSent):
            await deliver(channel, at(ada.private), "two", key="two")


# --- leaving, typing, the end --------------------------------------------------------------------


async def test_what_keeps_a_part_here_is_raised_and_nothing_is_sent(
    server: DiscordServer, ada: Person
) -> None:
    ada.say("hi")

    async def stay() -> None:
        raise LookupError

    async with opened(server) as channel:
        (part,) = channel.render(Document(markdown="so"))
        with pytest.raises(LookupError):
            await channel.send(at(ada.private), part, key="k", reply=False, leaving=stay)
    assert ada.private.from_bot == []


async def test_typing_never_fails_and_ends(server: DiscordServer, ada: Person) -> None:
    ada.say("hi")
    async with opened(server) as channel:
        server.fail("typing", 503, "no")
        async with channel.typing(at(ada.private)):
            await server.wait_for(lambda: server.requests_of("typing"))
        async with channel.typing(at(ada.private)):
            await ada.private.wait_action()
    async with channel.typing(at(ada.private)):
        pass


async def test_a_closed_channel_sends_nothing_and_says_so(
    server: DiscordServer, ada: Person
) -> None:
    ada.say("hi")
    channel = door(server)
    for _ in range(2):
        with pytest.raises(NotSent):
            await channel.send(
                at(ada.private), channel.render(Document(markdown="x"))[0], key="k", reply=False
            )
        await channel.stop()
    with pytest.raises(TypeError):
        async with opened(server) as channel:
            await channel.send(at(ada.private), Part(payload="x"), key="k", reply=False)


async def test_stop_lets_a_send_under_way_finish(server: DiscordServer, ada: Person) -> None:
    ada.say("hi")
    channel = door(server)
    await channel.start(Inbox(), ())
    gate = server.hold("createMessage", stage=Stage.REQUEST)
    sending = asyncio.create_task(deliver(channel, at(ada.private), "so"))
    await gate.wait_reached()
    stopping = asyncio.create_task(channel.stop())
    gate.release()
    await stopping
    assert len(await sending) == 1
