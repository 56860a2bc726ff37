"""The message interfaces: send, answer, edit, recall, look up, list, react."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.servers.feishu import cards, errors
from tests.servers.feishu.call import Call, ok
from tests.servers.feishu.content import Content, check_card, check_content
from tests.servers.feishu.emojis import EMOJIS
from tests.servers.feishu.errors import CardRefusal, Refusal, invalid, missing
from tests.servers.feishu.limits import EDITS, PAGE, RICH_BYTES, UUID_CHARACTERS, UUID_SECONDS
from tests.servers.feishu.press import expired
from tests.servers.feishu.shown import Place, Shown

if TYPE_CHECKING:
    from tests.servers.feishu.chats import Chat
    from tests.servers.feishu.state import State

_RECEIVERS = ("open_id", "user_id", "union_id", "email", "chat_id")


def create(state: State, call: Call) -> dict[str, Any]:
    """Send a message to a person or a chat."""
    kind = call.query.get("receive_id_type")
    if kind not in _RECEIVERS:
        raise missing("receive_id_type", f"is not one of {', '.join(_RECEIVERS)}")
    chat = _receiver(state, kind, call.text("receive_id"))
    check_reachable(chat)
    return ok(_send(state, call, chat, None).json(raw_card=True))


def reply(state: State, call: Call) -> dict[str, Any]:
    """Answer a message; in a topic, or to open one, as part of it."""
    parent = _message(state, call)
    check_reachable(parent.chat)
    return ok(_send(state, call, parent.chat, parent).json(raw_card=True))


def update(state: State, call: Call) -> dict[str, Any]:
    """Edit a text or post of the bot, at most twenty times."""
    message = _own(state, call)
    kind = call.text("msg_type")
    if message.kind not in ("text", "post") or kind not in ("text", "post"):
        raise errors.WRONG_KIND
    content = check_content(state, kind, call.text("content"))
    if message.edits >= EDITS:
        raise errors.EDITED_OUT
    edited = replace(
        message,
        kind=kind,
        content=content.value,
        mentions=content.mentions,
        edits=message.edits + 1,
        updated=state.clock.milliseconds(),
    )
    message.chat.put(edited)
    message.chat.announce()
    return ok(edited.json())


def patch(state: State, call: Call) -> dict[str, Any]:
    """Replace a card of the bot, for fourteen days, unless somebody's press is being answered."""
    message = _own(state, call)
    if message.kind != "interactive":
        raise errors.WRONG_KIND
    raw = call.text("content")
    if len(raw.encode()) > RICH_BYTES:
        raise errors.TOO_LONG
    card = call.object("content")
    check_card(state, card)
    if cards.is_new(message.content) and not cards.is_new(card):
        raise CardRefusal(200830, "schemaV2 card can not change schemaV1").refusal
    if expired(message):
        raise errors.TOO_OLD
    if message.message_id in state.pressed:
        raise CardRefusal(11310, "card action is lock").refusal
    if state.frequency.wait_of(message.message_id, state.rates.patch_per_second, 1.0):
        raise errors.CHAT_FREQUENCY
    message.chat.put(replace(message, content=card, updated=state.clock.milliseconds()))
    message.chat.announce()
    return {"code": 0, "msg": "success", "data": {}}


def delete(state: State, call: Call) -> dict[str, Any]:
    """Recall a message of the bot."""
    message = _own(state, call)
    message.chat.recall(message)
    return ok()


def get(state: State, call: Call) -> dict[str, Any]:
    """Look a message up; a forwarded bundle comes with its parts."""
    message = _message(state, call, recalled=True)
    _check_inside(message.chat)
    raw = call.query.get("card_msg_content_type") == "raw_card_content"
    parts = message.chat.bundles.get(message.message_id, [])
    return ok({"items": [one.json(raw_card=raw) for one in [message, *parts]]})


def list_messages(state: State, call: Call) -> dict[str, Any]:
    """List a chat (of topics only the roots) or a topic, page by page."""
    container, wanted = call.query.get("container_id_type"), call.query.get("container_id", "")
    if container == "chat" and (chat := state.chats.get(wanted)) is not None:
        found = [one for one in chat.messages if one.thread_id is None or one.root_id is None]
    elif container == "thread":
        found = [
            one for chat in state.chats.values() for one in chat.messages if one.thread_id == wanted
        ]
        if not found:
            raise invalid("invalid container_id")
        chat = found[0].chat
    else:
        raise invalid("invalid container_id or container_id_type")
    _check_inside(chat)
    start = call.query_number("start_time", 0) * 1000
    end = call.query_number("end_time", 10**12) * 1000
    found = [one for one in found if start <= one.created <= end]
    if call.query.get("sort_type") == "ByCreateTimeDesc":
        found.reverse()
    size = call.query_number("page_size", 20)
    if not 1 <= size <= PAGE:
        raise missing("page_size", f"is not 1 to {PAGE}")
    first = call.query_number("page_token", 0)
    more = first + size < len(found)
    return ok(
        {
            "has_more": more,
            "page_token": str(first + size) if more else "",
            "items": [one.json() for one in found[first : first + size]],
        }
    )


