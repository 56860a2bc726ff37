"""What can be asked about a bot account before it runs: token, intents, servers, permissions.

Plain calls are enough for that: the library's client would keep its addresses in the whole process
and change the rate limits of a bot that runs beside it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import aiohttp
from discord import Permissions
from discord.flags import ApplicationFlags

from bots.discord.settings import DiscordSettings
from bots.findings import Finding, fault, ok, warning
from bots.names import shown_name
from core.environment import variable
from core.i18n import N_, Words

SECONDS: Final = 10.0
"""How long the platform may take for one answer."""

PORTAL: Final = "https://discord.com/developers/applications"

NEEDED: Final[Mapping[str, str]] = {
    "view_channel": N_("View Channels"),
    "send_messages": N_("Send Messages"),
    "send_messages_in_threads": N_("Send Messages in Threads"),
    "read_message_history": N_("Read Message History"),
    "attach_files": N_("Attach Files"),
}
"""The permissions an invitation asks for, with the words of the portal."""
FOR_THREADS: Final[Mapping[str, str]] = {"create_public_threads": N_("Create Public Threads")}
"""Those for a thread of its own for each question."""

_MOST_SERVERS: Final = 5
"""So many servers are looked into one by one; a bot may be in thousands."""
_PAGE: Final = 200
"""Servers that one answer lists at most (Get Current User Guilds)."""
_NO_ACCESS: Final = 403


class _RefusedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


async def check(
    settings: DiscordSettings, words: Words, *, threads: bool = False
) -> AsyncIterator[Finding]:
    """Look at the bot account of these settings, which have a token.

    ``threads``: it opens threads.
    """
    assert settings.bot_token is not None
    headers = {
        "Authorization": f"Bot {settings.bot_token.get_secret_value()}",
        "User-Agent": "DiscordBot (partners, 1)",
    }
    needed = {**NEEDED, **(FOR_THREADS if threads else {})}
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:

        async def ask(path: str) -> Any:
            async with session.get(f"{settings.api_base}{path}") as answer:
                if answer.status != 200:
                    raise _RefusedError(answer.status)
                return await answer.json()

        try:
            user = await ask("/users/@me")
            yield ok(words("@{name} answers.", name=shown_name(str(user["username"]))))
            application = await ask("/applications/@me")
            for finding in _application(application, words):
                yield finding
            servers = await ask(f"/users/@me/guilds?limit={_PAGE}")
            for finding in _servers(servers, str(application["id"]), needed, words):
                yield finding
            for server in servers[:_MOST_SERVERS]:
                number = application["id"]
                try:
                    await ask(f"/applications/{number}/guilds/{server['id']}/commands")
                except _RefusedError as refused:
                    if refused.status != _NO_ACCESS:
                        raise
                    yield _no_commands(server, invitation(str(number), needed), words)
        except _RefusedError as refused:
            if refused.status == 401:
                yield _wrong_token(words, variable(type(settings), "bot_token"))
            else:
                yield _unreachable(settings, refused, words)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            yield _unreachable(settings, error, words)
        except (KeyError, TypeError) as error:  # an answer, but not this platform's
            yield _unreachable(settings, error, words)


def _application(application: Mapping[str, Any], words: Words) -> Iterator[Finding]:
    flags = ApplicationFlags._from_value(int(application.get("flags") or 0))
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        yield ok(words("Message Content Intent is on."))
    else:
        yield fault(
            words("Message Content Intent is off: Discord hides what people write in servers."),
            words(
                "Open {portal}, choose your application, then Bot, switch on Message Content "
                "Intent under Privileged Gateway Intents, and save.",
                portal=PORTAL,
            ),
        )
    unneeded = [
        name
        for name, is_on in (
            (
                "Server Members Intent",
                flags.gateway_guild_members or flags.gateway_guild_members_limited,
            ),
            ("Presence Intent", flags.gateway_presence or flags.gateway_presence_limited),
        )
        if is_on
    ]
    if unneeded:
        yield ok(
            words("{intents}: on, and not needed.", intents=", ".join(unneeded)),
            words(
                "It can be switched off: {portal}, your application, Bot, Privileged Gateway "
                "Intents.",
                portal=PORTAL,
            ),
        )
    if application.get("interactions_endpoint_url"):
        yield fault(
            words("Commands and buttons go to another address, and never reach this tutor."),
            words(
                "Open {portal}, choose your application, then General Information, empty "
                "Interactions Endpoint URL, and save.",
                portal=PORTAL,
            ),
        )
    if application.get("bot_require_code_grant"):
        yield warning(
            words("Invitations need a code grant, so the usual link invites nobody."),
            words(
                "Open {portal}, choose your application, then Bot, switch off Requires OAuth2 Code "
                "Grant, and save.",
                portal=PORTAL,
            ),
        )


def _servers(
    servers: Sequence[Mapping[str, Any]], application: str, needed: Mapping[str, str], words: Words
) -> Iterator[Finding]:
    link = invitation(application, needed)
    if not servers:
        yield warning(
            words("It is in no server yet, so nobody can write to it."),
            words("Open {link} and choose your server.", link=link),
        )
        return
    count = len(servers)
    yield ok(words.plural("It is in {n} server.", "It is in {n} servers.", count))
    for server in servers:
        granted = Permissions(int(server.get("permissions") or 0))
        missing = [
            words(name)
            for flag, name in needed.items()
            if not granted.administrator and not getattr(granted, flag)
        ]
        if missing:
            yield warning(
                words(
                    "In the server “{server}” it lacks: {permissions}.",
                    server=shown_name(str(server["name"])),
                    permissions=", ".join(missing),
                ),
                words(
                    "In that server open Server Settings, Roles, the bot's role, Permissions, and "
                    "switch them on; or invite it again with {link}.",
                    link=link,
                ),
            )


def invitation(application: str, needed: Iterable[str]) -> str:
    """Return the address that invites the bot with the permissions it needs."""
    permissions = Permissions(**dict.fromkeys(needed, True)).value
    return (
        f"https://discord.com/oauth2/authorize?client_id={application}"
        f"&scope=bot+applications.commands&permissions={permissions}"
    )


def _no_commands(server: Mapping[str, Any], link: str, words: Words) -> Finding:
    return warning(
        words(
            "In the server “{server}” it may have no commands: it was invited without the scope "
            "applications.commands.",
            server=shown_name(str(server["name"])),
        ),
        words(
            "Open {link} and choose that server; the bot stays in it.",
            link=link,
        ),
    )


def _wrong_token(words: Words, name: str) -> Finding:
    return fault(
        words("Discord does not know the token in {name}.", name=name),
        words(
            "Open {portal}, choose your application, then Bot, Reset Token, and copy it into "
            "{name}.",
            portal=PORTAL,
            name=name,
        ),
    )


def _unreachable(settings: DiscordSettings, error: Exception, words: Words) -> Finding:
    reason = str(error) if isinstance(error, _RefusedError) else type(error).__name__
    return fault(
        words(
            "Discord cannot be reached at {address} ({reason}).",
            address=settings.api_base,
            reason=reason,
        ),
        words(
            "Check this machine's connection, and {name} if it is set.",
            name=variable(type(settings), "api_base"),
        ),
    )
