"""What an event means, in our own words. Pure: no call, no clock, no state.

Decided here: who spoke, where the answer goes, whether we are meant, what was said. Events leave
out things that matter (a person's name, the words replied to, in a press even the kind of chat);
who calls looks them up and hands them over as ``Known``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from bots.feishu.content import Said, said
from bots.feishu.media import attachments
from bots.names import shown_name
from core.commands.parse import split_command
from core.context import (
    AccountId,
    ChatKind,
    Command,
    InboundMessage,
    Joined,
    Press,
    Quote,
    ReplyTarget,
    Sender,
    Text,
    Unsupported,
)

CHANNEL: Final = "feishu"
MESSAGE: Final = "im.message.receive_v1"
EDITED: Final = "im.message.updated_v1"
ADDED: Final = "im.chat.member.bot.added_v1"
PRESS: Final = "card.action.trigger"

ACTION: Final = "action"
THREAD: Final = "thread"
"""Keys of what a button of ours sends back."""

_LOCALE: Final = re.compile(r"\bLarkLocale/([A-Za-z]{2,3}(?:[_-][A-Za-z0-9]+)*)")
_NEAR_LIMIT: Final = 9_000
"""Characters. The apps take about ten thousand in one message; the rest comes in a next one."""
_MOST_BUNDLED: Final = 101
"""Messages of a bundle that are read, its own entry included ..."""
_LONGEST_BUNDLE: Final = 30_000
"""... and characters of them all."""
_SILENT: Final = frozenset({"system"})
"""Kinds of messages that nobody wrote."""


@dataclass(frozen=True, slots=True)
class Me:
    """The app and its bot."""

    app_id: str
    open_id: str
    """Of the bot."""
    answers_all: bool = False
    """``@all`` in a group means us too."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was looked up beside an event; everything may be missing."""

    name: str = ""
    """Of the person."""
    private: bool | None = None
    """Whether the chat of a press is a private one; None counts as a group."""
    parent: Mapping[str, Any] | None = None
    """The message replied to, as the platform's look-up gives it."""
    parent_author: str = ""
    bundle: str = ""
    """Words of a bundle of messages that was passed on."""


def receive(
    body: Mapping[str, Any], me: Me, now: datetime, known: Known = Known()
) -> InboundMessage | None:
    """Return what a person said or pressed, or None when nobody has to hear of it.

    ``body`` is an event of schema 2.0; ``now`` a UTC instant, used where an event carries no time.
    Raises KeyError, TypeError or ValueError for what is not such an event.
    """
    kind = event_type(body)
    if kind == MESSAGE:
        return _message(body["event"], me, now, known)
    if kind == ADDED:
        return _joined(body["event"], me, now, known)
    return _press(body, me, now, known) if kind == PRESS else None


def event_type(body: Mapping[str, Any]) -> str:
    """Return the kind of an event, empty when it has none."""
    header = body.get("header")
    return str(header.get("event_type", "")) if isinstance(header, Mapping) else ""


def person_of(body: Mapping[str, Any]) -> str:
    """Return the open_id of the one who wrote or pressed."""
    event = body["event"]
    kind = event_type(body)
    if kind == ADDED:
        ids = event["operator_id"]
    else:
        ids = event["operator"] if kind == PRESS else event["sender"]["sender_id"]
    return str(ids["open_id"])


def parent_of(body: Mapping[str, Any]) -> str | None:
    """Return the id of the message that this one answers.

    In a topic every message "answers" the one that opened it; that is no reply.
    """
    if event_type(body) != MESSAGE:
        return None
    message = body["event"]["message"]
    parent = message.get("parent_id")
    if not parent or (message.get("thread_id") and parent == message.get("root_id")):
        return None
    return str(parent)


def bundle_of(body: Mapping[str, Any]) -> str | None:
    """Return the id of a message that passes a bundle of messages on."""
    if event_type(body) != MESSAGE:
        return None
    message = body["event"]["message"]
    return str(message["message_id"]) if message["message_type"] == "merge_forward" else None


def author_of(message: Mapping[str, Any], me: Me) -> tuple[str, bool]:
    """Return the open_id (or app id) of a looked-up message's author, and whether that is us."""
    sender = message.get("sender")
    if not isinstance(sender, Mapping):
        return "", False
    author = str(sender.get("id") or "")
    return author, sender.get("sender_type") == "app" and author == me.app_id


