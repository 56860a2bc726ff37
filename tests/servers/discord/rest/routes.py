"""Which endpoint answers which address."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.discord.rest import account, channels, commands, interactions, messages
from tests.servers.discord.rest.call import Call
from tests.servers.discord.state import State

Endpoint = Callable[[State, Call], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint."""

    name: str
    """What the log and the faults call it."""
    method: str
    pattern: re.Pattern[str]
    endpoint: Endpoint
    open: bool = False
    """Needs no Authorization, and the global rate limit does not hold for it."""

    def major(self, path: Mapping[str, str]) -> str:
        """Return what its rate is counted by."""
        parts = ("channel_id", "guild_id", "interaction_id", "interaction_token")
        return "/".join(path[part] for part in parts if part in path)


def _route(name: str, line: str, endpoint: Endpoint, *, is_open: bool = False) -> Route:
    method, _, path = line.partition(" ")
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
    return Route(name, method, re.compile(pattern), endpoint, is_open)


_MESSAGE = "/channels/{channel_id}/messages/{message_id}"
_REACTIONS = _MESSAGE + "/reactions/{emoji}"
_HOOK = "/webhooks/{application_id}/{interaction_token}"
_ANSWER = _HOOK + "/messages/{message_id}"
_GLOBAL = "/applications/{application_id}/commands"
_LOCAL = "/applications/{application_id}/guilds/{guild_id}/commands"

ROUTES: tuple[Route, ...] = (
    _route("getMe", "GET /users/@me", account.me),
    _route("editMe", "PATCH /users/@me", account.edit_me),
    _route("listMyGuilds", "GET /users/@me/guilds", account.my_guilds),
    _route("leaveGuild", "DELETE /users/@me/guilds/{guild_id}", account.leave_guild),
    _route("openDirect", "POST /users/@me/channels", channels.open_direct),
    _route("getUser", "GET /users/{user_id}", account.get_user),
    _route("getApplication", "GET /oauth2/applications/@me", account.application),
    _route("getApplication", "GET /applications/@me", account.application),
    _route("getGateway", "GET /gateway", account.gateway, is_open=True),
    _route("getGatewayBot", "GET /gateway/bot", account.gateway_bot),
    _route("getGuild", "GET /guilds/{guild_id}", account.get_guild),
    _route("listChannels", "GET /guilds/{guild_id}/channels", account.guild_channels),
    _route("listRoles", "GET /guilds/{guild_id}/roles", account.guild_roles),
    _route("getMember", "GET /guilds/{guild_id}/members/{user_id}", account.get_member),
    _route("activeThreads", "GET /guilds/{guild_id}/threads/active", channels.active_threads),
    _route("getChannel", "GET /channels/{channel_id}", channels.get_channel),
    _route("editChannel", "PATCH /channels/{channel_id}", channels.edit_channel),
    _route("deleteChannel", "DELETE /channels/{channel_id}", channels.delete_channel),
    _route("listMessages", "GET /channels/{channel_id}/messages", messages.list_messages),
    _route("createMessage", "POST /channels/{channel_id}/messages", messages.create_message),
    _route("getMessage", f"GET {_MESSAGE}", messages.get_message),
    _route("editMessage", f"PATCH {_MESSAGE}", messages.edit_message),
    _route("deleteMessage", f"DELETE {_MESSAGE}", messages.delete_message),
    _route("typing", "POST /channels/{channel_id}/typing", messages.typing),
    _route("addReaction", f"PUT {_REACTIONS}/@me", messages.add_reaction),
    _route("removeReaction", f"DELETE {_REACTIONS}/@me", messages.remove_reaction),
    _route("listReactions", f"GET {_REACTIONS}", messages.list_reactions),
    _route("threadFromMessage", f"POST {_MESSAGE}/threads", channels.thread_from_message),
    _route("startThread", "POST /channels/{channel_id}/threads", channels.start_thread),
    _route("joinThread", "PUT /channels/{channel_id}/thread-members/@me", channels.join_thread),
    *(
        _route(f"{verb}{where}", f"{method} {base}{tail}", endpoint)
        for where, base in (("Commands", _GLOBAL), ("GuildCommands", _LOCAL))
        for verb, method, tail, endpoint in (
            ("list", "GET", "", commands.list_commands),
            ("set", "PUT", "", commands.set_commands),
            ("add", "POST", "", commands.add_command),
            ("get", "GET", "/{command_id}", commands.get_command),
            ("edit", "PATCH", "/{command_id}", commands.edit_command),
            ("delete", "DELETE", "/{command_id}", commands.delete_command),
        )
    ),
    _route(
        "interactionCallback",
        "POST /interactions/{interaction_id}/{interaction_token}/callback",
        interactions.callback,
        is_open=True,
    ),
    _route("followUp", f"POST {_HOOK}", interactions.follow_up, is_open=True),
    _route("getAnswer", f"GET {_ANSWER}", interactions.get_answer, is_open=True),
    _route("editAnswer", f"PATCH {_ANSWER}", interactions.edit_answer, is_open=True),
    _route("deleteAnswer", f"DELETE {_ANSWER}", interactions.delete_answer, is_open=True),
)


def find(method: str, path: str) -> tuple[Route | None, dict[str, str], bool]:
    """Return the route of an address, its variable parts, and whether the address exists."""
    exists = False
    for route in ROUTES:
        if (found := route.pattern.fullmatch(path)) is None:
            continue
        exists = True
        if route.method == method:
            return route, found.groupdict(), True
    return None, {}, exists
