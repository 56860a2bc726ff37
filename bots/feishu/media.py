"""What comes with a message, as attachments, and what goes out as a file. Pure.

A file is asked for by the message it stands in and its key, so both are an attachment's id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from core.context import Attachment, AttachmentKind

_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((".doc", ".docx"), "doc"),
    **dict.fromkeys((".xls", ".xlsx"), "xls"),
    **dict.fromkeys((".ppt", ".pptx"), "ppt"),
    ".pdf": "pdf",
    ".mp4": "mp4",
    ".opus": "opus",
}
"""The platform's own kinds of files, by their endings; all others are a ``stream``."""
_RECORDING: Final = "audio/ogg"
"""Recordings are Opus."""
_VIDEO: Final = "video/mp4"


class Place(NamedTuple):
    """Where a file is to be asked for."""

    message: str
    kind: str
    """``image`` or ``file``, as the platform's interface wants it."""
    key: str


def attachments(kind: str, content: object, message_id: str) -> tuple[Attachment, ...]:
    """Return what a message carries; ``content`` is its JSON string, in any shape."""
    try:
        value = json.loads(content) if isinstance(content, str) else None
    except ValueError:
        return ()
    if not isinstance(value, dict):
        return ()
    match kind:
        case "image":
            return tuple(_image(value, message_id))
        case "file":
            return tuple(_file(value, message_id, AttachmentKind.FILE))
        case "audio":
            return tuple(_file(value, message_id, AttachmentKind.VOICE))
        case "media":
            return tuple(_file(value, message_id, AttachmentKind.FILE, _VIDEO))
        case "post":
            return tuple(_in_post(value, message_id))
        case _:
            return ()


def place_of(attachment_id: str) -> Place:
    """Read an attachment's id. Raises TypeError for one that is not ours."""
    return Place(*attachment_id.split(" "))


def upload_kind(name: str) -> str:
    """Return the platform's kind of a file by its name."""
    return _KINDS.get(PurePath(name).suffix.lower(), "stream")


def _image(value: Mapping[str, Any], message_id: str) -> Iterator[Attachment]:
    key = value.get("image_key")
    if isinstance(key, str) and key:
        place = Place(message_id, "image", key)
        yield Attachment(id=" ".join(place), kind=AttachmentKind.IMAGE)


def _file(
    value: Mapping[str, Any], message_id: str, kind: AttachmentKind, mime: str | None = None
) -> Iterator[Attachment]:
    key = value.get("file_key")
    if isinstance(key, str) and key:
        name = value.get("file_name")
        yield Attachment(
            id=" ".join(Place(message_id, "file", key)),
            kind=kind,
            name=name if isinstance(name, str) else None,
            mime=_RECORDING if kind is AttachmentKind.VOICE else mime,
        )


def _in_post(value: Any, message_id: str) -> Iterator[Attachment]:
    """Find pictures and videos of a post, wherever its language level put them."""
    if isinstance(value, list):
        for one in value:
            yield from _in_post(one, message_id)
    elif isinstance(value, dict):
        if value.get("tag") == "img":
            yield from _image(value, message_id)
        elif value.get("tag") == "media":
            yield from _file(value, message_id, AttachmentKind.FILE, _VIDEO)
        else:
            for one in value.values():
                if isinstance(one, list | dict):
                    yield from _in_post(one, message_id)
