"""Commands and buttons are answered in time, in their place, and no promise is left open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from core.channel import OutcomeUnknown, Rejected
from core.context import Press
from core.document import Button, Document
from tests.discord.door import MENUS, at, opened
from tests.doorway import Inbox, deliver
from tests.servers.discord import Channel, DiscordServer, Person
from tests.servers.discord import Press as Acted
from tests.servers.faults import Stage

DEFERRED_ANSWER, DEFERRED_UPDATE = 5, 6
ROWS = ((Button(label="Yes", action="a:yes"),),)


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    """Somebody who shares a server with the bot, so that it may write to them."""
    ada = server.user(7)
    server.guild("Study group", ada)
    return ada


@pytest.fixture
def room(server: DiscordServer, ada: Person) -> Channel:
    return server.guild("Another group", ada).channel("general")


def thinks(press: Acted) -> bool:
    """Whether the chat shows that the bot thinks."""
    return press.thinking


async def test_the_answer_takes_the_place_of_thinking(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        for number, place in enumerate((ada.private, room, room.thread("T", by=ada)), start=1):
            press = place.slash(ada, "add", {"text": "@everyone :: b"})
            target = (await inbox.wait(number))[-1].target
            assert (await press.wait_answered())["type"] == DEFERRED_ANSWER
            long = "Saved, @everyone. " + "x " * 1200
            first = await deliver(channel, target, long, buttons=ROWS, reply=True, key=f"{number}")
            second = await deliver(channel, target, "And more.", key=f"m{number}", reply=True)
            shown = place.find(int(first[0].message_id))
            assert shown is not None
            assert press.replies[0] is shown
            assert not thinks(press)
            assert shown.text.startswith("Saved") and shown.pinged == frozenset()
            assert [s.message_id for s in (*first, *second)] == [
                str(m.message_id) for m in place.from_bot
            ]
            assert place.from_bot[1].labels == ["Yes"]
            assert [m.reply_to for m in place.from_bot] == [None, None, None]


async def test_a_command_whose_answer_stands_elsewhere_thinks_no_more(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        ada.private.say(ada, "why?")
        asked = (await inbox.wait(1))[0].target
        (old,) = await deliver(channel, asked, "First.", reply=True)
        press = ada.private.slash(ada, "help")
        target = (await inbox.wait(2))[-1].target
        await press.wait_answered()
        assert thinks(press)
        (part,) = channel.render(Document(markdown="Second."))
        await channel.edit(target, old.message_id, part)
        assert not thinks(press)
    assert [m.text for m in ada.private.from_bot] == ["Second."]


async def test_an_answer_that_comes_before_the_promise_waits_for_it(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    gate = server.hold("interactionCallback", stage=Stage.REQUEST)
    async with opened(server, inbox, menus=MENUS) as channel:
        press = ada.private.slash(ada, "help")
        target = (await inbox.wait(1))[0].target
        await gate.wait_reached()
        answering = asyncio.create_task(deliver(channel, target, "I teach.", reply=True))
        await asyncio.sleep(0)
        gate.release()
        await answering
    assert [m.text for m in press.replies] == ["I teach."]


async def test_a_command_is_acknowledged_though_it_cannot_be_stored(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with opened(server, inbox, menus=MENUS) as channel:
        press = ada.private.slash(ada, "help")
        assert (await press.wait_answered())["type"] == DEFERRED_ANSWER
        assert inbox.messages == []
        inbox.open.set()
        target = (await inbox.wait(1))[0].target
        await deliver(channel, target, "I teach.", reply=True)
    assert [m.text for m in press.replies] == ["I teach."]


@pytest.mark.parametrize("stage", list(Stage))
async def test_a_line_that_breaks_while_a_promise_is_made_costs_nothing(
    server: DiscordServer, ada: Person, stage: Stage
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        server.drop("interactionCallback", stage=stage)
        press = ada.private.slash(ada, "help")
        target = (await inbox.wait(1))[0].target
        await deliver(channel, target, "I teach.", reply=True)
    assert [m.text for m in press.replies] == ["I teach."]
    assert len(server.requests_of("interactionCallback")) == 2


@pytest.mark.parametrize("how", ["expired", "token", "unfulfilled"])
async def test_a_dead_interaction_is_answered_by_a_message(
    server: DiscordServer, ada: Person, how: str
) -> None:
    inbox = Inbox()
    if how == "expired":
        inbox.open.clear()
    async with opened(
        server, inbox, menus=MENUS, thinking_seconds=0.01 if how == "unfulfilled" else 600
    ) as channel:
        press = ada.private.slash(ada, "help")
        if how == "expired":
            await inbox.wait_offered(1)
            press.expire()
            inbox.open.set()
        target = (await inbox.wait(1))[0].target
        if how == "token":
            await press.wait_answered()
            press.end_token()
        if how == "unfulfilled":
            await press.wait_answered()
            await server.wait_for(lambda: not thinks(press))
        (sent,) = await deliver(channel, target, "I teach.", reply=True)
    (shown,) = ada.private.from_bot
    assert (shown.text, str(shown.message_id)) == ("I teach.", sent.message_id)
    assert press.replies == []


async def test_an_answer_in_doubt_or_refused_keeps_its_place(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        press = ada.private.slash(ada, "help")
        target = (await inbox.wait(1))[0].target
        server.refuse("editAnswer", 400, 50035, "Invalid Form Body")
        with pytest.raises(Rejected):
            await deliver(channel, target, "I", reply=True)
        server.drop("editAnswer", stage=Stage.ANSWER)
        with pytest.raises(OutcomeUnknown):
            await deliver(channel, target, "I teach.", reply=True)
        await deliver(channel, target, "I teach.", reply=True)
    assert [m.text for m in ada.private.from_bot] == ["I teach."] == [m.text for m in press.replies]


async def test_after_a_restart_an_answer_is_neither_lost_nor_given_twice(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        given, open_ = ada.private.slash(ada, "help"), ada.private.slash(ada, "add")
        targets = {m.target.reply_to: m.target for m in await inbox.wait(2)}
        first = targets[f"ix:{given.interaction_id}"]
        second = targets[f"ix:{open_.interaction_id}"]
        await deliver(channel, first, "I teach.", reply=True)
        await open_.wait_answered()
    assert not thinks(open_)  # the door closed, and took its promise back
    async with opened(server) as channel:
        (again,) = await deliver(channel, first, "I teach.", reply=True)
        (late,) = await deliver(channel, second, "Saved.", reply=True, key="late")
        (other,) = await deliver(channel, first, "And more.", reply=True, key="other")
    assert [(m.text, str(m.message_id)) for m in ada.private.from_bot] == [
        ("I teach.", again.message_id),
        ("Saved.", late.message_id),
        ("And more.", other.message_id),
    ]


async def test_a_replayed_command_is_answered_once(server: DiscordServer, ada: Person) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS) as channel:
        press = ada.private.slash(ada, "help")
        target = (await inbox.wait(1))[0].target
        await deliver(channel, target, "I teach.", reply=True)
        server.redeliver(press)
        await inbox.wait(2)
        await server.wait_for(lambda: len(server.requests_of("interactionCallback")) == 2)
        await deliver(channel, target, "And more.", reply=True, key="more")
    assert [m.text for m in ada.private.from_bot] == ["I teach.", "And more."]


async def test_a_button_works_after_a_restart_and_its_message_can_change(
    server: DiscordServer, ada: Person, room: Channel
) -> None:
    async with opened(server) as channel:
        await deliver(channel, at(room), "Ready?", buttons=ROWS)
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        press = room.press(room.from_bot[0], "Yes", ada)
        (message,) = await inbox.wait(1)
        assert isinstance(message.content, Press)
        assert (await press.wait_answered())["type"] == DEFERRED_UPDATE
        (part,) = channel.render(Document(markdown="Good."))
        await channel.edit(message.target, message.content.origin, part)
    (shown,) = room.from_bot
    assert (shown.text, shown.labels) == ("Good.", [])


async def test_commands_are_registered_in_every_language_and_only_when_they_differ(
    server: DiscordServer, ada: Person
) -> None:
    for _ in range(2):
        async with opened(server, menus=MENUS):
            assert server.commands() == ["help", "add"]
    (sent,) = server.requests_of("setCommands")
    add = sent.json["items"][1]
    assert add["description"] == "save a question that comes back"
    assert add["description_localizations"]["zh-CN"] == "保存一个问题"
    (option,) = add["options"]
    assert (option["name"], option["required"]) == ("text", False)
    assert option["description_localizations"]["zh-CN"] == "问题 :: 答案"
    async with opened(server, menus=[MENUS[0]]):
        pass
    assert len(server.requests_of("setCommands")) == 2


async def test_a_menu_that_is_refused_does_not_keep_the_door_shut(
    server: DiscordServer, ada: Person
) -> None:
    server.fail("listCommands", 503, "no")
    inbox = Inbox()
    async with opened(server, inbox, menus=MENUS):
        ada.say("hello")
        await inbox.wait(1)
