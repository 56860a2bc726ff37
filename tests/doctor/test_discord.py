"""A look at a Discord bot, against the local server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bots.discord.check import check
from bots.discord.settings import DiscordSettings
from bots.findings import Finding, Level
from tests.doctor.looking import WORDS, found, levels, only
from tests.servers.discord import DiscordServer
from tests.servers.discord.intents import MESSAGE_CONTENT
from tests.servers.discord.permissions import Permission


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None, portal_intents=MESSAGE_CONTENT) as running:
        running.guild("Study")
        yield running


async def look(server: DiscordServer, token: str = "", *, threads: bool = False) -> list[Finding]:
    given = {
        "DISCORD_BOT_TOKEN": token or server.token,
        "DISCORD_API_BASE": server.api_url,
        "DISCORD_GATEWAY_URL": server.gateway_url,
    }
    return await found(check(DiscordSettings.load(None, given), WORDS, threads=threads))


async def test_a_bot_that_is_set_up_is_found_well(server: DiscordServer) -> None:
    findings = await look(server)
    assert levels(findings) == {Level.OK}
    assert [finding.text for finding in findings] == [
        "@tutor answers.",
        "Message Content Intent is on.",
        "It is in 1 server.",
    ]


async def test_a_missing_intent_is_a_fault_and_an_unneeded_one_is_told() -> None:
    with DiscordServer(rates=None, portal_intents=1 << 1) as server:
        findings = await look(server)
    refused = only(findings, Level.FAULT)
    assert "Message Content Intent is off" in refused.text
    assert "Privileged Gateway Intents" in refused.fix
    assert "Server Members Intent: on, and not needed." in [one.text for one in findings]


async def test_a_bot_in_no_server_gets_an_invitation_that_asks_for_what_it_needs() -> None:
    with DiscordServer(rates=None, portal_intents=MESSAGE_CONTENT) as server:
        link = only(await look(server), Level.WARNING).fix
        assert f"client_id={server.state.application_id}" in link
    assert "scope=bot+applications.commands" in link
    wanted = (
        Permission.VIEW_CHANNEL
        | Permission.SEND_MESSAGES
        | Permission.SEND_MESSAGES_IN_THREADS
        | Permission.READ_MESSAGE_HISTORY
        | Permission.ATTACH_FILES
    )
    assert f"permissions={int(wanted)} " in link


async def test_permissions_and_commands_that_a_server_withholds_are_named(
    server: DiscordServer,
) -> None:
    (guild,) = server.state.guilds.values()
    guild.deny(Permission.READ_MESSAGE_HISTORY | Permission.ATTACH_FILES)
    warned = only(await look(server), Level.WARNING)
    assert "“Study”" in warned.text
    assert "Read Message History, Attach Files" in warned.text
    guild.allow(Permission.READ_MESSAGE_HISTORY | Permission.ATTACH_FILES)
    guild.deny(Permission.CREATE_PUBLIC_THREADS)
    assert levels(await look(server)) == {Level.OK}
    assert "Create Public Threads" in only(await look(server, threads=True), Level.WARNING).text
    guild.commands_allowed = False
    assert "applications.commands" in only(await look(server), Level.WARNING).text


async def test_interactions_that_go_elsewhere_and_a_code_grant_are_told(
    server: DiscordServer,
) -> None:
    server.state.interactions_url = "https://other.example/hook"
    server.state.code_grant = True
    findings = await look(server)
    assert "Interactions Endpoint URL" in only(findings, Level.FAULT).fix
    assert "Code Grant" in only(findings, Level.WARNING).fix


async def test_a_wrong_token_is_a_fault(server: DiscordServer) -> None:
    (refused,) = await look(server, "wrong-token-of-nobody")
    assert refused.level is Level.FAULT
    assert "DISCORD_BOT_TOKEN" in refused.text
    assert "Reset Token" in refused.fix


async def test_a_server_out_of_reach_is_a_fault(server: DiscordServer) -> None:
    server.fail("getMe", 502, b"<html>bad gateway</html>")
    (refused,) = await look(server)
    assert "(HTTP 502)" in refused.text
    server.fail("getMe", 200, b"[]")
    (refused,) = await look(server)
    assert refused.level is Level.FAULT
    server.drop("getMe", times=2)  # the library asks once more by itself
    (refused,) = await look(server)
    assert "DISCORD_API_BASE" in refused.fix
