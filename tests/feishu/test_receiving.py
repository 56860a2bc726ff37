"""Receiving through the real library: nothing is acknowledged before it is stored."""

from __future__ import annotations

import asyncio
import gc
import logging
import warnings

import pytest

from core.channel import ChannelStartError, ChannelUnreachable
from core.context import ChatKind, Command, Joined, Press, Text
from core.document import Button
from tests.doorway import Inbox, deliver, health_says
from tests.feishu.door import at, door, opened
from tests.servers.feishu import FeishuServer

YES = ((Button(label="Yes", action="answer:yes"),),)


# --- acknowledged means stored -------------------------------------------------------------------


async def test_an_event_is_acknowledged_only_after_it_is_committed(server: FeishuServer) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with opened(server, inbox):
        said = server.user("Ada").say("hello")
        await inbox.wait_offered(1)
        assert said.delivery is not None
        assert said.delivery.acks == []
        inbox.open.set()
        delivery = await server.wait_settled(said)
        assert [ack.code for ack in delivery.acks] == [200]
    assert [message.content for message in inbox.messages] == [Text(text="hello")]


async def test_what_could_not_be_stored_is_refused_and_comes_again(server: FeishuServer) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with opened(server, inbox) as channel:
        said = server.user("Ada").say("hello")
        (first,) = await server.wait_acks(said)
        assert first.code == 500
        await health_says(channel, "cannot be stored")
        server.pass_time(15)
        await server.wait_settled(said)
        await health_says(channel, None)
    assert len(inbox.messages) == 1


async def test_a_commit_that_takes_too_long_is_refused_but_not_cut_off(
    server: FeishuServer,
) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with opened(server, inbox):
        said = server.user("Ada").say("hello")
        (ack,) = await server.wait_acks(said)
        assert (ack.code, ack.late) == (500, False)
        inbox.open.set()
        assert (await inbox.wait(1))[0].content == Text(text="hello")


async def test_being_taken_into_a_group_is_one_event_however_often_it_happens(
    server: FeishuServer,
) -> None:
    inbox = Inbox()
    ada = server.user("Ada")
    group = server.group("Study", ada)
    async with opened(server, inbox):
        for _ in range(2):
            group.kick_bot(ada)
            group.add_bot(ada)
        first, second = await inbox.wait(2)
    assert (first.content, first.chat_kind) == (Joined(), ChatKind.GROUP)
    assert first.message_id == second.message_id
    assert first.sender.account.endswith(ada.open_id)
    assert first.target.chat == group.chat_id


async def test_a_redelivered_message_keeps_its_identity(server: FeishuServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox):
        said = server.user("Ada").say("hello")
        await server.wait_settled(said)
        server.redeliver(said)
        server.redeliver(said, fresh_event=True)
        first, second, third = await inbox.wait(3)
    assert first == second == third


async def test_events_of_one_chat_keep_their_order(server: FeishuServer) -> None:
    inbox = Inbox()
    held = server.hold("contact.v3.user.get")
    async with opened(server, inbox):
        ada = server.user("Ada")
        for number in range(5):
            ada.say(f"number {number}")
        await held.wait_reached()
        held.release()
        said = [message.content for message in await inbox.wait(5)]
    assert said == [Text(text=f"number {number}") for number in range(5)]


async def test_a_payload_in_several_frames_is_put_together(server: FeishuServer) -> None:
    inbox = Inbox()
    server.split_payloads(3)
    async with opened(server, inbox):
        said = server.user("Ada").say("word " * 200)
        await server.wait_settled(said)
    assert inbox.messages[0].content == Text(text=("word " * 200).strip())


