"""Endpoints that register application commands."""

from __future__ import annotations

from typing import Any

from tests.servers.discord.commands import Command, check_command
from tests.servers.discord.errors import invalid, refusal
from tests.servers.discord.form import Form
from tests.servers.discord.limits import COMMANDS
from tests.servers.discord.rest.call import Call, Created
from tests.servers.discord.state import State

_FIELDS = frozenset(
    {
        "name",
        "name_localizations",
        "description",
        "description_localizations",
        "options",
        "default_member_permissions",
        "dm_permission",
        "integration_types",
        "contexts",
        "type",
        "nsfw",
        "handler",
    }
)


def _scope(state: State, call: Call) -> tuple[int | None, dict[int, Command]]:
    """Return the server of a call, None for everywhere, and its commands; raises Refusal."""
    if call.id("application_id") != state.application_id:
        raise refusal(20012)
    number = call.id("guild_id") if "guild_id" in call.path else None
    if number is not None:
        guild = state.guilds.get(number)
        if guild is None or not guild.available or not guild.commands_allowed:
            raise refusal(50001)
    return number, state.commands.setdefault(number, {})


def _one(state: State, call: Call) -> tuple[dict[int, Command], Command]:
    _, known = _scope(state, call)
    command = known.get(call.id("command_id"))
    if command is None:
        raise refusal(10063)
    return known, command


def _made(state: State, guild: int | None, fields: dict[str, Any], old: Command | None) -> Command:
    kept = {name: value for name, value in fields.items() if name in _FIELDS}
    number = state.snowflake() if old is None else old.command_id
    if old is not None and old.data == kept:
        return old
    return Command(number, state.snowflake(), guild, kept)


def list_commands(state: State, call: Call) -> Any:
    """GET /applications/{application_id}/commands, and the same of a server."""
    _, known = _scope(state, call)
    return [command.json(state.application_id) for command in known.values()]


def get_command(state: State, call: Call) -> Any:
    """GET .../commands/{command_id}."""
    return _one(state, call)[1].json(state.application_id)


def set_commands(state: State, call: Call) -> Any:
    """PUT .../commands: all of them at once; those of the same name keep their id."""
    guild, known = _scope(state, call)
    if not isinstance(call.body, list):
        raise invalid((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if len(call.body) > COMMANDS:
        raise refusal(30032)
    form = Form()
    seen: set[str] = set()
    for path, command in form.items((), call.body, 0, COMMANDS):
        check_command(form, path, command)
        key = f"{command.get('type', 1)} {command.get('name')}"
        if key in seen:
            form.add(
                path,
                "APPLICATION_COMMANDS_DUPLICATE_NAME",
                "Application command names must be unique",
            )
        seen.add(key)
    form.check()
    old = {command.key: command for command in known.values()}
    made = [
        _made(state, guild, fields, old.get((fields.get("type", 1), fields["name"])))
        for fields in call.body
    ]
    state.commands[guild] = {command.command_id: command for command in made}
    state.changes.announce()
    return [command.json(state.application_id) for command in made]


def add_command(state: State, call: Call) -> Any:
    """POST .../commands; one of the same name is replaced."""
    guild, known = _scope(state, call)
    form = Form()
    check_command(form, (), call.fields)
    form.check()
    old = {command.key: command for command in known.values()}
    before = old.get((call.fields.get("type", 1), call.fields["name"]))
    if before is None and len(known) >= COMMANDS:
        raise refusal(30032)
    command = _made(state, guild, call.fields, before)
    known[command.command_id] = command
    state.changes.announce()
    answer = command.json(state.application_id)
    return Created(answer) if before is None else answer


def edit_command(state: State, call: Call) -> Any:
    """PATCH .../commands/{command_id}."""
    known, old = _one(state, call)
    merged = {**old.data, **call.fields}
    form = Form()
    check_command(form, (), merged)
    command = _made(state, old.guild_id, merged, old)
    if any(other.key == command.key for other in known.values() if other.key != old.key):
        form.add(
            (), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"
        )
    form.check()
    known[command.command_id] = command
    state.changes.announce()
    return command.json(state.application_id)


def delete_command(state: State, call: Call) -> None:
    """DELETE .../commands/{command_id}."""
    known, command = _one(state, call)
    del known[command.command_id]
    state.changes.announce()
