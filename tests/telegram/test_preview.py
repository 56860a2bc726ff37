"""An answer grows before the learner's eyes, and ends as one message, whatever happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from core.channel import Watch
from core.context import ReplyTarget
from core.document import Document
from core.events import Content
from tests.doorway import Handles
from tests.servers.faults import Stage
from tests.servers.telegram import TelegramServer
from tests.telegram.door import at, opened


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        yield server


@asynccontextmanager
async def preview(
    server: TelegramServer, target: ReplyTarget, handle: str | None = None
) -> AsyncIterator[tuple[Watch, Handles]]:
    handles = Handles()
    async with (
        opened(server) as channel,
        channel.preview(target, key="preview:1", handle=handle, shown=handles) as watch,
    ):
        yield watch, handles


async def test_in_private_a_draft_grows_and_leaves_nothing(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    async with preview(server, at(7)) as (watch, handles):
        watch(Content("**Think", 1))
        await server.wait_request("sendMessageDraft")
        watch(Content(" of it** first", 1))
        await server.wait_request("sendMessageDraft", count=2)
    drafts = server.requests_of("sendMessageDraft")
    assert drafts[-1].json["text"] == "Think of it first"
    assert len({draft.json["draft_id"] for draft in drafts}) == 1
    assert handles.told == []
    assert ada.private.from_bot == []


async def test_in_a_group_one_message_grows_and_the_answer_takes_its_place(
    server: TelegramServer,
) -> None:
    ada, group = server.user(7), server.supergroup()
    asked = group.say(ada, "@tutor_bot why?")
    target = at(group.id, reply_to=asked.message_id)
    async with preview(server, target) as (watch, handles):
        watch(Content("Half of", 1))
        await handles.came.wait()
        watch(Content("Another try", 2))
    [shown] = group.from_bot
    assert (shown.text, shown.reply_to) == ("Half of", asked.message_id)
    async with opened(server) as channel:
        [part] = channel.render(Document(markdown="The whole answer."))
        sent = await channel.conclude(target, handles.told[0], part)
    [shown] = group.from_bot
    assert shown.text == "The whole answer."
    assert sent.message_id == str(shown.message_id)


async def test_a_preview_of_before_a_restart_is_gone_on_with(server: TelegramServer) -> None:
    ada, group = server.user(7), server.supergroup()
    group.say(ada, "@tutor_bot why?")
    async with preview(server, at(group.id)) as (watch, handles):
        watch(Content("Half of", 1))
        await handles.came.wait()
    async with preview(server, at(group.id), handles.told[0]) as (watch, again):
        watch(Content("Once more from the beginning", 1))
        await server.wait_request("editMessageText", count=2)
    assert again.told == []
    [shown] = group.from_bot
    assert shown.text == "Once more from the beginning"


async def test_a_preview_without_a_receipt_is_no_half_of_an_answer(
    server: TelegramServer,
) -> None:
    ada, group = server.user(7), server.supergroup()
    group.say(ada, "@tutor_bot why?")
    server.drop("sendMessage", stage=Stage.ANSWER)
    async with preview(server, at(group.id)) as (watch, handles):
        watch(Content("Half of", 1))
        await server.wait_request("sendMessage")
        watch(Content(" an answer", 1))
    assert handles.told == []
    assert [m.text for m in group.from_bot] == ["…"]


async def test_flood_control_drops_previews_and_delays_no_end(server: TelegramServer) -> None:
    server.user(7, started=True)
    server.refuse("sendMessageDraft", 429, "Too Many Requests: retry after 30", retry_after=30)
    async with preview(server, at(7)) as (watch, _):
        watch(Content("Half of", 1))
        await server.wait_request("sendMessageDraft")
        watch(Content(" an answer", 1))
    assert len(server.requests_of("sendMessageDraft")) == 1


async def test_a_server_that_knows_no_drafts_is_asked_once_and_then_sees_edits(
    server: TelegramServer,
) -> None:
    ada = server.user(7, started=True)
    unknown = {"ok": False, "error_code": 404, "description": "Not Found"}
    server.fail("sendMessageDraft", 404, unknown, times=None)
    handles = Handles()
    async with opened(server) as channel:
        for number in range(2):
            async with channel.preview(
                at(7), key=f"preview:{number}", handle=None, shown=handles
            ) as watch:
                watch(Content("Half of", 1))
                await server.wait_request(("sendMessageDraft", "sendMessage")[number])
    assert len(server.requests_of("sendMessageDraft")) == 1
    assert [m.text for m in ada.private.from_bot] == ["Half of"]
    assert len(handles.told) == 1


async def test_a_preview_never_outgrows_one_message(server: TelegramServer) -> None:
    ada, group = server.user(7), server.supergroup()
    group.say(ada, "@tutor_bot why?")
    async with preview(server, at(group.id)) as (watch, handles):
        watch(Content("word " * 100, 1))
        await handles.came.wait()
        watch(Content("word " * 2000, 1))
    assert len(group.from_bot) == 1


async def test_nothing_is_shown_before_there_is_something_to_see(server: TelegramServer) -> None:
    server.user(7, started=True)
    async with preview(server, at(7)) as (watch, _):
        watch(Content("  \n", 1))
        watch(Content("\u200b", 1))
    assert server.requests_of("sendMessageDraft") == []
