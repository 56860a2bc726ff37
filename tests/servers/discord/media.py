"""Things people send that are not plain text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.servers.discord.chats import Chat
from tests.servers.discord.files import Upload
from tests.servers.discord.people import Person
from tests.servers.discord.shown import VOICE, Shown, iso


def sticker(chat: Chat, user: Person, name: str = "Wave", **where: Any) -> Shown:
    """Let a person send a sticker."""
    item = {"id": str(chat.state.snowflake()), "name": name, "format_type": 1}
    return chat.post(user, extra={"sticker_items": [item]}, **where)


def photo(
    chat: Chat,
    user: Person,
    data: bytes,
    caption: str = "",
    *,
    size: int | None = None,
    **where: Any,
) -> Shown:
    """Let a person send a picture; ``size`` claims more bytes than there are."""
    upload = Upload("image.png", data, "image/png", size=size)
    return chat.post(user, caption, attachments=[upload], **where)


def voice(chat: Chat, user: Person, data: bytes, *, seconds: float = 3, **where: Any) -> Shown:
    """Let a person send a voice message."""
    upload = Upload("voice-message.ogg", data, "audio/ogg", duration=seconds)
    return chat.post(user, attachments=[upload], flags=VOICE, **where)


def document(
    chat: Chat,
    user: Person,
    name: str,
    data: bytes,
    caption: str = "",
    *,
    mime: str = "application/octet-stream",
    size: int | None = None,
    **where: Any,
) -> Shown:
    """Let a person send a file; ``size`` claims more bytes than there are."""
    return chat.post(user, caption, attachments=[Upload(name, data, mime, size=size)], **where)


def poll(chat: Chat, user: Person, question: str, options: list[str]) -> Shown:
    """Let a person send a poll."""
    content = {
        "question": {"text": question},
        "answers": [
            {"answer_id": number, "poll_media": {"text": text}}
            for number, text in enumerate(options, 1)
        ],
        "expiry": iso(chat.state.now() + 24 * 60 * 60),
        "allow_multiselect": False,
        "layout_type": 1,
    }
    return chat.post(user, extra={"poll": content})


def forward(chat: Chat, user: Person, original: Shown) -> Shown:
    """Let a person pass on a message: its content is a snapshot, the message itself is empty."""
    source = original.json()
    kept = (
        *("content", "embeds", "attachments", "components", "mentions", "mention_roles"),
        *("timestamp", "edited_timestamp", "flags", "type"),
    )
    reference = {**original.chat.place(), "type": 1, "message_id": str(original.message_id)}
    snapshot = {"message": {name: source[name] for name in kept}}
    return chat.post(user, extra={"message_reference": reference, "message_snapshots": [snapshot]})


def unfurl(message: Shown, title: str = "A page") -> Shown:
    """Let the platform add the preview of a link: an update that is no edit."""
    chat = message.chat
    with chat.state.changes.lock:
        preview = {"type": "link", "title": title, "url": "https://example.org"}
        return chat.show(replace(chat.now(message), embeds=[preview]), "MESSAGE_UPDATE")
