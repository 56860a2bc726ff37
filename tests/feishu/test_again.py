"""Messages that come again: rewritten ones are looked up, one told under two ids is one."""

from __future__ import annotations

from typing import Any

from core.context import ChatKind, Command, Text
from tests.doorway import Inbox, deliver
from tests.feishu.door import at, opened
from tests.servers.feishu import FeishuServer

EDITED = "im.message.updated_v1"
LOOK_UP = "im.v1.message.get"


async def test_an_edit_comes_as_the_whole_message_with_its_address(server: FeishuServer) -> None:
    server.state.subscribed.add(EDITED)
    inbox, ada = Inbox(), server.user("Ada")
    group = server.topic_group("q", ada)
    async with opened(server, inbox):
        asked, there = ada.say("tow?"), group.say(ada, "@Tutor tow?")
        await inbox.wait(2)
        ada.private.edit(asked, "two?")
        await inbox.wait(3)
        group.edit(there, "@Tutor two?")
        first, second, *edits = await inbox.wait(4)
    for before, after in zip((first, second), edits, strict=True):
        wanted = {"edited": True, "content": Text(text="two?"), "received_at": after.received_at}
        sender = before.sender.model_copy(update={"language": None})
        assert after == before.model_copy(update={**wanted, "sender": sender})
    assert [one.chat_kind for one in edits] == [ChatKind.PRIVATE, ChatKind.GROUP]


async def test_an_edit_into_a_command_is_still_an_edit(server: FeishuServer) -> None:
    server.state.subscribed.add(EDITED)
    inbox, ada = Inbox(), server.user("Ada")
    async with opened(server, inbox):
        asked = ada.say("help?")
        await inbox.wait(1)
        ada.private.edit(asked, "/help")
        edit = (await inbox.wait(2))[1]
    assert (edit.edited, edit.content) == (True, Command(name="help"))


async def test_an_edit_that_cannot_be_read_now_comes_again(server: FeishuServer) -> None:
    server.state.subscribed.add(EDITED)
    inbox, ada = Inbox(), server.user("Ada")
    async with opened(server, inbox):
        asked = ada.say("tow?")
        await inbox.wait(1)
        server.drop(LOOK_UP)
        ada.private.edit(asked, "two?")
        (first,) = await server.wait_acks(server.deliveries[-1])
        assert first.code == 500
        server.pass_time(15)
        assert (await inbox.wait(2))[1].content == Text(text="two?")


async def test_an_edit_that_nobody_may_read_and_those_of_our_own_are_done_with(
    server: FeishuServer,
) -> None:
    server.state.subscribed.add(EDITED)
    inbox, ada = Inbox(), server.user("Ada")
    async with opened(server, inbox) as channel:
        asked = ada.say("tow?")
        await inbox.wait(1)
        await deliver(channel, at(ada.private), "Two.")
        server.refuse(LOOK_UP, 230002)
        ada.private.edit(asked, "two?")
        await server.wait_settled(server.deliveries[-1])
        ada.private.recall(asked)
        ours = ada.private.from_bot[0].message_id
        events: tuple[dict[str, Any], ...] = (
            {"message": {"message_id": asked.message_id}},
            {"message": {"message_id": ours}},
            {"message": {"message_id": ours}, "sender": {"sender_type": "app"}},
            {"message": {}},
        )
        for event in events:
            server.push_raw({"header": {"event_type": EDITED}, "event": event})
        for delivery in server.deliveries:
            assert (await server.wait_settled(delivery)).accepted
    assert len(inbox.messages) == 1
    assert len(server.requests_of(LOOK_UP)) == 3


async def test_a_chat_that_cannot_be_looked_up_stays_what_it_is_known_to_be(
    server: FeishuServer,
) -> None:
    server.state.subscribed.add(EDITED)
    inbox, ada = Inbox(), server.user("Ada")
    async with opened(server, inbox):
        asked = ada.say("tow?")
        await inbox.wait(1)
        server.refuse("im.v1.chat.get", 99991672, times=None)
        ada.private.edit(asked, "two?")
        assert (await inbox.wait(2))[1].chat_kind is ChatKind.PRIVATE


async def test_a_message_told_under_two_ids_is_one(server: FeishuServer) -> None:
    inbox, ada, bob = Inbox(), server.user("Ada"), server.user("Bob")
    group = server.group("g", ada, bob)
    async with opened(server, inbox):
        said = ada.say("hello")
        server.redeliver(said, fresh_event=True, fresh_message=True)
        first, second = await inbox.wait(2)
        assert first == second
        for chat, person in ((ada.private, ada), (group, ada), (group, bob)):
            await server.wait_settled(chat.say(person, "@Tutor hello"))
    assert len({message.message_id for message in inbox.messages}) == 4