def _message(
    event: Mapping[str, Any], me: Me, now: datetime, known: Known
) -> InboundMessage | None:
    sender, message = event["sender"], event["message"]
    kind = str(message["message_type"])
    if sender.get("sender_type") != "user" or kind in _SILENT:
        return None
    open_id = str(sender["sender_id"]["open_id"])
    private = message.get("chat_type") == "p2p"
    words = said(
        kind,
        message.get("content"),
        message.get("mentions"),
        me.open_id,
        all_means_us=me.answers_all,
    )
    attached = attachments(kind, message.get("content"), str(message["message_id"]))
    quote = _quote(known, me)
    passed_on = _passed_on(kind, words, known)
    if passed_on is not None:
        words, quote = Said("", False), passed_on
    # A reply to us that calls somebody else first is meant for them (F020).
    answers_us = quote is not None and quote.from_tutor and not (words and words.for_another)
    meant = (words is not None and words.mentioned) or answers_us
    content: Text | Command | Unsupported
    command = split_command(words.text) if words else None
    if command is not None:
        content = Command(name=command[0], arguments=command[1], overheard=not (private or meant))
    elif words is not None and (words.text or words.mentioned or attached or passed_on):
        content = Text(text=words.text)
    elif attached:
        content = Text(text="")
    else:
        content = Unsupported(what=kind)
    thread = message.get("thread_id") or None
    return InboundMessage(
        message_id=str(message["message_id"]),
        target=ReplyTarget(
            channel=CHANNEL,
            account=me.app_id,
            chat=str(message["chat_id"]),
            thread=thread,
            reply_to=str(message["message_id"]),
        ),
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(open_id, me, known, _language(message.get("user_agent"))),
        content=content,
        addressed=private or meant or isinstance(content, Command),
        shared_thread=thread is not None and not private,
        quote=quote,
        attachments=attached,
        cut=words is not None and len(words.text) >= _NEAR_LIMIT,
        received_at=_moment(message.get("create_time"), now),
    )


def _joined(event: Mapping[str, Any], me: Me, now: datetime, known: Known) -> InboundMessage:
    """We were taken into a group: the same event however often that happens."""
    chat = str(event["chat_id"])
    return InboundMessage(
        message_id=f"joined:{chat}",
        target=ReplyTarget(channel=CHANNEL, account=me.app_id, chat=chat),
        chat_kind=ChatKind.GROUP,
        sender=_sender(str(event["operator_id"]["open_id"]), me, known, None),
        content=Joined(),
        addressed=True,
        received_at=now,
    )


def _press(body: Mapping[str, Any], me: Me, now: datetime, known: Known) -> InboundMessage | None:
    event = body["event"]
    value = event["action"].get("value")
    action = value.get(ACTION) if isinstance(value, Mapping) else None
    if not isinstance(action, str):
        return None  # no button of ours
    thread = value.get(THREAD) or None
    context = event["context"]
    origin = str(context["open_message_id"])
    private = known.private is True
    return InboundMessage(
        message_id=f"cb:{event.get('token') or body['header']['event_id']}",
        target=ReplyTarget(
            channel=CHANNEL,
            account=me.app_id,
            chat=str(context["open_chat_id"]),
            thread=thread,
            reply_to=origin,
        ),
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(str(event["operator"]["open_id"]), me, known, None),
        content=Press(action=action, origin=origin),
        addressed=True,
        shared_thread=thread is not None and not private,
        received_at=now,
    )


def _sender(open_id: str, me: Me, known: Known, language: str | None) -> Sender:
    if not open_id:
        raise ValueError("nobody wrote this")
    return Sender(
        account=AccountId(f"{CHANNEL}:{me.app_id}/{open_id}"),
        name=shown_name(known.name) or open_id[-6:],
        language=language,
    )


def _quote(known: Known, me: Me) -> Quote | None:
    """Return the message replied to, as far as it could be looked up; its text is untrusted."""
    parent = known.parent
    if parent is None:
        return None
    _, ours = author_of(parent, me)
    kind = str(parent.get("msg_type") or "message")
    body = parent.get("body")
    content = body.get("content") if isinstance(body, Mapping) else None
    words = said(kind, content, parent.get("mentions"), "")
    message_id = str(parent.get("message_id") or "")
    return Quote(
        author=shown_name(known.parent_author),
        text=(words.text if words else "") or f"[{kind}]",
        message_id=message_id or None,
        from_tutor=ours,
        attachments=attachments(kind, content, message_id) if message_id else (),
    )


def _passed_on(kind: str, words: Said | None, known: Known) -> Quote | None:
    """Return what somebody passes on, a card or a bundle of messages: untrusted, runs nothing."""
    if kind == "interactive" and words is not None and words.text:
        return Quote(author="", text=words.text)
    if kind == "merge_forward" and known.bundle:
        return Quote(author="", text=known.bundle)
    return None


def bundled(items: object, names: Mapping[str, str]) -> str:
    """Return the words of a bundle of messages, a line each; ``names`` are by open_id.

    ``items`` is what the platform's look-up of the bundle gives: itself first, then its messages.
    """
    lines = []
    for item in items[1:_MOST_BUNDLED] if isinstance(items, list) else []:
        if not isinstance(item, Mapping):
            continue
        kind = str(item.get("msg_type") or "message")
        body = item.get("body")
        content = body.get("content") if isinstance(body, Mapping) else None
        words = said(kind, content, item.get("mentions"), "")
        sender = item.get("sender")
        author = str(sender.get("id") or "") if isinstance(sender, Mapping) else ""
        name = shown_name(names.get(author, "")) or author[-6:] or "?"
        text = (words.text if words else "") or f"[{kind}]"
        lines.append(f"{name}: {text}")
    return "\n".join(lines)[:_LONGEST_BUNDLE]


def _language(user_agent: object) -> str | None:
    found = _LOCALE.search(user_agent) if isinstance(user_agent, str) else None
    return found[1].replace("_", "-") if found else None


def _moment(milliseconds: object, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(int(str(milliseconds)) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return now
