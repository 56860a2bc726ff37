"""Receiving through the real library: nothing is acknowledged before it is stored."""

from __future__ import annotations

import asyncio
import gc
import logging
import warnings
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from bots.telegram.adapter import TelegramChannel
from core.channel import ChannelStartError
from core.commands.declare import Menu
from core.context import Command, Press, Text
from core.document import Button
from core.i18n import words_for
from tests.doorway import Inbox, deliver, health_says
from tests.servers.telegram import TelegramServer
from tests.telegram.door import at, door, opened

YES = ((Button(label="Yes", action="answer:yes"),),)


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        yield server


# --- acknowledged means stored -------------------------------------------------------------------


async def test_an_update_is_confirmed_only_after_it_is_committed(server: TelegramServer) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with opened(server, inbox):
        asked = server.user(7).say("hello")
        await inbox.wait_offered(1)
        assert asked.update in server.pending_updates
        inbox.open.set()
        await server.wait_confirmed(asked)
    assert [message.content for message in inbox.messages] == [Text(text="hello")]


async def test_what_could_not_be_stored_comes_again_until_it_can(server: TelegramServer) -> None:
    inbox = Inbox()
    inbox.refusals = 10**9
    async with opened(server, inbox) as channel:
        asked = server.user(7).say("hello")
        await inbox.wait_offered(3)
        await health_says(channel, "cannot be stored")
        assert asked.update in server.pending_updates
        inbox.refusals = 0
        await server.wait_confirmed(asked)
        await health_says(channel, None)
    assert len(inbox.messages) == 1


async def test_what_was_not_stored_before_a_stop_comes_after_the_next_start(
    server: TelegramServer,
) -> None:
    first, second = Inbox(), Inbox()
    first.refusals = 10**9
    async with opened(server, first):
        server.user(7).say("hello")
        await first.wait_offered(1)
    async with opened(server, second):
        assert (await second.wait(1))[0].content == Text(text="hello")


async def test_a_redelivered_update_keeps_its_identity(server: TelegramServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox):
        asked = server.user(7).say("hello")
        await server.wait_confirmed(asked)
        server.redeliver(asked)
        first, second = await inbox.wait(2)
    assert first == second


