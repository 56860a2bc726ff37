"""An answer grows in a message that is edited, and ends as that message."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from bots.discord.pace import PreviewPace
from core.channel import Rejected, Throttled
from core.document import Button, Document
from core.events import Content
from tests.discord.door import MENUS, opened
from tests.doorway import Handles, Inbox
from tests.servers.discord import DiscordServer
from tests.servers.faults import Stage


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


async def test_one_message_grows_and_the_answer_takes_its_place(server: DiscordServer) -> None:
    ada, inbox, handles = server.user(7, "Ada"), Inbox(), Handles()
    async with opened(server, inbox, preview_seconds=0) as channel:
        asked = ada.say("why?")
        [message] = await inbox.wait(1)
        target = message.target
        for _ in range(2):  # the second as after a kill that came before the handle was noted
            async with channel.preview(target, key="p", handle=None, shown=handles) as watch:
                watch(Content("Half of @everyone", 1))
                await handles.came.wait()
                handles.came.clear()
        [shown] = ada.private.from_bot
        assert shown.text.replace("\u2060", "") == "Half of @everyone"
        assert shown.reply_to == asked.message_id
        assert not shown.pinged
        buttons = ((Button(label="More", action="more:1"),),)
        [part] = channel.render(Document(markdown="The **whole** answer.", buttons=buttons))
        sent = await channel.conclude(target, handles.told[0], part)
        [shown] = ada.private.from_bot
        assert (shown.text, shown.labels) == ("The **whole** answer.", ["More"])
        assert sent.message_id == str(shown.message_id)
        ada.private.remove(shown)
        with pytest.raises(Rejected):
            await channel.conclude(target, handles.told[0], part)


async def test_one_without_a_receipt_is_found_again_however_soon_the_answer_ends(
    server: DiscordServer,
) -> None:
    ada, inbox, handles = server.user(7, "Ada"), Inbox(), Handles()
    async with opened(server, inbox, preview_seconds=0.2) as channel:
        ada.say("why?")
        [message] = await inbox.wait(1)
        server.drop("createMessage", stage=Stage.ANSWER)
        async with channel.preview(message.target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half of", 1))
            await server.wait_request("createMessage")
        [shown] = ada.private.from_bot
        assert handles.told == [str(shown.message_id)]


async def test_it_stands_still_once_it_would_be_two_messages(server: DiscordServer) -> None:
    ada, inbox, handles = server.user(7, "Ada"), Inbox(), Handles()
    async with opened(server, inbox) as channel:
        ada.say("why?")
        [message] = await inbox.wait(1)
        async with channel.preview(message.target, key="p", handle=None, shown=handles) as watch:
            watch(Content("word " * 100, 1))
            await handles.came.wait()
            watch(Content("word " * 900, 1))
        assert len(ada.private.from_bot) == 1


async def test_the_answer_to_a_command_has_no_preview(server: DiscordServer) -> None:
    ada, inbox, handles = server.user(7, "Ada"), Inbox(), Handles()
    async with opened(server, inbox, menus=MENUS) as channel:
        ada.private.slash(ada, "help")
        [command] = await inbox.wait(1)
        async with channel.preview(command.target, key="p", handle=None, shown=handles) as watch:
            watch(Content("Half of", 1))
        assert server.requests_of("createMessage") == []


async def test_previews_of_one_chat_share_its_pace_and_hold_no_other() -> None:
    moment = [0.0]
    pace = PreviewPace(1.5, lambda: moment[0])
    pace.take("a")
    pace.take("b")
    with pytest.raises(Throttled) as told:
        pace.take("a")
    assert told.value.retry_after == 1.5
    moment[0] = 1.5
    pace.take("a")
    with pytest.raises(Throttled):
        pace.take("a")


async def test_two_answers_that_grow_in_one_chat_wait_for_each_other(
    server: DiscordServer,
) -> None:
    ada, inbox, handles = server.user(7, "Ada"), Inbox(), Handles()
    async with opened(server, inbox) as channel:
        ada.say("why?")
        [message] = await inbox.wait(1)
        first = channel.preview(message.target, key="p", handle=None, shown=handles)
        second = channel.preview(message.target, key="q", handle=None, shown=Handles())
        async with first as watch, second as other:
            watch(Content("One", 1))
            await handles.came.wait()
            other(Content("Two", 1))
            await asyncio.sleep(0)
        assert [m.text for m in ada.private.from_bot] == ["One"]
