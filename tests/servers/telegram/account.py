"""Methods about the bot itself, its commands, files, and the presses it must answer."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from tests.servers.telegram.errors import bad
from tests.servers.telegram.limits import (
    ANSWER_CHARACTERS,
    COMMAND_DESCRIPTION,
    COMMANDS,
    DOWNLOAD_BYTES,
    UPDATES_AT_ONCE,
)
from tests.servers.telegram.messages import chat_of
from tests.servers.telegram.parameters import Parameters
from tests.servers.telegram.state import State

Method = Callable[[State, Parameters], Awaitable[Any]]

_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_LANGUAGE = re.compile(r"(?:[a-z]{2})?")
_SCOPES = {
    "default": (),
    "all_private_chats": (),
    "all_group_chats": (),
    "all_chat_administrators": (),
    "chat": ("chat_id",),
    "chat_administrators": ("chat_id",),
    "chat_member": ("chat_id", "user_id"),
}


async def get_me(state: State, p: Parameters) -> Any:
    """getMe."""
    return {
        **state.bot_user,
        "can_join_groups": state.joins_groups,
        "can_read_all_group_messages": state.reads_all,
        "supports_inline_queries": False,
        "has_topics_enabled": state.private_topics,
    }


async def get_updates(state: State, p: Parameters) -> Any:
    """getUpdates."""
    with state.changes.lock:
        state.updates.allow(p.json("allowed_updates"))
    return await state.updates.read(
        p.integer("offset") or 0,
        p.integer("limit") or UPDATES_AT_ONCE,
        p.integer("timeout") or 0,
    )


async def set_webhook(state: State, p: Parameters) -> Any:
    """setWebhook. The address is kept and never called."""
    url = p.text("url")
    if url and not url.startswith("https://"):
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    state.updates.allow(p.json("allowed_updates"))
    if p.flag("drop_pending_updates"):
        state.updates.forget_all()
    state.updates.set_webhook(url)
    return True


async def delete_webhook(state: State, p: Parameters) -> Any:
    """deleteWebhook."""
    if p.flag("drop_pending_updates"):
        state.updates.forget_all()
    state.updates.set_webhook("")
    return True


async def get_webhook_info(state: State, p: Parameters) -> Any:
    """getWebhookInfo."""
    return {
        "url": state.updates.webhook,
        "has_custom_certificate": False,
        "pending_update_count": len(state.updates.pending),
    }


async def answer_callback_query(state: State, p: Parameters) -> Any:
    """answerCallbackQuery. A press is answered once, while the platform remembers it."""
    if len(p.text("text")) > ANSWER_CHARACTERS:
        raise bad("MESSAGE_TOO_LONG")
    press = state.presses.get(p.text("callback_query_id"))
    if press is None or press.stale or press.answer is not None:
        raise bad("query is too old and response timeout expired or query ID is invalid")
    press.answer = {"text": p.text("text"), "show_alert": p.flag("show_alert")}
    state.changes.announce()
    return True


def _scope_of(state: State, p: Parameters) -> tuple[str, str]:
    scope = p.json("scope")
    if scope is None:
        scope = {"type": "default"}
    if not isinstance(scope, dict) or scope.get("type") not in _SCOPES:
        raise bad("can't parse BotCommandScope: Unsupported type specified")
    needed = _SCOPES[scope["type"]]
    for name in needed:
        if name not in scope:
            raise bad(f"can't parse BotCommandScope: Can't find field \"{name}\"")
    if "chat_id" in needed and state.find_chat(str(scope["chat_id"])) is None:
        raise bad("chat not found")
    language = p.text("language_code")
    if not _LANGUAGE.fullmatch(language):
        raise bad("invalid language code specified")
    kept = {"type": scope["type"], **{name: str(scope[name]) for name in needed}}
    return json.dumps(kept, sort_keys=True), language


async def set_my_commands(state: State, p: Parameters) -> Any:
    """setMyCommands."""
    raw = p.json("commands")
    if not isinstance(raw, list):
        raise bad("expected an Array of BotCommand")
    commands = []
    for command in raw:
        if not isinstance(command, dict):
            raise bad("can't parse BotCommand: expected an Object")
        name, description = command.get("command"), command.get("description")
        if not isinstance(name, str) or not _COMMAND.fullmatch(name):
            raise bad("BOT_COMMAND_INVALID")
        if not isinstance(description, str) or not 1 <= len(description) <= COMMAND_DESCRIPTION:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        commands.append({"command": name, "description": description})
    if len(commands) > COMMANDS:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    state.commands[_scope_of(state, p)] = commands
    state.changes.announce()
    return True


async def delete_my_commands(state: State, p: Parameters) -> Any:
    """deleteMyCommands."""
    state.commands.pop(_scope_of(state, p), None)
    return True


async def get_my_commands(state: State, p: Parameters) -> Any:
    """getMyCommands."""
    return state.commands.get(_scope_of(state, p), [])


def _of_bot(state: State, p: Parameters, name: str) -> tuple[str, str]:
    language = p.text("language_code")
    if not _LANGUAGE.fullmatch(language):
        raise bad("invalid language code specified")
    return name, language


def _told(name: str, most: int) -> Method:
    async def tell(state: State, p: Parameters) -> Any:
        if len(p.text(name)) > most:
            raise bad(f"{name.upper()}_TOO_LONG")
        state.profile[_of_bot(state, p, name)] = p.text(name)
        return True

    return tell


def _known(name: str) -> Method:
    async def read(state: State, p: Parameters) -> Any:
        return {name: state.profile.get(_of_bot(state, p, name), "")}

    return read


set_my_description = _told("description", 512)
get_my_description = _known("description")
set_my_short_description = _told("short_description", 120)
get_my_short_description = _known("short_description")


async def get_chat(state: State, p: Parameters) -> Any:
    """getChat."""
    chat = chat_of(state, p)
    gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription")
    return {
        **chat.json(),
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys((*gifts, "gifts_from_channels"), False),
    }


async def get_file(state: State, p: Parameters) -> Any:
    """getFile. Files over 20 MB are refused, as by the public server."""
    file = state.files.get(p.text("file_id"))
    if file is None:
        raise bad("wrong file_id or the file is temporarily unavailable")
    if file.size > DOWNLOAD_BYTES:
        raise bad("file is too big")
    file.linked = True
    return {**file.json(), "file_path": file.path}