async def test_an_update_that_cannot_be_read_holds_no_other(
    server: TelegramServer, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    inbox.open.clear()
    ada = server.user(7)
    async with opened(server, inbox) as channel:
        ada.say("first")
        await inbox.wait_offered(1)
        ada.say("before")
        server.push_raw({"message": {"text": "canary"}})
        server.push_raw({"message": "canary"})
        server.push_raw({"callback_query": {"data": "canary"}})
        ada.say("after")
        last = server.push_raw({"message": ["canary"]})
        with caplog.at_level(logging.DEBUG):
            inbox.open.set()
            await server.wait_confirmed(last)
        assert channel.health() is None
    said = [message.content for message in inbox.messages]
    assert said == [Text(text="first"), Text(text="before"), Text(text="after")]
    assert caplog.text.count("skipped an update") == 4
    assert "canary" not in caplog.text


async def test_updates_without_a_number_do_not_silence_the_rest(server: TelegramServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        server.push_raw({"update_id": "nonsense"})
        await health_says(channel, "cannot be read")
        server.user(7).say("hello")
        await inbox.wait(1)


async def test_only_the_updates_we_read_are_asked_for(server: TelegramServer) -> None:
    async with opened(server):
        await server.wait_polling()
    asked = server.requests_of("getUpdates")[0].json
    assert set(asked["allowed_updates"]) == {
        "message",
        "edited_message",
        "callback_query",
        "my_chat_member",
    }


# --- trouble and recovery ------------------------------------------------------------------------


async def test_a_rival_is_named_and_outlived(server: TelegramServer) -> None:
    inbox = Inbox()
    rule = "Conflict: terminated by other getUpdates request"
    async with opened(server, inbox) as channel:
        ada = server.user(7)
        await server.wait_polling()
        server.refuse("getUpdates", 409, rule, times=None)
        ada.say("hello")
        await inbox.wait(1)  # the poll that stood open brings it
        await health_says(channel, "Another program")
        server.clear_faults()
        await health_says(channel, None)
        ada.say("again")
        await inbox.wait(2)


async def test_a_webhook_in_the_way_is_removed_at_start_and_later(server: TelegramServer) -> None:
    inbox = Inbox()
    server.state.updates.set_webhook("https://example.org/hook")
    async with opened(server, inbox) as channel:
        await server.wait_polling()
        server.state.updates.set_webhook("https://example.org/hook")
        server.user(7).say("hello")
        await inbox.wait(1)
        await health_says(channel, None)


async def test_a_broken_poll_is_taken_up_again(server: TelegramServer) -> None:
    inbox = Inbox()
    gate = server.hold("getUpdates")
    async with opened(server, inbox) as channel:
        server.user(7).say("hello")
        await gate.wait_reached()
        server.drop("getUpdates", times=2)
        server.fail("getUpdates", 502, "<html>Bad Gateway</html>")
        server.refuse("getUpdates", 500, "Internal Server Error")
        gate.drop()
        assert (await inbox.wait(1))[0].content == Text(text="hello")
        await health_says(channel, None)
    assert len(inbox.messages) == 1


async def test_a_server_that_is_away_is_told_and_found_again(server: TelegramServer) -> None:
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        await server.wait_polling()
        server.stop()
        await health_says(channel, "cannot be reached")
        server.start()
        await health_says(channel, None)
        server.user(7).say("hello")
        await inbox.wait(1)


async def test_a_pause_that_is_asked_for_is_kept(server: TelegramServer) -> None:
    server.refuse("getUpdates", 429, "Too Many Requests: retry after 1", retry_after=1)
    async with opened(server):
        await server.wait_polling()
    refused, next_one = server.requests_of("getUpdates")[:2]
    assert next_one.started - refused.started >= 1


async def test_a_token_withdrawn_later_is_told(server: TelegramServer) -> None:
    async with opened(server) as channel:
        server.refuse("getUpdates", 401, "Unauthorized", times=None)
        server.user(7).say("hello")
        await health_says(channel, "TELEGRAM_BOT_TOKEN")


# --- start ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["42:WRONG", "no token", "42"])
async def test_a_wrong_token_is_told_with_the_way_out(server: TelegramServer, token: str) -> None:
    channel = TelegramChannel(SecretStr(token), words=words_for("en"), api_base=server.url)
    with pytest.raises(ChannelStartError, match=r"TELEGRAM_BOT_TOKEN.*@BotFather"):
        await channel.start(Inbox(), [])
    assert channel.health() is not None
    await channel.stop()


async def test_a_server_out_of_reach_is_told_without_the_token(server: TelegramServer) -> None:
    url = server.url
    server.stop()
    channel = TelegramChannel(SecretStr("42:SECRET"), words=words_for("en"), api_base=url)
    with pytest.raises(ChannelStartError, match="cannot be reached") as told:
        await channel.start(Inbox(), [])
    assert url in str(told.value)
    assert "SECRET" not in str(told.value)


async def test_the_account_is_the_bot(server: TelegramServer) -> None:
    async with opened(server) as channel:
        assert (channel.name, channel.account) == ("telegram", "42")
        assert channel.health() is None


MENUS = (
    Menu("en", (("help", "What I can do"), ("add", "Add a card"))),
    Menu("zh", (("help", "我能做什么"),)),
)


async def test_menus_are_registered_in_every_language_and_for_all_others(
    server: TelegramServer,
) -> None:
    async with opened(server, menus=MENUS):
        assert server.commands() == ["help", "add"]
        assert server.commands("en") == ["help", "add"]
        assert server.commands("zh") == ["help"]


async def test_a_menu_that_is_refused_stops_neither_the_others_nor_the_tutor(
    server: TelegramServer,
) -> None:
    broken = Menu("en", (("NOT A NAME", "x"),))
    inbox = Inbox()
    async with opened(server, inbox, menus=(broken, MENUS[1])):
        assert server.commands("zh") == ["help"]
        server.user(7).say("/help")
        assert (await inbox.wait(1))[0].content == Command(name="help")


# --- buttons -------------------------------------------------------------------------------------


async def test_a_press_is_answered_once_and_only_when_it_is_committed(
    server: TelegramServer,
) -> None:
    inbox = Inbox()
    ada = server.user(7, started=True)
    async with opened(server, inbox) as channel:
        await deliver(channel, at(7), "Ready?", buttons=YES)
        inbox.refusals = 3
        press = ada.private.press(ada.private.from_bot[0], "Yes")
        await inbox.wait(1)
        await press.wait_answered()
    assert len(inbox.offered) == 4
    assert len(server.requests_of("answerCallbackQuery")) == 1
    assert isinstance(inbox.messages[0].content, Press)
    assert inbox.messages[0].content.action == "answer:yes"


async def test_an_answer_that_comes_too_late_or_never_holds_nothing(
    server: TelegramServer,
) -> None:
    inbox = Inbox()
    ada = server.user(7, started=True)
    async with opened(server, inbox) as channel:
        await deliver(channel, at(7), "Ready?", buttons=YES)
        gate = server.hold("answerCallbackQuery")
        ada.private.press(ada.private.from_bot[0], "Yes")
        await gate.wait_reached()
        ada.private.press(ada.private.from_bot[0], "Yes").expire()
        ada.say("next")
        await inbox.wait(3)
        await server.wait_request("answerCallbackQuery", count=2)
        gate.release()
        assert channel.health() is None


# --- the end -------------------------------------------------------------------------------------


async def test_stop_leaves_nothing_behind_and_may_be_called_twice(server: TelegramServer) -> None:
    before = asyncio.all_tasks()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        channel = door(server)
        await channel.start(Inbox(), MENUS)
        await server.wait_polling()
        async with channel.typing(at(7)):
            await channel.stop()
            await channel.stop()
        del channel
        gc.collect()
    assert [warning for warning in caught if issubclass(warning.category, ResourceWarning)] == []
    assert asyncio.all_tasks() == before


async def test_a_start_that_fails_leaves_nothing_behind(server: TelegramServer) -> None:
    server.refuse("getMe", 500, "Internal Server Error")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ChannelStartError):
            await door(server).start(Inbox(), [])
        gc.collect()
    assert [warning for warning in caught if issubclass(warning.category, ResourceWarning)] == []


async def test_a_commit_under_way_is_finished_before_the_end(server: TelegramServer) -> None:
    inbox = Inbox()
    inbox.open.clear()
    channel = door(server)
    await channel.start(inbox, [])
    server.user(7).say("hello")
    await inbox.wait_offered(1)
    stopping = asyncio.create_task(channel.stop())
    await asyncio.sleep(0)
    inbox.open.set()
    await stopping
    assert len(inbox.messages) == 1
