"""The gateway: handshake, heartbeats, replay, intents, and what closes a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import USUAL, DiscordServer, Permission
from tests.servers.discord.gateway import KEPT, RESUME_SECONDS
from tests.servers.faults import Stage
from tests.servers_self.discord_raw import DiscordApi, GatewayClient

Connect = Callable[[], GatewayClient]


@pytest.fixture
def connect(session: aiohttp.ClientSession, discord: DiscordServer) -> Connect:
    return lambda: GatewayClient(session, discord)


async def test_the_handshake_ends_with_every_server(
    discord: DiscordServer, line: GatewayClient, rest: DiscordApi
) -> None:
    guilds = [discord.guild("one"), discord.guild("two")]
    room = guilds[0].channel("general")
    url = (await rest.result("GET /gateway"))["url"]
    assert url == (await rest.result("GET /gateway/bot"))["url"] == discord.gateway_url
    await line.connect(url)
    hello = await line.next()
    assert hello["op"] == 10 and hello["d"]["heartbeat_interval"] == 41250
    await line.send(1, None)
    assert (await line.next())["op"] == 11
    await line.send(2, line.identity())
    ready = await line.event("READY")
    assert line.seq == 1
    assert ready["user"]["id"] == str(discord.bot_id)
    assert {guild["id"] for guild in ready["guilds"]} == {str(guild.id) for guild in guilds}
    assert ready["application"]["id"] == str(discord.state.application_id)
    first = await line.event("GUILD_CREATE")
    assert [channel["id"] for channel in first["channels"]] == [str(room.id)]
    await line.event("GUILD_CREATE")
    await discord.wait_ready()


@pytest.mark.parametrize("compress", ["zlib-stream", "", "unknown"])
async def test_one_stream_carries_every_message(
    discord: DiscordServer, line: GatewayClient, compress: str
) -> None:
    ada = discord.user(7)
    await line.connect(compress=compress)
    assert (await line.next())["op"] == 10
    await line.send(2, line.identity())
    await line.event("READY")
    for text in ("one", "two", "ü" * 1000):
        ada.say(text)
        assert (await line.event("MESSAGE_CREATE"))["content"] == text


async def test_a_dropped_client_gets_what_it_missed(
    discord: DiscordServer, line: GatewayClient, connect: Connect
) -> None:
    ada = discord.user(7)
    ready = await line.identify()
    ada.say("seen")
    await line.event("MESSAGE_CREATE")
    discord.drop_connections()
    assert await line.close_code() == 1006
    ada.say("missed")
    again = connect()
    await again.resume(ready, line.seq)
    assert (await again.event("MESSAGE_CREATE"))["content"] == "missed"
    assert await again.event("RESUMED") is not None
    ada.say("new")
    assert (await again.event("MESSAGE_CREATE"))["content"] == "new"
    names = [request.name for request in discord.requests]
    assert names == ["gateway", "gatewayResume"]
    assert [payload["d"]["seq"] for payload in discord.gateway.sent(6)] == [line.seq]


async def test_a_replay_can_overlap_with_what_was_seen(
    discord: DiscordServer, line: GatewayClient, connect: Connect
) -> None:
    ada = discord.user(7)
    discord.gateway.overlap = 1
    ready = await line.identify()
    ada.say("seen")
    first = await line.event("MESSAGE_CREATE")
    discord.drop_connections()
    await line.close_code()
    again = connect()
    await again.resume(ready, line.seq)
    assert await again.event("MESSAGE_CREATE") == first
    await again.event("RESUMED")


async def test_a_message_can_come_twice(discord: DiscordServer, line: GatewayClient) -> None:
    ada = discord.user(7)
    await line.identify()
    said = ada.say("once")
    first = await line.event("MESSAGE_CREATE")
    discord.redeliver(said)
    assert await line.event("MESSAGE_CREATE") == first
    discord.push_raw("SOMETHING_NEW", {"odd": True})
    assert await line.event("SOMETHING_NEW") == {"odd": True}
    with pytest.raises(ValueError, match="never told"):
        hidden = discord.guild().channel()
        hidden.deny(Permission.VIEW_CHANNEL)
        discord.redeliver(hidden.say(ada, "not for the bot"))


async def test_reconnect_and_invalid_session_are_told(
    discord: DiscordServer, line: GatewayClient, connect: Connect
) -> None:
    ready = await line.identify()
    discord.reconnect_request()
    assert (await line.next())["op"] == 7
    discord.invalidate(resumable=True)
    assert await line.next() == {"op": 9, "d": True}
    await line.socket.close(code=4000)
    again = connect()
    await again.resume(ready, line.seq)
    await again.event("RESUMED")
    discord.invalidate()
    assert await again.next() == {"op": 9, "d": False}
    await again.send(2, again.identity())
    fresh = await again.event("READY")
    assert fresh["session_id"] != ready["session_id"]
    late = connect()
    await late.resume(ready, 1)
    assert await late.next() == {"op": 9, "d": False}


@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_client_that_says_goodbye_loses_its_session(
    discord: DiscordServer, line: GatewayClient, connect: Connect, code: int
) -> None:
    ready = await line.identify()
    await line.socket.close(code=code)
    await discord.wait_for(lambda: not discord.gateway.sessions)
    again = connect()
    await again.resume(ready, line.seq)
    assert await again.next() == {"op": 9, "d": False}


async def test_a_timed_out_session_cannot_be_resumed(
    discord: DiscordServer, line: GatewayClient, connect: Connect
) -> None:
    ready = await line.identify()
    discord.gateway.close_connections(4009, "Session timed out")
    assert await line.close_code() == 4009
    again = connect()
    await again.resume(ready, line.seq)
    assert await again.next() == {"op": 9, "d": False}


async def test_a_session_is_kept_for_minutes_and_a_thousand_events(
    session: aiohttp.ClientSession,
) -> None:
    time = [0.0]
    with DiscordServer(rates=None, clock=lambda: time[0]) as server:
        ada = server.user(7)
        line = GatewayClient(session, server)
        ready = await line.identify()
        server.drop_connections()
        await line.close_code()
        await server.wait_for(lambda: not server.gateway.connections)
        time[0] += RESUME_SECONDS
        again = GatewayClient(session, server)
        await again.resume(ready, 1)
        await again.event("RESUMED")
        server.drop_connections()
        await server.wait_for(lambda: not server.gateway.connections)
        for number in range(KEPT + 1):
            server.push_raw("NUMBER", {"n": number})
        late = GatewayClient(session, server)
        await late.resume(ready, again.seq)
        assert await late.next() == {"op": 9, "d": False}
        fresh = GatewayClient(session, server)
        ready = await fresh.identify()
        server.drop_connections()
        await server.wait_for(lambda: not server.gateway.connections)
        time[0] += RESUME_SECONDS + 1
        ada.say("nobody hears this")
        assert not server.gateway.sessions
        later = GatewayClient(session, server)
        await later.resume(ready, fresh.seq)
        assert await later.next() == {"op": 9, "d": False}


async def test_what_is_said_to_nobody_is_only_in_the_history(
    discord: DiscordServer, line: GatewayClient, rest: DiscordApi
) -> None:
    ada = discord.user(7)
    before = ada.say("while you were away")
    await line.identify()
    ada.say("now")
    assert (await line.event("MESSAGE_CREATE"))["content"] == "now"
    where = f"GET /channels/{ada.private.id}/messages?after={before.message_id - 1}"
    found = await rest.result(where)
    assert [message["content"] for message in found] == ["now", "while you were away"]


async def test_a_heartbeat_confirms_what_was_read(
    discord: DiscordServer, line: GatewayClient
) -> None:
    ada = discord.user(7)
    await line.identify()
    said = ada.say("read me")

    async def client() -> None:
        await line.event("MESSAGE_CREATE")
        assert (await line.next())["op"] == 1
        await line.send(1, line.seq)
        assert (await line.next())["op"] == 11

    await asyncio.gather(client(), discord.wait_confirmed(said))
    assert not discord.gateway.confirmed(discord.push_raw("LATER", {}))


async def test_acknowledgements_and_the_whole_line_can_die(
    discord: DiscordServer, line: GatewayClient
) -> None:
    ada = discord.user(7)
    await line.identify()
    discord.gateway.acks = False
    await line.send(1, line.seq)
    ada.say("still here")
    assert await line.event("MESSAGE_CREATE")
    discord.gateway.freeze()
    ada.say("not sent")
    with pytest.raises(asyncio.TimeoutError):
        await line.socket.receive(0.05)
    discord.gateway.thaw()
    assert (await line.event("MESSAGE_CREATE"))["content"] == "not sent"
    discord.gateway.send_raw({"op": 99, "d": None})
    assert (await line.next())["op"] == 99
    discord.gateway.freeze()
    discord.drop_connections()
    assert await line.close_code() == 1006


async def test_a_silent_client_is_closed(discord: DiscordServer, line: GatewayClient) -> None:
    discord.gateway.heartbeat_interval = 20
    await line.connect()
    assert await line.close_code() == 4009


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        (2, {"token": "wrong"}, 4004),
        (6, {"token": "wrong", "session_id": "x", "seq": 1}, 4004),
        (2, {"properties": None}, 4002),
        (2, {"shard": [1, 1]}, 4010),
        (2, {"intents": 1 << 30}, 4013),
        (2, {"intents": None}, 4013),
        (3, {}, 4003),
        (77, {}, 4001),
        (3, {"x": "y" * 4096}, 4002),
    ],
)
async def test_a_breach_closes_with_its_code(
    discord: DiscordServer, line: GatewayClient, op: int, data: dict[str, Any], code: int
) -> None:
    await line.connect()
    await line.send(op, line.identity(**data) if op == 2 else data)
    assert await line.close_code() == code


async def test_broken_json_a_second_identify_and_a_wrong_number_close_too(
    discord: DiscordServer, connect: Connect
) -> None:
    broken = await connect().connect()
    await broken.socket.send_str("{")
    assert await broken.close_code() == 4002
    twice = connect()
    ready = await twice.identify()
    await twice.send(2, twice.identity())
    assert await twice.close_code() == 4005
    ahead = connect()
    await ahead.resume(ready, 99)
    assert await ahead.close_code() == 4007
    assert await (await connect().connect(v="6")).close_code() == 4012
    assert await (await connect().connect(encoding="etf")).close_code() == 4002


async def test_too_many_events_or_identifies_are_stopped(session: aiohttp.ClientSession) -> None:
    time = [0.0]
    with DiscordServer(rates=USUAL, clock=lambda: time[0]) as server:
        chatty = GatewayClient(session, server)
        await chatty.identify()
        early = await GatewayClient(session, server).connect()
        await early.next()
        await early.send(2, early.identity())
        assert await early.next() == {"op": 9, "d": False}
        time[0] += 5
        await early.send(2, early.identity())
        await early.event("READY")
        for _ in range(120):
            await chatty.send(1, None)
        assert await chatty.close_code() == 4008


async def test_members_can_be_asked_for(discord: DiscordServer, line: GatewayClient) -> None:
    guild = discord.guild("g", discord.user(7), discord.user(8, "Bo"))
    await line.identify()
    await line.event("GUILD_CREATE")
    await line.send(8, {"guild_id": str(guild.id), "query": "", "limit": 0, "nonce": "n"})
    chunk = await line.event("GUILD_MEMBERS_CHUNK")
    assert {member["user"]["id"] for member in chunk["members"]} == {
        str(discord.bot_id),
        "7",
        "8",
    }
    assert chunk["nonce"] == "n"


async def test_the_gateway_can_be_out_of_reach(
    discord: DiscordServer, session: aiohttp.ClientSession, line: GatewayClient
) -> None:
    discord.fail("gateway", 503)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await line.connect()
    # A client library may try a cut GET a second time by itself.
    cut = discord.drop("gateway", times=None)
    with pytest.raises(aiohttp.ClientError):
        await line.connect()
    cut.cancel()
    gate = discord.hold("gateway", stage=Stage.REQUEST)
    waiting = asyncio.create_task(line.connect())
    await gate.wait_reached()
    gate.release()
    assert (await (await waiting).next())["op"] == 10


async def test_the_server_ends_with_open_connections_and_starts_again(
    session: aiohttp.ClientSession,
) -> None:
    server = DiscordServer(rates=None).start()
    line = GatewayClient(session, server)
    ready = await line.identify()
    server.stop()
    assert await line.close_code() == 1006
    server.start()
    again = GatewayClient(session, server)
    await again.resume(ready, line.seq)
    await again.event("RESUMED")
    server.stop()
    server.check()
