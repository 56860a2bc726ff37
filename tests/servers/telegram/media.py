"""Things people send that are not text."""

from __future__ import annotations

from typing import Any

from tests.servers.telegram.chats import Chat, Topic
from tests.servers.telegram.entities import detected
from tests.servers.telegram.people import Person
from tests.servers.telegram.shown import Shown


def sticker(chat: Chat, user: Person, emoji: str = "👍", **where: Any) -> Shown:
    """Let a person send a sticker."""
    file = chat.state.add_file("stickers.webp", b"RIFF", None)
    content = {
        **file.json(),
        "type": "regular",
        "width": 512,
        "height": 512,
        "is_animated": False,
        "is_video": False,
        "emoji": emoji,
    }
    return chat.post(user, extra={"sticker": content}, **where)


def photo(
    chat: Chat,
    user: Person,
    data: bytes,
    caption: str = "",
    *,
    size: int | None = None,
    album: str | None = None,
    **where: Any,
) -> Shown:
    """Let a person send a picture; ``size`` claims more bytes than there are.

    Pictures with the same ``album`` were sent as one.
    """
    sizes = [{**chat.state.add_file("photos.jpg", data, size).json(), "width": 640, "height": 480}]
    group = {"media_group_id": album} if album else {}
    return chat.post(user, extra={"photo": sizes, **group, **_captioned(caption)}, **where)


def voice(chat: Chat, user: Person, data: bytes, *, seconds: int = 3, **where: Any) -> Shown:
    """Let a person send a voice message."""
    file = chat.state.add_file("voice.oga", data, None)
    content = {**file.json(), "duration": seconds, "mime_type": "audio/ogg"}
    return chat.post(user, extra={"voice": content}, **where)


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
    file = chat.state.add_file(f"documents.{name.rpartition('.')[2]}", data, size)
    content = {**file.json(), "file_name": name, "mime_type": mime}
    return chat.post(user, extra={"document": content, **_captioned(caption)}, **where)


def poll(
    chat: Chat, user: Person, question: str, options: list[str], thread: Topic | None = None
) -> Shown:
    """Let a person send a poll."""
    content = {
        "id": str(chat.state.fresh_id()),
        "question": question,
        "options": [
            {"persistent_id": str(i), "text": text, "voter_count": 0}
            for i, text in enumerate(options)
        ],
        "total_voter_count": 0,
        "is_closed": False,
        "is_anonymous": True,
        "type": "regular",
        "allows_multiple_answers": False,
        "allows_revoting": False,
        "members_only": False,
    }
    return chat.post(user, extra={"poll": content}, thread=thread)


def _captioned(caption: str) -> dict[str, Any]:
    if not caption:
        return {}
    return {"caption": caption, "caption_entities": detected(caption, [])}
