"""Making interactions out of what people do, and telling the bot of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.servers.discord.commands import (
    ATTACHMENT,
    CHAT_INPUT,
    GROUP,
    MESSAGE_MENU,
    SUBCOMMAND,
    USER,
    Command,
    filled,
)
from tests.servers.discord.components import SELECT, TEXT_INPUT, every
from tests.servers.discord.files import Upload, stored
from tests.servers.discord.intents import Event
from tests.servers.discord.limits import FILE_BYTES
from tests.servers.discord.permissions import USUAL
from tests.servers.discord.press import AUTOCOMPLETE, COMMAND, COMPONENT, MODAL, Press

if TYPE_CHECKING:
    from tests.servers.discord.chats import Chat
    from tests.servers.discord.people import Person
    from tests.servers.discord.shown import Shown


def press(chat: Chat, message: Shown, wanted: str, user: Person) -> Press:
    """Press a button."""
    with chat.state.changes.lock:
        present = chat.now(message)
        button = present.button(wanted)
        if "custom_id" not in button:
            raise LookupError(f"button {wanted!r} sends nothing to the bot")
        if button.get("disabled"):
            raise LookupError(f"button {wanted!r} is disabled")
        data = {"custom_id": button["custom_id"], "component_type": button["type"]}
        return _tell(chat, user, COMPONENT, data, present)


def select(
    chat: Chat, message: Shown, values: Sequence[str], user: Person, wanted: str | None
) -> Press:
    """Choose in a select menu."""
    with chat.state.changes.lock:
        present = chat.now(message)
        menu = present.menu(wanted)
        if menu.get("disabled"):
            raise LookupError("the select menu is disabled")
        low, high = menu.get("min_values", 1), menu.get("max_values", 1)
        if not low <= len(values) <= high:
            raise ValueError(f"the menu takes {low} to {high} options")
        chosen = list(values)
        if menu["type"] == SELECT:
            by_name = {option["label"]: option["value"] for option in menu["options"]}
            by_name |= {option["value"]: option["value"] for option in menu["options"]}
            if missing := [value for value in values if value not in by_name]:
                raise LookupError(f"no option {missing}, only {list(by_name)}")
            chosen = [by_name[value] for value in values]
        data: dict[str, Any] = {
            "custom_id": menu["custom_id"],
            "component_type": menu["type"],
            "values": chosen,
        }
        return _tell(chat, user, COMPONENT, data, present)


def slash(chat: Chat, user: Person, name: str, options: Mapping[str, object]) -> Press:
    """Use a command."""
    with chat.state.changes.lock:
        command, path = _command(chat, name)
        return _use(chat, user, command, path, options, None)


def autocomplete(
    chat: Chat,
    user: Person,
    name: str,
    focused: str,
    typed: str,
    options: Mapping[str, object],
) -> Press:
    """Type into an option that has suggestions."""
    with chat.state.changes.lock:
        command, path = _command(chat, name)
        known = {option["name"]: option for option in _leaf(command, path)}
        if not known.get(focused, {}).get("autocomplete"):
            raise LookupError(f"option {focused!r} has no suggestions")
        return _use(chat, user, command, path, {**options, focused: typed}, focused)


def use_on(chat: Chat, user: Person, name: str, message: Shown) -> Press:
    """Use a command of the menu of a message."""
    with chat.state.changes.lock:
        command = _find(chat, MESSAGE_MENU, name)
        number = str(message.message_id)
        data = {
            "id": str(command.command_id),
            "name": name,
            "type": MESSAGE_MENU,
            "target_id": number,
            "resolved": {"messages": {number: chat.now(message).json()}},
        }
        return _tell(chat, user, COMMAND, data, name=name)


def submit_modal(chat: Chat, source: Press, values: Mapping[str, str], user: Person) -> Press:
    """Send a modal, filled in by custom id; a field left out keeps what it was opened with."""
    with chat.state.changes.lock:
        modal = source.modal
        if modal is None:
            raise LookupError("no modal was opened")
        fields = {
            field["custom_id"]: field
            for field in every(modal["components"])
            if field.get("type") == TEXT_INPUT
        }
        if unknown := values.keys() - fields.keys():
            raise LookupError(f"no field {sorted(unknown)}, only {sorted(fields)}")
        given = {name: values.get(name, field.get("value", "")) for name, field in fields.items()}
        for name, field in fields.items():
            low = field.get("min_length", int(field.get("required", True)))
            if not low <= len(given[name]) <= field.get("max_length", 4000):
                raise ValueError(f"the app would not send {given[name]!r} in {name!r}")
        data = {
            "custom_id": modal["custom_id"],
            "components": [_sent(row, given) for row in modal["components"]],
        }
        return _tell(chat, user, MODAL, data, source.message)


def _sent(row: dict[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    def field(item: dict[str, Any]) -> dict[str, Any]:
        name = item["custom_id"]
        return {"type": item["type"], "custom_id": name, "value": given.get(name, "")}

    if "component" in row:
        return {"type": row["type"], "component": field(row["component"])}
    return {"type": row["type"], "components": [field(item) for item in row.get("components", [])]}


def _find(chat: Chat, kind: int, name: str) -> Command:
    """Return a command; one of the server goes before one of everywhere."""
    scopes = [None] if chat.guild is None else [chat.guild.id, None]
    for scope in scopes:
        for command in chat.state.commands.get(scope, {}).values():
            if command.key == (kind, name) and command.usable(chat):
                return command
    known = sorted(
        c.key[1] for scope in scopes for c in chat.state.commands.get(scope, {}).values()
    )
    raise LookupError(f"no command {name!r} is registered here, only {known}")


def _command(chat: Chat, name: str) -> tuple[Command, list[str]]:
    first, *path = name.removeprefix("/").split()
    return _find(chat, CHAT_INPUT, first), path


def _leaf(command: Command, path: Sequence[str]) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = command.data.get("options") or []
    for step in path:
        inner = [o for o in options if o["name"] == step and o["type"] in (SUBCOMMAND, GROUP)]
        if not inner:
            raise LookupError(f"no subcommand {step!r} in {command.data['name']!r}")
        options = inner[0].get("options") or []
    if any(option["type"] in (SUBCOMMAND, GROUP) for option in options):
        raise LookupError(f"command {command.data['name']!r} needs a subcommand")
    return options


def _use(
    chat: Chat,
    user: Person,
    command: Command,
    path: Sequence[str],
    given: Mapping[str, object],
    focused: str | None,
) -> Press:
    leaf = _leaf(command, path)
    resolved: dict[str, dict[str, Any]] = {}
    values = dict(given)
    for option in leaf:
        value = given.get(option["name"])
        if isinstance(value, Upload) and option["type"] == ATTACHMENT:
            file = stored(chat.state, chat.id, value)
            resolved.setdefault("attachments", {})[str(file.file_id)] = file.json(chat.state)
            values[option["name"]] = str(file.file_id)
        elif option["type"] == USER and value is not None:
            number = int(getattr(value, "id", value))  # type: ignore[call-overload]
            resolved.setdefault("users", {})[str(number)] = chat.state.user_json(number)
    sent = filled(leaf, values, focused)
    for step, kind in zip(reversed(path), [SUBCOMMAND, GROUP][: len(path)], strict=False):
        sent = [{"name": step, "type": kind, "options": sent}]
    data: dict[str, Any] = {
        "id": str(command.command_id),
        "name": command.data["name"],
        "type": CHAT_INPUT,
        "options": sent,
    }
    if resolved:
        data["resolved"] = resolved
    if command.guild_id is not None:
        data["guild_id"] = str(command.guild_id)
    kind = COMMAND if focused is None else AUTOCOMPLETE
    return _tell(chat, user, kind, data, name=" ".join([command.data["name"], *path]))


def _tell(
    chat: Chat,
    user: Person,
    kind: int,
    data: dict[str, Any],
    message: Shown | None = None,
    name: str | None = None,
) -> Press:
    state, guild = chat.state, chat.guild
    chat.enter(user)
    made = Press(state, state.snowflake(), kind, chat, user, state.clock(), message, name)
    payload: dict[str, Any] = {
        "id": str(made.interaction_id),
        "application_id": str(state.application_id),
        "type": kind,
        "token": made.token,
        "version": 1,
        "data": data,
        "channel_id": str(chat.id),
        "channel": chat.json(),
        "locale": user.locale,
        "entitlements": [],
        "attachment_size_limit": FILE_BYTES,
        "authorizing_integration_owners": {"0": "0" if guild is None else str(guild.id)},
        "context": 1 if guild is None else 0,
        "app_permissions": str(int(USUAL if guild is None else guild.permissions)),
    }
    if guild is None:
        payload["user"] = user.json()
    else:
        permissions = str(int(guild.roles[guild.id].permissions))
        payload |= {
            "guild_id": str(guild.id),
            "guild": {"id": str(guild.id), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": {**guild.member_json(user.id), "permissions": permissions},
        }
    if message is not None:
        payload["message"] = message.json()
    state.presses[made.interaction_id] = made
    made.update = state.push(Event("INTERACTION_CREATE", payload))
    return made
