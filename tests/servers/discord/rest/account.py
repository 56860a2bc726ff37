"""Endpoints about the bot itself, people and servers."""

from __future__ import annotations

from typing import Any

from tests.servers.discord.errors import refusal
from tests.servers.discord.form import Form
from tests.servers.discord.guilds import Guild
from tests.servers.discord.rest.call import Call
from tests.servers.discord.state import State


def me(state: State, call: Call) -> Any:
    """GET /users/@me."""
    return {**state.bot_user, "verified": True, "mfa_enabled": False, "locale": "en-US"}


def application(state: State, call: Call) -> Any:
    """GET /oauth2/applications/@me and /applications/@me."""
    return {
        **state.application_json(),
        "name": state.bot_user["username"],
        "icon": None,
        "description": "",
        "summary": "",
        "type": None,
        "bot_public": True,
        "bot_require_code_grant": state.code_grant,
        "verify_key": "0" * 64,
        "owner": state.bot_user,
        "team": None,
        "bot": state.bot_user,
        "integration_types_config": {"0": {}},
        "interactions_endpoint_url": state.interactions_url,
        "redirect_uris": [],
        "tags": [],
    }


def _gateway_url(state: State) -> str:
    return state.origin().replace("http", "ws", 1) + "/gateway"


def gateway(state: State, call: Call) -> Any:
    """GET /gateway."""
    return {"url": _gateway_url(state)}


def gateway_bot(state: State, call: Call) -> Any:
    """GET /gateway/bot."""
    starts = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
    return {"url": _gateway_url(state), "shards": 1, "session_start_limit": starts}


def get_user(state: State, call: Call) -> Any:
    """GET /users/{user_id}."""
    number = call.id("user_id")
    if not state.knows(number):
        raise refusal(10013)
    return state.user_json(number)


def my_guilds(state: State, call: Call) -> Any:
    """GET /users/@me/guilds."""
    shown = ("id", "name", "icon", "banner", "features")
    return [
        {
            **{name: guild.json()[name] for name in shown},
            "owner": False,
            "permissions": str(int(guild.permissions)),
        }
        for guild in state.guilds.values()
        if guild.available
    ]


def _guild(state: State, call: Call) -> Guild:
    guild = state.guilds.get(call.id("guild_id"))
    if guild is None or not guild.available:
        raise refusal(10004)
    return guild


def get_guild(state: State, call: Call) -> Any:
    """GET /guilds/{guild_id}."""
    return _guild(state, call).json()


def guild_channels(state: State, call: Call) -> Any:
    """GET /guilds/{guild_id}/channels."""
    return [channel.json() for channel in _guild(state, call).channels]


def guild_roles(state: State, call: Call) -> Any:
    """GET /guilds/{guild_id}/roles."""
    return [role.json() for role in _guild(state, call).roles.values()]


def get_member(state: State, call: Call) -> Any:
    """GET /guilds/{guild_id}/members/{user_id}."""
    guild, number = _guild(state, call), call.id("user_id")
    if number not in guild.members:
        raise refusal(10007 if state.knows(number) else 10013)
    return guild.member_json(number)


def leave_guild(state: State, call: Call) -> None:
    """DELETE /users/@me/guilds/{guild_id}."""
    _guild(state, call).kick_bot()


def edit_me(state: State, call: Call) -> Any:
    """PATCH /users/@me: the name."""
    form = Form()
    if "username" in call.fields:
        name = form.text(("username",), call.fields["username"], 2, 32, required=True)
        form.check()
        state.bot_user["username"] = name
    return me(state, call)
