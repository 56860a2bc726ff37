"""Sending through the real library to a strict server: the right place, and honest outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from aiogram.exceptions import AiogramError, ClientDecodeError, TelegramNetworkError
from aiogram.methods import GetMe

from bots.limiter import Rates
from bots.telegram.failures import reason_of, send_error
from core.channel import (
    NotSent,
    OutcomeUnknown,
    Part,
    Rejected,
    SendError,
    Sent,
    Throttled,
    Unreachable,
)
from core.document import Button, Document
from tests.doorway import Inbox, deliver, health_says
from tests.servers.faults import Stage
from tests.servers.telegram import Rates as ServerRates
from tests.servers.telegram import TelegramServer
from tests.telegram.door import at, door, opened


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None, has_topics_enabled=True) as server:
        yield server


# --- the right place -----------------------------------------------------------------------------


async def test_a_message_in_private_is_formatted_and_replies(server: TelegramServer) -> None:
    ada = server.user(7)
    asked = ada.say("why?")
    async with opened(server) as channel:
        sent = await deliver(
            channel, at(7, reply_to=asked.message_id), "This is **bold**.", reply=True
        )
    shown = ada.private.from_bot[0]
    assert sent == [Sent(message_id=str(shown.message_id), chat="7")]
    assert shown.text == "This is bold."
    assert [entity["type"] for entity in shown.entities] == ["bold"]
    assert shown.reply_to == asked.message_id


async def test_no_parse_mode_and_no_preview_is_asked_for(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        await deliver(channel, at(7), "`a*b*c <b>` https://example.org")
    assert ada.private.from_bot[0].text == "a*b*c <b> https://example.org"
    sent = server.requests_of("sendMessage")[0].json
    assert "parse_mode" not in sent
    assert sent["link_preview_options"]["is_disabled"] is True


async def test_a_reply_is_only_made_when_asked_for(server: TelegramServer) -> None:
    ada = server.user(7)
    asked = ada.say("why?")
    async with opened(server) as channel:
        await deliver(channel, at(7, reply_to=asked.message_id), "so")
    assert ada.private.from_bot[0].reply_to is None


async def test_the_answer_comes_though_the_question_was_deleted(server: TelegramServer) -> None:
    ada = server.user(7)
    asked = ada.say("why?")
    ada.private.remove(asked)
    async with opened(server) as channel:
        await deliver(channel, at(7, reply_to=asked.message_id), "so", reply=True)
    assert ada.private.from_bot[0].text == "so"


async def test_question_answer_edit_and_typing_stay_in_their_topic(server: TelegramServer) -> None:
    inbox, ada = Inbox(), server.user(7)
    forum = server.forum()
    places = [(forum, forum.topic("Algebra")), (ada.private, ada.private.topic("Mine"))]
    async with opened(server, inbox) as channel:
        for number, (chat, topic) in enumerate(places, start=1):
            chat.say(ada, "@tutor_bot why?", thread=topic)
            target = (await inbox.wait(number))[-1].target
            async with channel.typing(target):
                assert (await chat.wait_action()).thread == topic.id
            sent = await deliver(channel, target, "so", reply=True)
            (part,) = channel.render(Document(markdown="so it is"))
            await channel.edit(target, sent[0].message_id, part)
            shown = [message for message in topic.messages if message.from_bot]
            assert [message.text for message in shown] == ["so it is"]
            elsewhere = [message for message in chat.from_bot if message.thread != topic.id]
            assert elsewhere == []


async def test_the_general_topic_is_named_for_typing_and_not_for_sending(
    server: TelegramServer,
) -> None:
    inbox, ada, forum = Inbox(), server.user(7), server.forum()
    async with opened(server, inbox) as channel:
        forum.say(ada, "@tutor_bot why?")
        target = (await inbox.wait(1))[0].target
        async with channel.typing(target):
            await forum.wait_action()
        await deliver(channel, target, "so", reply=True)
    assert server.requests_of("sendChatAction")[0].json["message_thread_id"] in (1, "1")
    assert "message_thread_id" not in server.requests_of("sendMessage")[0].json
    assert forum.from_bot[0].thread is None


async def test_a_long_answer_arrives_whole_and_in_order(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    words = [f"word{number}" for number in range(4000)]
    paragraphs = [" ".join(words[start : start + 50]) for start in range(0, 4000, 50)]
    async with opened(server) as channel:
        sent = await deliver(channel, at(7), "\n\n".join(paragraphs))
    shown = ada.private.from_bot
    assert len(shown) == len(sent) > 5
    assert " ".join(message.text for message in shown).split() == words


async def test_buttons_are_shown_and_go_with_an_edit(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    rows = ((Button(label="Yes", action="a:yes"), Button(label="No", action="a:no")),)
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(7), "Ready?", buttons=rows)
        assert ada.private.from_bot[0].button("No")["callback_data"] == "a:no"
        (part,) = channel.render(Document(markdown="Good."))
        await channel.edit(at(7), sent.message_id, part)
    shown = ada.private.from_bot[0]
    assert (shown.text, shown.reply_markup) == ("Good.", None)


# --- what can go wrong ---------------------------------------------------------------------------


async def test_an_edit_that_changes_nothing_is_no_error(server: TelegramServer) -> None:
    server.user(7, started=True)
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(7), "same")
        (part,) = channel.render(Document(markdown="same"))
        await channel.edit(at(7), sent.message_id, part)


async def test_an_edit_of_what_is_gone_or_not_ours_is_rejected(server: TelegramServer) -> None:
    ada = server.user(7)
    theirs = ada.say("mine")
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(7), "ours")
        ada.private.remove(ada.private.from_bot[0])
        (part,) = channel.render(Document(markdown="new"))
        for message_id in (sent.message_id, str(theirs.message_id)):
            with pytest.raises(Rejected):
                await channel.edit(at(7), message_id, part)


async def test_a_chat_closed_to_us_is_unreachable_and_the_next_is_not(
    server: TelegramServer,
) -> None:
    ada, bob = server.user(7), server.user(8, "Bob")
    ada.say("hi")
    bob.say("hi")
    group = server.group()
    ada.block()
    group.kick_bot(bob)
    server.user(9, "Stranger")
    async with opened(server) as channel:
        for closed in (7, group.id, 9, 12345):
            with pytest.raises(Unreachable):
                await deliver(channel, at(closed), "hello")
        await deliver(channel, at(8), "hello")


async def test_a_topic_that_is_gone_or_closed_is_not_replaced_by_another_place(
    server: TelegramServer,
) -> None:
    forum = server.forum()
    gone, closed = forum.topic("Gone"), forum.topic("Closed")
    gone.delete()
    closed.closed = True
    async with opened(server) as channel:
        for topic in (gone, closed):
            with pytest.raises(Unreachable):
                await deliver(channel, at(forum.id, topic.id), "hello")
    assert [message for message in forum.from_bot if message.text] == []


async def test_a_group_that_moved_gets_the_message_at_its_new_address(
    server: TelegramServer,
) -> None:
    group = server.group()
    moved = group.migrate()
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(group.id, reply_to=2), "hello", reply=True)
        (part,) = channel.render(Document(markdown="new"))
        with pytest.raises(Rejected):
            await channel.edit(at(group.id), "1", part)
    assert sent.chat == str(moved.id)
    hello = [message for message in moved.messages if message.text == "hello"]
    assert [message.reply_to for message in hello] == [None]


async def test_refused_formatting_is_left_out_and_the_text_arrives(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        for reason in ("can't parse entities: x", "ENTITY_BOUNDS_INVALID", "ENTITIES_TOO_LONG"):
            server.refuse("sendMessage", 400, f"Bad Request: {reason}")
            await deliver(channel, at(7), "**Bold** - step 1.")
    assert [message.text for message in ada.private.from_bot] == ["Bold - step 1."] * 3
    assert all(not message.entities for message in ada.private.from_bot)


async def test_formatting_refused_twice_is_rejected(server: TelegramServer) -> None:
    server.user(7, started=True)
    async with opened(server) as channel:
        server.refuse("sendMessage", 400, "Bad Request: can't parse entities", times=2)
        with pytest.raises(Rejected):
            await deliver(channel, at(7), "**Bold**")


def orders(server: TelegramServer) -> dict[str, tuple[Any, type[SendError]]]:
    """Faults and what a send must say about each."""
    return {
        "refused content": (
            lambda: server.refuse("sendMessage", 400, "Bad Request: BUTTON_DATA_INVALID"),
            Rejected,
        ),
        "too large": (
            lambda: server.refuse("sendMessage", 413, "Request Entity Too Large"),
            Rejected,
        ),
        "no rights": (
            lambda: server.refuse(
                "sendMessage",
                400,
                "Bad Request: not enough rights to send text messages to the chat",
            ),
            Unreachable,
        ),
        "token": (lambda: server.refuse("sendMessage", 401, "Unauthorized"), NotSent),
        "pause of no length": (
            lambda: server.refuse("sendMessage", 429, "Too Many Requests: retry later"),
            NotSent,
        ),
        "no reason": (lambda: server.fail("sendMessage", 400, {"ok": False}), Rejected),
        "gateway": (lambda: server.refuse("sendMessage", 502, "Bad Gateway"), OutcomeUnknown),
        "page": (lambda: server.fail("sendMessage", 504, "<html>"), OutcomeUnknown),
        "garbage": (lambda: server.fail("sendMessage", 200, "garbage"), OutcomeUnknown),
        "cut before": (lambda: server.drop("sendMessage"), OutcomeUnknown),
        "cut after": (lambda: server.drop("sendMessage", stage=Stage.ANSWER), OutcomeUnknown),
    }


@pytest.mark.parametrize(
    "case",
    [
        "refused content",
        "too large",
        "no rights",
        "token",
        "pause of no length",
        "no reason",
        "gateway",
        "page",
        "garbage",
        "cut before",
        "cut after",
    ],
)
async def test_a_failed_send_says_what_is_known_of_its_outcome(
    server: TelegramServer, case: str
) -> None:
    server.user(7, started=True)
    order, expected = orders(server)[case]
    async with opened(server) as channel:
        order()
        with pytest.raises(SendError) as failed:
            await deliver(channel, at(7), "hello")
    assert type(failed.value) is expected
    assert server.token not in str(failed.value)
    assert len(server.requests_of("sendMessage")) <= 1, "never sent again blindly"


async def test_what_never_reached_the_server_is_surely_not_sent(server: TelegramServer) -> None:
    server.user(7, started=True)
    async with opened(server) as channel:
        server.stop()
        await health_says(channel, "cannot be reached")
        with pytest.raises(NotSent):
            await deliver(channel, at(7), "hello")


def test_a_time_out_leaves_the_outcome_open() -> None:
    error = TelegramNetworkError(method=GetMe(), message="Request timeout error")
    error.__cause__ = TimeoutError()
    assert type(send_error(error)) is OutcomeUnknown
    assert reason_of(error) == "TimeoutError"


@pytest.mark.parametrize(
    "error", [ClientDecodeError("x", ValueError("canary"), "canary"), AiogramError("canary")]
)
def test_a_reason_shows_no_payload(error: AiogramError) -> None:
    assert "canary" not in str(send_error(error))


# --- flood control -------------------------------------------------------------------------------


async def test_flood_control_is_told_and_holds_only_its_own_chat(server: TelegramServer) -> None:
    ada, bob = server.user(7, started=True), server.user(8, "Bob", started=True)
    async with opened(server) as channel:
        server.refuse("sendMessage", 429, "Too Many Requests: retry after 2", retry_after=2)
        with pytest.raises(Throttled) as told:
            await deliver(channel, at(7), "one")
        waiting = asyncio.create_task(deliver(channel, at(7), "two"))
        await deliver(channel, at(8), "other")
        await waiting
    refused, other, second = server.requests_of("sendMessage")
    assert told.value.retry_after == 2
    assert [other.json["text"], second.json["text"]] == ["other", "two"]
    assert second.started - refused.started >= 2
    assert [message.text for message in ada.private.from_bot] == ["two"]
    assert [message.text for message in bob.private.from_bot] == ["other"]


async def test_the_rates_of_a_strict_server_are_kept(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    # Twice our own rate and a small reserve: what is left over is for a busy machine.
    server.set_rates(ServerRates(private_per_second=20, private_burst=3, overall_per_second=None))
    async with opened(server, rates=Rates(per_chat=10, per_group_minute=20, overall=30)) as channel:
        for number in range(8):
            await deliver(channel, at(7), str(number))
    assert [message.text for message in ada.private.from_bot] == list("01234567")


# --- typing --------------------------------------------------------------------------------------


async def test_typing_ends_with_its_context_even_while_a_call_hangs(
    server: TelegramServer,
) -> None:
    server.user(7, started=True)
    gate = server.hold("sendChatAction")
    before = asyncio.all_tasks()
    async with opened(server) as channel:
        running = asyncio.all_tasks()
        async with channel.typing(at(7)):
            await gate.wait_reached()
        assert asyncio.all_tasks() == running
        gate.release()
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("status", [403, 429, 500])
async def test_trouble_with_typing_troubles_nobody(server: TelegramServer, status: int) -> None:
    ada = server.user(7, started=True)
    wait = {"retry_after": 9} if status == 429 else {}
    server.refuse("sendChatAction", status, "no", times=None, **wait)
    async with opened(server) as channel, channel.typing(at(7)):
        await server.wait_request("sendChatAction")
        await deliver(channel, at(7), "hello")
    assert ada.private.from_bot[0].text == "hello"


async def test_an_error_inside_the_context_passes_through(server: TelegramServer) -> None:
    async with opened(server) as channel:
        with pytest.raises(ZeroDivisionError):
            async with channel.typing(at(7)):
                raise ZeroDivisionError


# --- before the start and after the end ----------------------------------------------------------


async def test_nothing_is_sent_by_a_closed_door(server: TelegramServer) -> None:
    server.user(7, started=True)
    channel = door(server)
    (part,) = channel.render(Document(markdown="hello"))
    for _ in range(2):
        with pytest.raises(NotSent):
            await channel.send(at(7), part, key="k", reply=False)
        with pytest.raises(NotSent):
            await channel.edit(at(7), "1", part)
        async with channel.typing(at(7)):
            pass
        assert channel.health() is not None
        await channel.start(Inbox(), [])
        await channel.stop()
    assert server.requests_of("sendMessage") == []
    assert server.requests_of("sendChatAction") == []


async def test_a_send_under_way_is_finished_before_the_end(server: TelegramServer) -> None:
    server.user(7, started=True)
    gate = server.hold("sendMessage")
    channel = door(server)
    await channel.start(Inbox(), [])
    sending = asyncio.create_task(deliver(channel, at(7), "hello"))
    await gate.wait_reached()
    stopping = asyncio.create_task(channel.stop())
    await asyncio.sleep(0)
    gate.release()
    await stopping
    assert len(await sending) == 1


async def test_a_send_that_still_waits_for_its_turn_is_not_made_after_the_end(
    server: TelegramServer,
) -> None:
    ada = server.user(7, started=True)
    async with opened(server, rates=Rates(per_chat=4, per_group_minute=20, overall=30)) as channel:
        await deliver(channel, at(7), "one")
        waiting = asyncio.create_task(deliver(channel, at(7), "two"))
        await asyncio.sleep(0)
    with pytest.raises(NotSent):
        await waiting
    assert [message.text for message in ada.private.from_bot] == ["one"]


async def test_a_part_of_another_channel_is_refused_loudly(server: TelegramServer) -> None:
    async with opened(server) as channel:
        with pytest.raises(TypeError):
            await channel.send(at(7), Part(payload="text"), key="k", reply=False)