def react(state: State, call: Call) -> dict[str, Any]:
    """Put a reaction of the bot under a message."""
    message = _reacted(state, call)
    kind = (call.body or {}).get("reaction_type")
    emoji = kind.get("emoji_type") if isinstance(kind, dict) else None
    if not isinstance(emoji, str) or emoji not in EMOJIS:
        raise Refusal(231001, "reaction type is invalid.")
    reaction = message.chat.react(message, emoji, None)
    return ok(
        {
            "reaction_id": reaction.reaction_id,
            "operator": {"operator_id": state.app_id, "operator_type": "app"},
            "action_time": str(state.clock.milliseconds()),
            "reaction_type": {"emoji_type": emoji},
        }
    )


def unreact(state: State, call: Call) -> dict[str, Any]:
    """Take a reaction of the bot away."""
    message = _reacted(state, call)
    wanted = call.path["reaction_id"]
    for reaction in message.reactions:
        if reaction.reaction_id == wanted:
            if reaction.by is not None:
                raise Refusal(231007, "The operator is not the owner of the reaction.")
            message.chat.unreact(message, reaction)
            emoji = {"emoji_type": reaction.emoji}
            return ok({"reaction_id": wanted, "reaction_type": emoji})
    raise Refusal(231010, "The reaction is not found.")


def check_reachable(chat: Chat) -> None:
    """Refuse to write where the bot cannot."""
    _check_inside(chat)
    if chat.person is not None and chat.person.stopped:
        raise errors.STOPPED_BY_USER


def _check_inside(chat: Chat) -> None:
    if not chat.state.bot_ability:
        raise errors.NO_BOT_ABILITY
    if chat.dissolved:
        raise errors.DISSOLVED
    if not chat.bot_is_member:
        raise errors.BOT_OUTSIDE
    if chat.person is not None and not chat.person.available:
        raise errors.NO_AVAILABILITY


def _receiver(state: State, kind: str, wanted: str) -> Chat:
    if kind == "chat_id":
        chat = state.chats.get(wanted)
        if chat is None:
            raise errors.BAD_RECEIVER
        return chat
    for person in state.people.values():
        if kind != "email" and getattr(person, kind) == wanted:
            return person.private
    raise errors.BAD_RECEIVER


def _send(state: State, call: Call, chat: Chat, parent: Shown | None) -> Shown:
    kind, raw = call.text("msg_type"), call.text("content")
    uuid = call.optional("uuid", UUID_CHARACTERS)
    in_thread = parent is not None and call.flag("reply_in_thread")
    content = check_content(state, kind, raw)
    now = state.clock.now()
    if uuid is not None and uuid in state.sent:
        sent, earlier = state.sent[uuid]
        if now - sent < UUID_SECONDS:
            return earlier.chat.now(earlier)
    if state.frequency.wait_of(chat.chat_id, state.rates.chat_per_second, 1.0):
        raise errors.CHAT_FREQUENCY
    place = _place(chat, parent, in_thread)
    message = Shown(
        chat,
        state.fresh("om"),
        state.fresh_number(),
        None,
        state.fresh_moment(),
        kind,
        content.value,
        content.mentions,
        place,
    )
    message = _attached(content, message)
    chat.put(message)
    if uuid is not None:
        state.sent[uuid] = now, message
    chat.announce()
    return message


def _place(chat: Chat, parent: Shown | None, in_thread: bool) -> Place:
    thread_id = None if parent is None else parent.thread_id
    if parent is not None and thread_id is None and in_thread:
        thread_id = chat.open_topic(parent).id
    return chat.threading(parent, thread_id, quoting=False)


def _attached(content: Content, message: Shown) -> Shown:
    if content.entity is None:
        return message
    message = replace(message, card_id=content.entity.card_id)
    content.entity.message = message
    return message


def _message(state: State, call: Call, *, recalled: bool = False) -> Shown:
    message = state.find_message(call.path["message_id"])
    if message is None:
        raise invalid("invalid message_id")
    if message.recalled and not recalled:
        raise errors.RECALLED
    return message


def _own(state: State, call: Call) -> Shown:
    message = _message(state, call)
    check_reachable(message.chat)
    if message.sender is not None:
        raise errors.NOT_SENDER
    return message


def _reacted(state: State, call: Call) -> Shown:
    message = state.find_message(call.path["message_id"])
    if message is None or message.recalled:
        raise Refusal(231003, "The message is not found, maybe not exist or deleted.")
    if not message.chat.bot_is_member:
        raise Refusal(231002, "The operator has no permission to react on the specific message.")
    if message.chat.person is not None and not message.chat.person.available:
        raise Refusal(231022, "Bot has NO availability to this user.")
    return message


def holds(message: Shown, key: str) -> bool:
    """Tell whether a file key stands in a message."""
    return f'"{key}"' in json.dumps(message.content)
