"""An answer streams into a card, and ends as that card, whatever happens."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from bots.feishu.sequences import Sequences
from core.channel import Rejected
from core.document import Button, Document
from core.events import Content, Thinking
from tests.doorway import Handles, Inbox
from tests.feishu.door import at, opened
from tests.house.indoors import MovableClock
from tests.servers.faults import Stage
from tests.servers.feishu import FeishuServer

CREATE = "cardkit.v1.card.create"
SHOW = "im.v1.message.reply"
GROW = "cardkit.v1.card_element.content"


async def test_a_card_streams_and_the_answer_takes_its_place(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    asked = ada.say("why?")
    target = at(ada.private, reply_to=asked)
    async with opened(server) as channel:
        async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half **of", 1))
            await handles.came.wait()
            watch(Content(" an** answer", 1))
            await server.wait_request(GROW)
        [shown] = [m for m in ada.private.messages if m.from_bot]
        assert shown.content["config"]["streaming_mode"] is True
        assert "answer" in shown.text
        buttons = ((Button(label="More", action="more:1"),),)
        [part] = channel.render(Document(markdown="The **whole** answer.", buttons=buttons))
        sent = await channel.conclude(target, handles.told[0], part)
    [shown] = [m for m in ada.private.messages if m.from_bot]
    assert sent.message_id == shown.message_id
    assert shown.text.startswith("The **whole** answer.")
    assert shown.labels == ["More"]
    assert not shown.content["config"].get("streaming_mode")


async def test_nothing_is_shown_before_the_first_word(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    async with opened(server) as channel:
        async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
            watch(Thinking("let me see"))
            watch(Content(" \n", 1))
        async with channel.preview(target, key="q", handle=None, shown=handles) as watch:
            watch(Content("Half", 1))
            await handles.came.wait()
    assert len(server.requests_of(CREATE)) == 1
    assert len(handles.told) == 1


async def test_each_step_shows_the_whole_text_so_far_once(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    async with (
        opened(server) as channel,
        channel.preview(target, key="p", handle=None, shown=handles) as watch,
    ):
        watch(Content("One", 1))
        await handles.came.wait()
        for count, word in enumerate((" two", " three"), start=1):
            watch(Content(word, 1))
            await server.wait_request(GROW, count=count)
        watch(Content("Anew", 2))
        await server.wait_request(GROW, count=3)
    grown = [request.json for request in server.requests_of(GROW)]
    assert [step["content"] for step in grown] == ["One two", "One two three", "Anew"]
    sequences = [step["sequence"] for step in grown]
    assert sequences == sorted(set(sequences))


async def test_sequences_rise_whoever_asks_and_after_a_restart() -> None:
    clock = MovableClock(datetime(2026, 12, 1, tzinfo=UTC))
    sequences = Sequences(clock)
    busy: list[int] = []
    given: list[int] = []

    async def change() -> None:
        async with sequences.next("card") as number:
            assert busy == [], "two changes of one card at once"
            busy.append(number)
            await asyncio.sleep(0)
            given.append(busy.pop())

    await asyncio.gather(*(change() for _ in range(20)))
    assert given == sorted(set(given))
    async with sequences.next("other") as other, sequences.next("card") as number:
        assert other <= given[0], "each card counts for itself"
        assert number > given[-1]
    clock.advance(seconds=10)
    async with Sequences(clock).next("card") as later:
        assert number < later < 2**31


async def test_a_card_of_before_a_restart_is_gone_on_with(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    for handle in (None, "told"):
        async with (
            opened(server) as channel,
            channel.preview(
                target, key="p", handle=handle and handles.told[0], shown=handles
            ) as watch,
        ):
            watch(Content("Half of", 1))
            await server.wait_request(GROW if handle else CREATE)
            if not handle:
                await handles.came.wait()
    assert len(handles.told) == 1
    assert len([m for m in ada.private.messages if m.from_bot]) == 1


@pytest.mark.parametrize("killed", [True, False])
async def test_a_card_whose_receipt_was_lost_is_the_one_that_goes_on(
    server: FeishuServer, killed: bool
) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    if killed:
        async with (
            opened(server) as channel,
            channel.preview(target, key="p", handle=None, shown=Handles()) as watch,
        ):
            watch(Content("Half of", 1))
            await server.wait_request(SHOW)
    else:
        server.drop(SHOW, stage=Stage.ANSWER)
    async with opened(server) as channel:
        async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half of", 1))
            await handles.came.wait()
            watch(Content(" an answer", 1))
            await server.wait_request(GROW)
            await server.wait_for(lambda: "an answer" in ada.private.from_bot[0].text)
        [part] = channel.render(Document(markdown="The whole answer."))
        await channel.conclude(target, handles.told[0], part)
    [shown] = ada.private.from_bot
    assert (shown.text, shown.streaming) == ("The whole answer.", False)


async def test_an_app_without_the_right_to_stream_is_asked_once(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    server.revoke_scopes("cardkit:card:write")
    async with opened(server) as channel:
        for _ in range(2):
            async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
                watch(Content("Half of", 1))
                await server.wait_request(CREATE)
    assert len(server.requests_of(CREATE)) == 1
    assert handles.told == []


async def test_a_card_that_is_no_more_is_taken_back_for_a_new_answer(server: FeishuServer) -> None:
    ada, handles = server.user("Ada"), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    async with opened(server) as channel:
        async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half of", 1))
            await handles.came.wait()
        server.state.entities.clear()
        [part] = channel.render(Document(markdown="The whole answer."))
        with pytest.raises(Rejected):
            await channel.conclude(target, handles.told[0], part)
    assert [m for m in ada.private.messages if m.from_bot] == []


async def test_previews_never_hold_an_answer_up_under_flood_control(server: FeishuServer) -> None:
    ada, inbox, handles = server.user("Ada"), Inbox(), Handles()
    target = at(ada.private, reply_to=ada.say("why?"))
    server.refuse(CREATE, 99991400)
    async with opened(server, inbox) as channel:
        async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half of", 1))
            await server.wait_request(CREATE)
        assert handles.told == []