async def test_events_nobody_reads_are_acknowledged(
    server: FeishuServer, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        ada = server.user("Ada")
        said = ada.say("hello")
        await inbox.wait(1)
        await deliver(channel, at(ada.private), "hi")
        ada.private.read(ada, *ada.private.from_bot)
        ada.private.react(said, "OK", by=ada)
        ada.private.recall(said)
        ada.enter()
        for body in (
            {"schema": "2.0", "header": {"event_type": "im.chat.disbanded_v1"}, "event": {}},
            {"schema": "2.0", "header": {"event_type": "im.message.receive_v1"}, "event": {}},
            {"uuid": "1", "event": {"type": "app_open", "canary": "canary"}},
            {"canary": "canary"},
        ):
            server.push_raw(body)
        for delivery in server.deliveries:
            assert (await server.wait_settled(delivery)).accepted, delivery.event_type
    assert len(inbox.messages) == 1
    assert caplog.text.count("skipped an event") == 1
    assert "canary" not in caplog.text


# --- what an event leaves out --------------------------------------------------------------------


async def test_a_person_is_named_and_looked_up_once(server: FeishuServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox):
        ada = server.user("Ada")
        for text in ("one", "two"):
            await server.wait_settled(ada.say(text))
    assert [message.sender.name for message in inbox.messages] == ["Ada", "Ada"]
    assert len(server.requests_of("contact.v3.user.get")) == 1


async def test_a_name_that_may_not_be_seen_is_done_without(server: FeishuServer) -> None:
    inbox = Inbox()
    server.revoke_scopes("contact:contact.base:readonly")
    async with opened(server, inbox):
        ada = server.user("Ada")
        for text in ("one", "two"):
            await server.wait_settled(ada.say(text))
    assert inbox.messages[0].sender.name == ada.open_id[-6:]
    assert len(server.requests_of("contact.v3.user.get")) == 1


async def test_a_look_up_that_hangs_holds_no_message_up(server: FeishuServer) -> None:
    inbox = Inbox()
    gate = server.hold("contact.v3.user.get")
    async with opened(server, inbox):
        delivery = await server.wait_settled(server.user("Ada").say("hello"))
        assert delivery.accepted
        assert not delivery.acks[0].late
        gate.release()
    assert inbox.messages[0].content == Text(text="hello")


async def test_a_reply_to_us_in_a_group_needs_no_mention(server: FeishuServer) -> None:
    inbox = Inbox()
    server.grant_scopes("im:message.group_msg")
    ada, bob = server.user("Ada"), server.user("Bob")
    group = server.group("g", ada, bob)
    async with opened(server, inbox) as channel:
        await deliver(channel, at(group), "**Try** it")
        ours = group.from_bot[0]
        other = group.say(bob, "hello")
        for said in (
            other,
            group.say(ada, "no", reply_to=other),
            group.say(ada, "and?", reply_to=ours),
        ):
            await server.wait_settled(said)
    assert [message.addressed for message in inbox.messages] == [False, False, True]
    quote = inbox.messages[-1].quote
    assert quote is not None
    assert (quote.from_tutor, quote.text) == (True, "**Try** it")
    assert quote.message_id == ours.message_id


@pytest.mark.parametrize("wished", [True, False])
async def test_all_of_a_group_wake_us_only_where_that_is_wished(
    server: FeishuServer, wished: bool
) -> None:
    inbox, ada = Inbox(), server.user("Ada")
    group = server.group("g", ada)
    async with opened(server, inbox, answers_all=wished):
        for listed in (True, False):
            await server.wait_settled(group.say(ada, "@all why?", all_listed=listed))
    assert [message.addressed for message in inbox.messages] == [wished, wished]


async def test_a_topic_is_told_with_every_message_in_it(server: FeishuServer) -> None:
    inbox = Inbox()
    ada = server.user("Ada")
    group = server.topic_group("q", ada)
    async with opened(server, inbox):
        topic = group.topic(ada, "@Tutor why?")
        await server.wait_settled(topic.root)
        await server.wait_settled(topic.say(ada, "@Tutor /review"))
    first, second = inbox.messages
    assert first.target.thread == second.target.thread == topic.id
    assert first.shared_thread
    assert second.quote is None
    assert second.content == Command(name="review")


# --- buttons -------------------------------------------------------------------------------------


async def test_a_press_is_answered_at_once_and_knows_its_chat(server: FeishuServer) -> None:
    inbox = Inbox()
    ada = server.user("Ada")
    group = server.topic_group("q", ada)
    async with opened(server, inbox) as channel:
        topic = group.topic(ada, "@Tutor why?")
        await inbox.wait(1)
        await deliver(
            channel, at(group, thread=topic.id, reply_to=topic.root), "Ready?", buttons=YES
        )
        await deliver(channel, at(ada.private), "Ready?", buttons=YES, key="other")
        for chat in (group, ada.private):
            press = chat.press(chat.from_bot[0], "Yes", ada)
            await press.wait_answered()
            assert press.error is None
    there, private = inbox.messages[1:]
    assert isinstance(there.content, Press)
    assert there.content.action == "answer:yes"
    assert (there.chat_kind, there.target.thread) == (ChatKind.GROUP, topic.id)
    assert there.shared_thread
    assert there.content.origin == group.from_bot[0].message_id
    assert (private.chat_kind, private.target.thread) == (ChatKind.PRIVATE, None)
    assert private.sender.name == "Ada"


async def test_a_press_that_could_not_be_stored_shows_an_error(server: FeishuServer) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    ada = server.user("Ada")
    async with opened(server, inbox) as channel:
        await deliver(channel, at(ada.private), "Ready?", buttons=YES)
        card = ada.private.from_bot[0]
        assert (await ada.private.press(card, "Yes").wait_answered()).error == 200671
        assert (await ada.private.press(card, "Yes").wait_answered()).error is None
    assert len(inbox.messages) == 1


async def test_a_press_of_an_unknown_chat_counts_as_one_of_a_group(server: FeishuServer) -> None:
    inbox = Inbox()
    server.revoke_scopes("im:chat:readonly")
    ada = server.user("Ada")
    async with opened(server, inbox) as channel:
        await deliver(channel, at(ada.private), "Ready?", buttons=YES)
        await ada.private.press(ada.private.from_bot[0], "Yes").wait_answered()
        said = ada.say("hello")
        await server.wait_settled(said)
        await ada.private.press(ada.private.from_bot[0], "Yes").wait_answered()
    kinds = [message.chat_kind for message in inbox.messages]
    assert kinds == [ChatKind.GROUP, ChatKind.PRIVATE, ChatKind.PRIVATE]


# --- the connection ------------------------------------------------------------------------------


@pytest.mark.parametrize("politely", [True, False])
async def test_a_lost_connection_is_made_again(server: FeishuServer, politely: bool) -> None:
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        for number in range(3):
            server.drop_connections(politely=politely)
            await server.wait_request("connect", count=number + 2)
            await server.wait_connected()
            await server.wait_settled(server.user(f"p{number}").say("hello"))
        await health_says(channel, None)
    assert len(inbox.messages) == 3
    await server.wait_for(lambda: not server.connections)


async def test_a_connection_that_falls_silent_is_replaced(server: FeishuServer) -> None:
    inbox = Inbox()
    server.set_pings(0.05, silent=True)
    async with opened(server, inbox) as channel:
        await server.wait_for(lambda: len(server.requests_of("connect")) >= 3)
        server.set_pings(120)
        await server.wait_settled(server.user("Ada").say("hello"), within=20)
        await health_says(channel, None)
    assert len({message.message_id for message in inbox.messages}) == 1


async def test_trouble_is_told_while_it_lasts(server: FeishuServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        busy = server.refuse_endpoint(1, times=None)
        server.drop_connections()
        await health_says(channel, "cannot be reached")
        server.clear_faults()
        await health_says(channel, None)
        server.wrong_domain = True
        server.drop_connections()
        await health_says(channel, "FEISHU_DOMAIN")
        server.wrong_domain = False
        await health_says(channel, None)
        server.refuse_connect(514, "too many", 1000040350, times=3)
        server.drop_connections()
        await health_says(channel, "another connection")
        await health_says(channel, None)
        await server.wait_settled(server.user("Ada").say("hello"))
    assert busy
    assert len(inbox.messages) == 1


async def test_an_endpoint_that_hangs_does_not_hold_the_stop_up(server: FeishuServer) -> None:
    async with opened(server) as channel:
        gate = server.hold("endpoint")
        server.drop_connections()
        await gate.wait_reached()
        await health_says(channel, "lost")
        async with asyncio.timeout(5):
            await channel.stop()
        gate.release()


async def test_a_channel_starts_again_after_its_end_and_answers_once(server: FeishuServer) -> None:
    inbox = Inbox()
    channel = door(server)
    for _ in range(3):
        await channel.start(inbox, ())
        await channel.stop()
        await channel.stop()
        assert "not connected" in (channel.health() or "")
    await channel.start(inbox, ())
    await server.wait_for(lambda: len(server.connections) == 1)
    await server.wait_settled(server.user("Ada").say("hello"))
    await channel.stop()
    assert len(inbox.messages) == 1


async def test_two_apps_live_side_by_side() -> None:
    first, second = Inbox(), Inbox()
    with FeishuServer(rates=None) as one, FeishuServer(rates=None) as two:
        async with opened(one, first), opened(two, second):
            await one.wait_settled(one.user("Ada").say("to one"))
            await two.wait_settled(two.user("Bob").say("to two"))
    assert [message.content for message in first.messages] == [Text(text="to one")]
    assert [message.content for message in second.messages] == [Text(text="to two")]


async def test_a_stop_leaves_nothing_behind(
    server: FeishuServer, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(server):
        pass  # what loading the library leaves behind, once, is not at issue here
    gc.collect()  # nor is what other tests left
    before = asyncio.all_tasks()
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
        warnings.simplefilter("error")
        async with opened(server):
            await server.wait_settled(server.user("Ada").say("hello canary"))
        gc.collect()
    assert asyncio.all_tasks() == before
    assert capsys.readouterr().out == ""
    assert "never retrieved" not in caplog.text
    assert "canary" not in caplog.text
    assert "ticket" not in caplog.text
    assert server.app_secret not in caplog.text


# --- a start that cannot be ----------------------------------------------------------------------


async def test_a_wrong_secret_is_told_with_the_way_out(server: FeishuServer) -> None:
    with pytest.raises(ChannelStartError, match="FEISHU_APP_SECRET") as told:
        await door(server, secret="wrong").start(Inbox(), ())
    assert not isinstance(told.value, ChannelUnreachable)


async def test_an_app_of_the_other_platform_is_told_so(server: FeishuServer) -> None:
    server.wrong_domain = True
    with pytest.raises(ChannelStartError, match="FEISHU_DOMAIN") as told:
        await door(server).start(Inbox(), ())
    assert not isinstance(told.value, ChannelUnreachable)


async def test_an_app_without_a_bot_is_told_so(server: FeishuServer) -> None:
    server.state.bot_ability = False
    with pytest.raises(ChannelStartError, match="bot capability"):
        await door(server).start(Inbox(), ())


async def test_what_may_work_later_is_told_apart(server: FeishuServer) -> None:
    server.refuse_endpoint(1)
    with pytest.raises(ChannelUnreachable, match="cannot be reached"):
        await door(server).start(Inbox(), ())
    server.fail("auth.v3.tenant_access_token.internal", 502, "<html>Bad Gateway</html>")
    with pytest.raises(ChannelUnreachable, match="cannot be reached"):
        await door(server).start(Inbox(), ())
    server.drop("bot.v3.info")
    channel = door(server)
    with pytest.raises(ChannelUnreachable, match="cannot be reached"):
        await channel.start(Inbox(), ())
    await channel.start(Inbox(), ())
    assert channel.health() is None
    await channel.stop()
