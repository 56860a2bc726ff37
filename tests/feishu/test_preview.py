"""An answer streams into a card, and ends as that card, whatever happens."""

from __future__ import annotations

import asyncio

import pytest

from core.channel import Rejected
from core.document import Button, Document
from core.events import Content
from tests.feishu.door import Inbox, at, opened
from tests.servers.feishu import FeishuServer

CREATE = "cardkit.v1.card.create"
GROW = "cardkit.v1.card_element.content"


class Handles:
    """What the house is told of previews that became messages."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.came = asyncio.Event()

    async def __call__(self, handle: str) -> None:
        self.told.append(handle)
        self.came.set()


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
