"""Sending against the strict server: places, keys, refusals, edits, the sign of work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from bots.feishu.adapter import RATES
from bots.feishu.rest import Rest
from bots.feishu.transport import TYPING
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
from tests.doorway import Inbox, deliver
from tests.feishu.door import at, door, opened
from tests.servers.faults import Stage
from tests.servers.feishu import FeishuServer, Person

CREATE, REPLY, PATCH = "im.v1.message.create", "im.v1.message.reply", "im.v1.message.patch"
TOKEN = "auth.v3.tenant_access_token.internal"
YES = ((Button(label="Yes", action="answer:yes"),),)


@pytest.fixture
def ada(server: FeishuServer) -> Iterator[Person]:
    yield server.user("Ada")


# --- places --------------------------------------------------------------------------------------


async def test_an_answer_quotes_the_question_with_its_first_part(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        asked = ada.say("why?")
        tables = "\n\n".join("|a|b|\n|-|-|\n|1|2|" for _ in range(6))
        receipts = await deliver(channel, at(ada.private, reply_to=asked), tables, reply=True)
    shown = ada.private.from_bot
    assert [message.parent_id for message in shown] == [asked.message_id, None]
    assert [message.thread_id for message in shown] == [None, None]
    assert [receipt.message_id for receipt in receipts] == [one.message_id for one in shown]
    assert {receipt.chat for receipt in receipts} == {ada.private.chat_id}


async def test_every_part_of_an_answer_in_a_topic_stays_in_it(
    server: FeishuServer, ada: Person
) -> None:
    group = server.topic_group("q", ada)
    async with opened(server) as channel:
        topic = group.topic(ada, "@Tutor why?")
        target = at(group, thread=topic.id, reply_to=topic.root)
        tables = "\n\n".join("|a|b|\n|-|-|\n|1|2|" for _ in range(6))
        await deliver(channel, target, tables, reply=True)
    assert [message.thread_id for message in group.from_bot] == [topic.id, topic.id]


async def test_a_topic_is_found_without_a_message_to_answer(
    server: FeishuServer, ada: Person
) -> None:
    group = server.topic_group("q", ada)
    async with opened(server) as channel:
        topic = group.topic(ada, "@Tutor why?")
        await deliver(channel, at(group, thread=topic.id), "hello")
        assert group.from_bot[0].thread_id == topic.id
        with pytest.raises(SendError):
            await deliver(channel, at(group, thread="omt_none"), "hello", key="other")


async def test_a_question_taken_back_is_answered_all_the_same(
    server: FeishuServer, ada: Person
) -> None:
    group = server.topic_group("q", ada)
    async with opened(server) as channel:
        asked = ada.say("why?")
        ada.private.recall(asked)
        await deliver(channel, at(ada.private, reply_to=asked), "because", reply=True)
        topic = group.topic(ada, "@Tutor why?")
        second = topic.say(ada, "@Tutor and?")
        group.recall(second)
        there = at(group, thread=topic.id, reply_to=second)
        await deliver(channel, there, "because", reply=True, key="other")
    assert ada.private.from_bot[0].text == "because"
    assert group.from_bot[0].thread_id == topic.id


# --- keys ----------------------------------------------------------------------------------------


async def test_the_same_key_shows_a_message_once(server: FeishuServer, ada: Person) -> None:
    async with opened(server) as channel:
        server.drop(CREATE, stage=Stage.ANSWER)
        with pytest.raises(OutcomeUnknown):
            await deliver(channel, at(ada.private), "hello", key="01J" + "0" * 60)
        assert len(ada.private.from_bot) == 1
        (again,) = await deliver(channel, at(ada.private), "hello", key="01J" + "0" * 60)
    assert [message.message_id for message in ada.private.from_bot] == [again.message_id]
    assert all(len(request.json["uuid"]) <= 50 for request in server.requests_of(CREATE))


async def test_leaving_is_told_once_and_may_keep_a_part_here(
    server: FeishuServer, ada: Person
) -> None:
    told: list[int] = []

    async def leaving() -> None:
        told.append(len(server.requests_of(CREATE)))

    async def refusing() -> None:
        raise KeyError("taken elsewhere")

    async with opened(server) as channel:
        (part,) = channel.render(Document(markdown="hello"))
        server.invalidate_tokens()
        await channel.send(at(ada.private), part, key="a", reply=False, leaving=leaving)
        with pytest.raises(KeyError):
            await channel.send(at(ada.private), part, key="b", reply=False, leaving=refusing)
    assert told == [0]
    assert len(ada.private.from_bot) == 1


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (99991400, Throttled),
        (230020, Throttled),
        (99991672, NotSent),
        (230006, NotSent),
        (230002, Unreachable),
        (230013, Unreachable),
        (230034, Unreachable),
        (230053, Unreachable),
        (232009, Unreachable),
        (230049, OutcomeUnknown),
        (230054, Rejected),
        (99992402, Rejected),
    ],
)
async def test_each_refusal_says_what_may_be_done(
    server: FeishuServer, ada: Person, code: int, kind: type[SendError]
) -> None:
    async with opened(server) as channel:
        server.refuse(CREATE, code)
        with pytest.raises(SendError) as told:
            await deliver(channel, at(ada.private), "hello")
    assert type(told.value) is kind


async def test_a_chat_that_is_closed_to_us_is_told_so(server: FeishuServer, ada: Person) -> None:
    group, other = server.group("g", ada), server.group("h", ada)
    group.kick_bot(ada)
    other.dissolve()
    ada.available = False
    async with opened(server) as channel:
        for chat in (group, other, ada.private):
            with pytest.raises(Unreachable):
                await deliver(channel, at(chat), "hello")


async def test_a_broken_server_leaves_the_outcome_unknown(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        server.fail(CREATE, 502, "<html>Bad Gateway</html>")
        with pytest.raises(OutcomeUnknown):
            await deliver(channel, at(ada.private), "hello")
        server.fail(CREATE, 200, {"code": 0, "msg": "success", "data": {}})
        with pytest.raises(OutcomeUnknown):
            await deliver(channel, at(ada.private), "hello")


async def test_what_never_reached_the_server_was_not_sent(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        target = at(ada.private)
        server.stop()
        with pytest.raises(SendError) as told:
            await deliver(channel, target, "hello")
        assert type(told.value) in (NotSent, OutcomeUnknown)  # a kept connection breaks midway
        with pytest.raises(NotSent):
            await deliver(channel, target, "hello")
        server.start()
        await deliver(channel, target, "hello")
    assert len(ada.private.from_bot) == 1


async def test_flood_control_holds_the_chat_back_and_no_other(
    server: FeishuServer, ada: Person
) -> None:
    bob = server.user("Bob")
    limited = {"code": 99991400, "msg": "request trigger frequency limit"}
    async with opened(server) as channel:
        server.fail(CREATE, 429, limited, headers={"x-ogw-ratelimit-reset": "60"})
        with pytest.raises(Throttled) as told:
            await deliver(channel, at(ada.private), "hello")
        assert told.value.retry_after == 60.0
        later = asyncio.create_task(deliver(channel, at(ada.private), "hello"))
        await deliver(channel, at(bob.private), "hello", key="bob")
        assert not later.done()
        later.cancel()
    assert (len(ada.private.from_bot), len(bob.private.from_bot)) == (0, 1)


async def test_the_usual_rates_are_kept_without_a_refusal() -> None:
    with FeishuServer() as server:
        ada = server.user("Ada")
        async with opened(server, rates=RATES) as channel:
            (part,) = channel.render(Document(markdown="hello"))
            await asyncio.gather(
                *(
                    channel.send(at(ada.private), part, key=f"k{number}", reply=False)
                    for number in range(8)
                )
            )
        assert len(ada.private.from_bot) == 8


# --- the token -----------------------------------------------------------------------------------


async def test_a_token_is_fetched_once_and_replaced_when_it_is_worthless(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        await asyncio.gather(
            *(deliver(channel, at(ada.private), "hello", key=f"k{n}") for n in range(5))
        )
        assert len(server.requests_of(TOKEN)) == 1
        server.invalidate_tokens()
        await asyncio.gather(
            *(deliver(channel, at(ada.private), "hello", key=f"l{n}") for n in range(5))
        )
        assert len(server.requests_of(TOKEN)) == 2
    assert len(ada.private.from_bot) == 10


async def test_a_token_is_replaced_before_it_ends(server: FeishuServer) -> None:
    now = [0.0]
    rest = Rest(server.app_id, SecretStr(server.app_secret), server.url, clock=lambda: now[0])
    try:
        for seconds, fetched in ((0, 1), (6599, 1), (6600, 2), (6601, 2)):
            now[0] = float(seconds)
            await rest.call("GET", "/bot/v3/info")
            assert len(server.requests_of(TOKEN)) == fetched, seconds
    finally:
        await rest.close()


async def test_a_token_that_stays_worthless_is_tried_twice(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        server.refuse(CREATE, 99991663, times=None)
        with pytest.raises(NotSent):
            await deliver(channel, at(ada.private), "hello")
    assert len(server.requests_of(CREATE)) == 2


async def test_without_a_token_nothing_was_sent(server: FeishuServer, ada: Person) -> None:
    async with opened(server) as channel:
        server.invalidate_tokens()
        server.fail(TOKEN, 502, "<html>Bad Gateway</html>")
        with pytest.raises(NotSent):
            await deliver(channel, at(ada.private), "hello")
        await deliver(channel, at(ada.private), "hello")
    assert len(ada.private.from_bot) == 1


# --- cards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [230099, 230001, 230025])
async def test_a_card_that_is_refused_goes_out_as_text(
    server: FeishuServer, ada: Person, code: int
) -> None:
    async with opened(server) as channel:
        server.refuse(CREATE, code)
        await deliver(channel, at(ada.private), '**Hello** <at user_id="all">all</at>')
        (shown,) = ada.private.from_bot
        assert shown.kind == "text"
        assert shown.text.startswith("Hello <\u2060at")
        assert shown.mentions == []
        server.refuse(CREATE, code, times=2)
        with pytest.raises(Rejected):
            await deliver(channel, at(ada.private), "hello", key="other")


async def test_an_edit_replaces_words_and_buttons(server: FeishuServer, ada: Person) -> None:
    async with opened(server) as channel:
        (sent,) = await deliver(channel, at(ada.private), "Ready?", buttons=YES)
        (part,) = channel.render(Document(markdown="Good."))
        await channel.edit(at(ada.private), sent.message_id, part)
    (shown,) = ada.private.from_bot
    assert (shown.text, shown.labels) == ("Good.", [])


async def test_an_edit_waits_until_the_press_is_answered(server: FeishuServer, ada: Person) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with opened(server, inbox) as channel:
        (sent,) = await deliver(channel, at(ada.private), "Ready?", buttons=YES)
        press = ada.private.press(ada.private.from_bot[0], "Yes")
        await inbox.wait_offered(1)
        (part,) = channel.render(Document(markdown="Good."))
        edit = asyncio.create_task(channel.edit(at(ada.private), sent.message_id, part))
        await server.wait_request(PATCH)
        inbox.open.set()
        await edit
        await press.wait_answered()
    assert press.error is None
    assert ada.private.from_bot[0].text == "Good."


async def test_what_cannot_be_edited_is_said_anew_by_the_house(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        server.refuse(CREATE, 230099)
        (text,) = await deliver(channel, at(ada.private), "plain")
        (part,) = channel.render(Document(markdown="Good."))
        with pytest.raises(Rejected):
            await channel.edit(at(ada.private), text.message_id, part)
        (gone,) = await deliver(channel, at(ada.private), "card", key="other")
        ada.private.recall(ada.private.from_bot[-1])
        with pytest.raises(Rejected):
            await channel.edit(at(ada.private), gone.message_id, part)
        (old,) = await deliver(channel, at(ada.private), "card", key="old")
        server.pass_time(15 * 86_400)
        with pytest.raises(Rejected):
            await channel.edit(at(ada.private), old.message_id, part)


# --- the sign ------------------------------------------------------------------------------------


async def test_a_reaction_shows_while_we_work_and_goes(server: FeishuServer, ada: Person) -> None:
    async with opened(server) as channel:
        asked = ada.say("why?")
        async with channel.typing(at(ada.private, reply_to=asked)):
            assert (await ada.private.wait_reaction(asked)).emoji == TYPING
    assert ada.private.now(asked).emojis == []


async def test_a_sign_that_cannot_be_shown_or_taken_away_harms_nothing(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        asked = ada.say("why?")
        server.revoke_scopes("im:message", "im:message.reactions:write_only")
        async with channel.typing(at(ada.private, reply_to=asked)):
            await server.wait_request("im.v1.message_reaction.create")
        async with channel.typing(at(ada.private)):
            pass
        server.grant_scopes("im:message")
        server.fail("im.v1.message_reaction.delete", 500, "broken")
        async with channel.typing(at(ada.private, reply_to=asked)):
            await ada.private.wait_reaction(asked)


async def test_a_sign_delays_nothing(server: FeishuServer, ada: Person) -> None:
    async with opened(server) as channel:
        asked = ada.say("why?")
        gate = server.hold("im.v1.message_reaction.create")
        async with asyncio.timeout(1), channel.typing(at(ada.private, reply_to=asked)):
            await gate.wait_reached()
        gate.release()


# --- the end -------------------------------------------------------------------------------------


async def test_a_stop_lets_a_send_finish_and_refuses_the_next(
    server: FeishuServer, ada: Person
) -> None:
    channel = door(server)
    (part,) = channel.render(Document(markdown="hello"))
    with pytest.raises(NotSent):
        await channel.send(at(ada.private), part, key="a", reply=False)
    await channel.start(Inbox(), ())
    gate = server.hold(CREATE)
    sending = asyncio.create_task(channel.send(at(ada.private), part, key="b", reply=False))
    await gate.wait_reached()
    stopping = asyncio.create_task(channel.stop())
    gate.release()
    await sending
    await stopping
    with pytest.raises(NotSent):
        await channel.send(at(ada.private), part, key="c", reply=False)
    assert len(ada.private.from_bot) == 1


async def test_a_part_of_another_channel_is_no_part_of_this(
    server: FeishuServer, ada: Person
) -> None:
    async with opened(server) as channel:
        with pytest.raises(TypeError):
            await channel.send(at(ada.private), Part(payload="text"), key="a", reply=False)
