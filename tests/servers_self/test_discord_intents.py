"""What the gateway tells whom: intents, the portal's switches, permissions."""

from __future__ import annotations

import aiohttp
import pytest

from tests.servers.discord import DiscordServer, Permission
from tests.servers.discord.intents import (
    DIRECT_MESSAGES,
    GUILD_MESSAGES,
    GUILDS,
    MESSAGE_CONTENT,
    PRIVILEGED,
)
from tests.servers_self.discord_raw import INTENTS, DiscordApi, GatewayClient


async def test_intents_must_be_switched_on_in_the_portal(session: aiohttp.ClientSession) -> None:
    with DiscordServer(rates=None, portal_intents=PRIVILEGED & ~MESSAGE_CONTENT) as server:
        line = await GatewayClient(session, server).connect()
        await line.send(2, line.identity())
        assert await line.close_code() == 4014
        allowed = GatewayClient(session, server)
        ready = await allowed.identify(INTENTS & ~MESSAGE_CONTENT)
        assert not ready["application"]["flags"] & 1 << 19


async def test_content_is_hidden_without_its_intent(
    discord: DiscordServer, line: GatewayClient, rest: DiscordApi
) -> None:
    ada = discord.user(7)
    room = discord.guild("g", ada).channel()
    await line.identify(INTENTS & ~MESSAGE_CONTENT)
    await line.event("GUILD_CREATE")
    room.say(ada, "plain")
    assert (await line.event("MESSAGE_CREATE"))["content"] == ""
    addressed = f"{discord.mention} plain"
    room.say(ada, addressed)
    assert (await line.event("MESSAGE_CREATE"))["content"] == addressed
    own = await rest.send(room, content="mine")
    assert (await line.event("MESSAGE_CREATE"))["content"] == "mine"
    room.say(ada, "answer", reply_to=int(own["id"]))
    assert (await line.event("MESSAGE_CREATE"))["content"] == "answer"
    room.say(ada, "quiet answer", reply_to=int(own["id"]), ping=False)
    assert (await line.event("MESSAGE_CREATE"))["content"] == ""
    ada.say("secret")
    assert (await line.event("MESSAGE_CREATE"))["content"] == "secret"


async def test_history_hides_content_when_the_portal_does(session: aiohttp.ClientSession) -> None:
    with DiscordServer(rates=None, portal_intents=0) as server:
        ada = server.user(7)
        room = server.guild("g", ada).channel()
        room.say(ada, "plain")
        found = await DiscordApi(session, server).result(f"GET /channels/{room.id}/messages")
        assert [message["content"] for message in found] == [""]


@pytest.mark.parametrize(
    ("intents", "heard"),
    [
        (0, []),
        (GUILD_MESSAGES | MESSAGE_CONTENT, ["group"]),
        (DIRECT_MESSAGES, ["private"]),
        (GUILDS, []),
    ],
)
async def test_only_what_was_asked_for_is_told(
    discord: DiscordServer, line: GatewayClient, intents: int, heard: list[str]
) -> None:
    ada = discord.user(7)
    room = discord.guild("g", ada).channel()
    await line.identify(intents)
    if intents & GUILDS:
        await line.event("GUILD_CREATE")
    ada.say("private")
    room.say(ada, "group")
    discord.push_raw("END", {})
    got = []
    while (payload := await line.next())["t"] != "END":
        got.append(payload["d"]["content"])
    assert got == heard


async def test_a_channel_out_of_sight_is_not_told_of(
    discord: DiscordServer, line: GatewayClient
) -> None:
    ada = discord.user(7)
    room = discord.guild("g", ada).channel()
    await line.identify()
    await line.event("GUILD_CREATE")
    room.deny(Permission.VIEW_CHANNEL)
    await line.event("CHANNEL_UPDATE")
    assert room.say(ada, "unseen").update is None
    room.guild.outage()
    assert (await line.event("GUILD_DELETE"))["unavailable"] is True
    room.guild.add_bot()
    assert (await line.event("GUILD_CREATE"))["id"] == str(room.guild.id)
    room.guild.kick_bot()
    assert "unavailable" not in await line.event("GUILD_DELETE")
