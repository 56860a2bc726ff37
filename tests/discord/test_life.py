"""The life of the door: clear words when it cannot open, nothing lost while it is open."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterator

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bots.discord.gateway import Pace
from core.channel import ChannelStartError, ChannelUnreachable
from core.context import Text
from tests.discord.door import at, door, opened
from tests.doorway import PATIENCE, Inbox, deliver, health_says
from tests.servers.discord import DiscordServer, Person
from tests.servers.discord.connection import Close
from tests.servers.discord.intents import MESSAGE_CONTENT, PRIVILEGED

QUICK = Pace(start=PATIENCE, patience=0.1, first_retry=0.01, longest_retry=0.05)


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    return server.user(7)


def texts(inbox: Inbox) -> list[str]:
    """What was committed, once each."""
    said = {m.message_id: m.content for m in inbox.messages}
    return [content.text for content in said.values() if isinstance(content, Text)]


# --- the beginning -------------------------------------------------------------------------------


async def test_a_wrong_token_is_told_with_the_way_out(server: DiscordServer) -> None:
    channel = door(server, token="wrong.token.here")
    with pytest.raises(ChannelStartError, match="Reset Token") as told:
        await channel.start(Inbox(), ())
    assert not isinstance(told.value, ChannelUnreachable)
    assert "wrong.token" not in str(told.value)
    assert "not connected" in (channel.health() or "")
    server.state.token = "wrong.token.here"  # mended
    await channel.start(Inbox(), ())
    assert channel.health() is None
    await channel.stop()


@pytest.mark.parametrize("flags", ["told by the portal", "told by the gateway"])
async def test_a_missing_intent_names_the_switch(server: DiscordServer, flags: str) -> None:
    server.state.portal_intents = PRIVILEGED & ~MESSAGE_CONTENT
    if flags == "told by the gateway":
        application = {"id": "1", "name": "t", "flags": 1 << 19, **UNTOLD}
        server.fail("getApplication", 200, {**application, "owner": server.state.bot_user})
    channel = door(server)
    with pytest.raises(ChannelStartError, match="Message Content Intent under Privileged") as told:
        await channel.start(Inbox(), ())
    assert not isinstance(told.value, ChannelUnreachable)


UNTOLD = {
    "icon": None,
    "description": "",
    "bot_public": True,
    "bot_require_code_grant": False,
    "verify_key": "0" * 64,
}


async def test_a_platform_out_of_reach_may_be_tried_again(server: DiscordServer) -> None:
    channel = door(server)
    orders: list[Callable[[], object]] = [
        lambda: server.drop("getMe", times=None),
        lambda: server.fail("getMe", 503, "no"),
        lambda: server.fail("getMe", 200, "<html>"),
        lambda: server.fail("getApplication", 200, "{}"),
        lambda: server.drop("gateway", times=None),
        lambda: server.fail("gateway", 503, "no"),
    ]
    for order in orders:
        order()
        with pytest.raises(ChannelUnreachable, match="DISCORD_API_BASE"):
            await channel.start(Inbox(), ())
        server.clear_faults()
    await channel.start(Inbox(), ())
    assert channel.account == str(server.bot_id)
    await channel.stop()


async def test_the_addresses_of_the_library_are_put_back(server: DiscordServer) -> None:
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    async with opened(server):
        assert server.api_url == Route.BASE
    assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
    with pytest.raises(ChannelStartError):
        await door(server, token="wrong.token.here").start(Inbox(), ())
    assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)


async def test_an_account_that_leaves_takes_no_address_from_another(
    server: DiscordServer, ada: Person
) -> None:
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    ada.say("hi")
    async with opened(server) as staying:
        async with opened(server):
            pass
        await deliver(staying, at(ada.private), "Still here.")
        server.drop_connections()
        await server.wait_ready()
    assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
    assert [m.text for m in ada.private.from_bot] == ["Still here."]


async def test_only_what_is_needed_is_asked_for(server: DiscordServer) -> None:
    async with opened(server):
        (identify,) = server.gateway.sent(2)
    assert identify["d"]["intents"] == 1 << 0 | 1 << 9 | 1 << 12 | 1 << 15


# --- disturbances --------------------------------------------------------------------------------


async def test_nothing_is_lost_when_the_line_drops(server: DiscordServer, ada: Person) -> None:
    inbox = Inbox()
    server.gateway.overlap = 2
    async with opened(server, inbox) as channel:
        ada.say("before")
        await inbox.wait(1)
        disturbances: tuple[Callable[[], object], ...] = (
            server.drop_connections,
            server.reconnect_request,
            lambda: server.invalidate(resumable=True),
            lambda: server.gateway.close_connections(4000),
        )
        for number, disturb in enumerate(disturbances):
            disturb()
            ada.say(f"missed {number}")
            await inbox.until(lambda: f"missed {number}" in texts(inbox))  # noqa: B023
        await health_says(channel, None)
    assert texts(inbox) == ["before", *(f"missed {number}" for number in range(4))]
    assert len(server.gateway.sent(2)) == 1


async def test_what_the_library_gives_up_on_is_begun_anew(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    ada.say("hi")
    async with opened(server, inbox) as channel:
        server.gateway.close_connections(4012, "invalid version")
        await server.wait_for(lambda: len(server.gateway.sent(2)) == 2)
        await server.wait_ready()
        await health_says(channel, None)
        ada.say("still there?")
        await inbox.until(lambda: texts(inbox) == ["still there?"])
        await deliver(channel, at(ada.private), "Yes.")
        # The old one was hung up before the new one began (F044): nothing is heard twice.
        await server.wait_for(lambda: len(server.gateway.connections) == 1)
        assert len(inbox.messages) == 1


async def test_one_account_is_begun_anew_and_the_others_notice_nothing(
    server: DiscordServer, ada: Person
) -> None:
    broken, whole = Inbox(), Inbox()
    async with opened(server, broken) as first, opened(server, whole) as second:
        [old, _] = server.gateway.connections
        left = asyncio.all_tasks()
        with server.changes.lock:
            old.post(Close(4012, "invalid version"))
        server.changes.announce()
        await server.wait_for(lambda: len(server.gateway.sent(2)) == 3)
        await server.wait_for(lambda: len(server.gateway.connections) == 2)
        await health_says(first, None)
        assert second.health() is None
        ada.say("both?")
        await broken.until(lambda: texts(broken) == ["both?"])
        await whole.until(lambda: texts(whole) == ["both?"])
        kept = {task for task in left if task.get_name() in ("discord-inbox", "discord-keeper")}
        assert len(kept) == 4
        assert not any(task.done() for task in kept), "what was not broken goes on"
    assert len(server.gateway.sent(6)) == 0


async def test_a_session_that_cannot_be_resumed_for_long_is_begun_anew(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, pace=QUICK) as channel:
        server.fail("gatewayResume", 503, "no", times=None)
        server.fail("gateway", 503, "no", times=3)
        server.drop_connections()
        await health_says(channel, "Discord")
        await server.wait_for(lambda: len(server.gateway.sent(2)) == 2)
        await server.wait_ready()
        await health_says(channel, None)
        ada.say("still there?")
        await inbox.until(lambda: texts(inbox) == ["still there?"])


async def test_a_line_that_died_without_a_word_is_noticed(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    pace = Pace(start=PATIENCE, silence=0.3, patience=PATIENCE, first_retry=0.01)
    server.gateway.heartbeat_interval = 100
    async with opened(server, inbox, pace=pace) as channel:
        server.gateway.freeze()
        ada.say("anybody?")
        await health_says(channel, "not connected")
        server.gateway.thaw()
        await inbox.until(lambda: texts(inbox) == ["anybody?"])
        await health_says(channel, None)


async def test_a_token_taken_back_shows_in_health_until_it_is_mended(
    server: DiscordServer, ada: Person
) -> None:
    token = server.state.token
    inbox = Inbox()
    async with opened(server, inbox, pace=QUICK) as channel:
        server.state.token = "another.token.now"
        server.gateway.close_connections(4004, "Authentication failed")
        await health_says(channel, "DISCORD_BOT_TOKEN")
        server.state.token = token
        await health_says(channel, None)
        ada.say("hello")
        await inbox.until(lambda: texts(inbox) == ["hello"])


async def test_an_event_that_cannot_be_read_holds_no_other(
    server: DiscordServer, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, pace=QUICK) as channel:
        server.push_raw("MESSAGE_CREATE", {"id": "1", "channel_id": "2", "content": "secret"})
        await server.wait_for(lambda: len(server.gateway.sent(2)) == 2)
        await server.wait_ready()
        ada.say("hello")
        await inbox.until(lambda: texts(inbox) == ["hello"])
        await health_says(channel, None)
    assert "secret" not in caplog.text


async def test_what_cannot_be_stored_waits_in_order(server: DiscordServer, ada: Person) -> None:
    inbox = Inbox()
    inbox.refusals = 2
    async with opened(server, inbox) as channel:
        ada.say("one")
        await health_says(channel, "cannot be stored")
        ada.say("two")
        await inbox.wait(2)
        assert texts(inbox) == ["one", "two"]
        await health_says(channel, None)


# --- the end -------------------------------------------------------------------------------------


async def test_stop_commits_what_came_and_leaves_nothing_behind(
    server: DiscordServer, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        channel = door(server)
        await channel.start(inbox, ())
        ada.say("last words")
        await inbox.wait(1)
        async with channel.typing(at(ada.private)):
            await channel.stop()
        await channel.stop()
    await server.wait_for(lambda: not server.gateway.connections)
    left = [t for t in asyncio.all_tasks() if t.get_name().startswith("discord")]
    assert left == []
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []
    assert "not connected" in (channel.health() or "")
    ada.say("unheard")
    await channel.start(inbox, ())  # a door may be opened again
    ada.say("heard")
    await inbox.wait(2)
    assert texts(inbox) == ["last words", "heard"]
    await channel.stop()


async def test_stop_does_not_wait_for_a_platform_that_is_silent(
    server: DiscordServer, ada: Person
) -> None:
    channel = door(server)
    await channel.start(Inbox(), ())
    server.gateway.freeze()
    async with asyncio.timeout(3):
        await channel.stop()
