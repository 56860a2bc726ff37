"""Endpoints that show, change, list and remove messages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tests.servers.discord.channels import Thread
from tests.servers.discord.chats import Action, Chat
from tests.servers.discord.errors import invalid, refusal
from tests.servers.discord.form import Form, snowflake
from tests.servers.discord.intents import MESSAGE_CONTENT, blanked
from tests.servers.discord.limits import NONCE_SECONDS, REACTIONS
from tests.servers.discord.permissions import Permission
from tests.servers.discord.rest.call import Call
from tests.servers.discord.rest.drafts import composed, drafted, notified
from tests.servers.discord.shown import COMMAND, DEFAULT, REPLY, Shown
from tests.servers.discord.state import State

PAGE = 50
PAGE_MOST = 100
_EMOJI = re.compile(
    r"(?=.*[^\x00-\x7f])"
    r"[0-9#*\u00a9\u00ae\u200d\u20e3\u2100-\u32ff\ufe0f\U0001f000-\U000e007f]{1,16}"
)


def chat_of(state: State, number: int, *wanted: Permission) -> Chat:
    """Return a channel where the bot has these permissions; raises Refusal."""
    chat = state.chats.get(number)
    if chat is None:
        raise refusal(10003)
    out = chat.guild is not None and not chat.guild.available
    if out or not chat.bot_may(Permission.VIEW_CHANNEL):
        raise refusal(50001)
    for permission in wanted:
        if not chat.bot_may(permission):
            raise refusal(50013)
    return chat


def message_of(chat: Chat, number: int) -> Shown:
    """Return a message that the bot may address by its id; raises Refusal."""
    message = chat.find(number)
    if message is None or message.only_for is not None:
        raise refusal(10008)
    return message


def writable(chat: Chat) -> None:
    """Make sure that a message can be sent; a sleeping thread wakes. Raises Refusal."""
    if chat.kind == "forum":
        raise refusal(50008)
    if chat.person is not None and not chat.person.reachable:
        raise refusal(50007)
    if isinstance(chat, Thread):
        if not chat.bot_may(Permission.SEND_MESSAGES_IN_THREADS):
            raise refusal(50013)
        if chat.locked and not chat.bot_may(Permission.MANAGE_THREADS):
            raise refusal(50083 if chat.archived else 160005)
        if chat.archived:
            chat.archive(False)
        chat.joined.add(chat.state.bot_id)
    elif not chat.bot_may(Permission.SEND_MESSAGES):
        raise refusal(50013)


def awake(chat: Chat) -> None:
    """Make sure that a thread is not archived; raises Refusal."""
    if isinstance(chat, Thread) and chat.archived:
        raise refusal(50083)


def replied_to(chat: Chat, fields: dict[str, Any]) -> Shown | None:
    """Return the message that a body answers; raises Refusal when it cannot be answered."""
    form = Form()
    path = ("message_reference",)
    reference = form.mapping(path, fields.get("message_reference"))
    if not reference:
        form.check()
        return None
    number = snowflake(reference.get("message_id"))
    if number is None:
        form.missing((*path, "message_id"))
    elsewhere = snowflake(reference.get("channel_id", chat.id)) != chat.id
    if elsewhere:
        form.add(path, "MESSAGE_REFERENCE_CHANNEL_MISMATCH", "Cannot reply to a message elsewhere")
    form.check()
    if not chat.bot_may(Permission.READ_MESSAGE_HISTORY):
        raise refusal(160002)
    original = chat.find(number or 0)
    if original is None or original.only_for is not None:
        if reference.get("fail_if_not_exists") is False:
            return None
        raise invalid(path, "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if original.kind not in (DEFAULT, REPLY, COMMAND):
        raise invalid(
            path, "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message"
        )
    return original


def create_message(state: State, call: Call) -> Any:
    """POST /channels/{channel_id}/messages. A nonce with enforce_nonce makes one message only."""
    chat = chat_of(state, call.id("channel_id"))
    draft = drafted(call.fields, call.files, Form())
    if draft.uploads and not chat.bot_may(Permission.ATTACH_FILES):
        raise refusal(50013)
    original = replied_to(chat, call.fields)
    again = call.fields.get("enforce_nonce") is True and _made_by(state, draft.nonce)
    if again:
        return again.chat.now(again).json() if again.chat.find(again.message_id) else again.json()
    writable(chat)
    blank = Shown(
        chat,
        state.snowflake(),
        None,
        state.now(),
        kind=DEFAULT if original is None else REPLY,
        reply_to=None if original is None else original.message_id,
        nonce=draft.nonce,
    )
    message = notified(composed(chat, draft, blank), draft, original)
    message = chat.show(message)
    if draft.nonce is not None:
        state.nonces[str(draft.nonce)] = (state.clock(), message)
    return message.json()


def _made_by(state: State, nonce: str | int | None) -> Shown | None:
    limit = state.clock() - NONCE_SECONDS
    while state.nonces and next(iter(state.nonces.values()))[0] < limit:
        del state.nonces[next(iter(state.nonces))]
    return state.nonces[str(nonce)][1] if nonce is not None and str(nonce) in state.nonces else None


def edit_message(state: State, call: Call) -> Any:
    """PATCH /channels/{channel_id}/messages/{message_id}. Nobody is notified again."""
    chat = chat_of(state, call.id("channel_id"))
    old = message_of(chat, call.id("message_id"))
    if not old.from_bot:
        raise refusal(50005)
    return edited(chat, old, call, Form()).json()


def edited(chat: Chat, old: Shown, call: Call, form: Form, key: str | None = None) -> Shown:
    """Change a message of the bot by a body, or by its part ``key``; raises Refusal."""
    fields = call.fields if key is None else form.mapping((), call.fields.get(key))
    draft = drafted(fields, call.files, form, old)
    if old.kind not in (DEFAULT, REPLY, COMMAND):
        raise refusal(50021)
    awake(chat)
    new = composed(chat, draft, old)
    return chat.show(replace(new, edited=chat.state.now()), "MESSAGE_UPDATE")


def delete_message(state: State, call: Call) -> None:
    """DELETE /channels/{channel_id}/messages/{message_id}."""
    chat = chat_of(state, call.id("channel_id"))
    message = message_of(chat, call.id("message_id"))
    if not message.from_bot:
        if chat.person is not None:
            raise refusal(50003)
        if not chat.bot_may(Permission.MANAGE_MESSAGES):
            raise refusal(50013)
    awake(chat)
    chat.take_away(message.message_id)


def readable(state: State, message: Shown) -> dict[str, Any]:
    """Return a message as the bot may read it when it asks."""
    own = message.from_bot or state.bot_id in message.mentions.users
    if message.chat.guild is None or own or state.portal_intents & MESSAGE_CONTENT:
        return message.json()
    return blanked(message.json())


def get_message(state: State, call: Call) -> Any:
    """GET /channels/{channel_id}/messages/{message_id}."""
    chat = chat_of(state, call.id("channel_id"), Permission.READ_MESSAGE_HISTORY)
    return readable(state, message_of(chat, call.id("message_id")))


def list_messages(state: State, call: Call) -> Any:
    """GET /channels/{channel_id}/messages, newest first; ``after`` gives the oldest after it."""
    chat = chat_of(state, call.id("channel_id"))
    limit = _limit(call)
    marks = {
        name: _mark(name, call.query[name])
        for name in ("around", "before", "after")
        if name in call.query
    }
    if len(marks) > 1:
        raise invalid((), "BASE_TYPE_EXCLUSIVE", "around, before and after exclude each other")
    if not chat.bot_may(Permission.READ_MESSAGE_HISTORY):
        return []
    found = [message for message in chat.messages if message.only_for is None]
    if "after" in marks:
        found = [message for message in found if message.message_id > marks["after"]][:limit]
    elif "before" in marks:
        found = [message for message in found if message.message_id < marks["before"]][-limit:]
    elif "around" in marks:
        mark = marks["around"]
        older = [message for message in found if message.message_id < mark]
        newer = [message for message in found if message.message_id >= mark]
        found = (older[-(limit // 2) :] + newer)[:limit]
    else:
        found = found[-limit:]
    return [readable(state, message) for message in reversed(found)]


def _limit(call: Call) -> int:
    raw = call.query.get("limit", str(PAGE))
    form = Form()
    limit = form.number(("limit",), int(raw) if raw.lstrip("-").isdecimal() else raw, 1, PAGE_MOST)
    form.check()
    return limit


def _mark(name: str, raw: str) -> int:
    number = snowflake(raw)
    if number is None:
        raise invalid((name,), "NUMBER_TYPE_COERCE", f'Value "{raw}" is not snowflake.')
    return number


def typing(state: State, call: Call) -> None:
    """POST /channels/{channel_id}/typing."""
    chat = chat_of(state, call.id("channel_id"))
    if chat.person is not None and not chat.person.reachable:
        raise refusal(50007)
    if chat.guild is not None and not chat.bot_may(Permission.SEND_MESSAGES):
        raise refusal(50013)
    awake(chat)
    chat.actions.append(Action())
    chat.announce()


def add_reaction(state: State, call: Call) -> None:
    """PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me."""
    chat, message, emoji = _reaction(state, call)
    if emoji not in message.reactions:
        if not chat.bot_may(Permission.ADD_REACTIONS):
            raise refusal(50013)
        if len(message.reactions) >= REACTIONS:
            raise refusal(30010)
    chat.reacted(message, state.bot_id, emoji, added=True)


def remove_reaction(state: State, call: Call) -> None:
    """DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me."""
    chat, message, emoji = _reaction(state, call)
    chat.reacted(message, state.bot_id, emoji, added=False)


def list_reactions(state: State, call: Call) -> Any:
    """GET /channels/{channel_id}/messages/{message_id}/reactions/{emoji}."""
    _, message, emoji = _reaction(state, call)
    return [state.user_json(number) for number in message.reactions.get(emoji, ())]


def _reaction(state: State, call: Call) -> tuple[Chat, Shown, str]:
    chat = chat_of(state, call.id("channel_id"), Permission.READ_MESSAGE_HISTORY)
    message = message_of(chat, call.id("message_id"))
    emoji = call.path["emoji"]
    # No server here has emoji of its own, so only those of Unicode exist.
    if not _EMOJI.fullmatch(emoji):
        raise refusal(10014)
    awake(chat)
    return chat, message, emoji
