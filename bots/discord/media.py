"""What comes with a message, as attachments: pictures, recordings, files. Pure.

A file's address carries a signature that ends after a day, so an attachment also says in which
message it stands, where the platform tells a new address.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from discord import Message, MessageSnapshot

from core.context import Attachment, AttachmentKind

_STILL: Final = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp"})


class Place(NamedTuple):
    """Where an attachment is to be found."""

    chat: str
    message: str
    number: str
    address: str
    """Its address when the message came."""


def attachments(message: Message | MessageSnapshot, place: Message) -> tuple[Attachment, ...]:
    """Return what a message carries; ``place`` is the message it is read in."""
    return tuple(
        Attachment(
            id=" ".join(Place(str(place.channel.id), str(place.id), str(file.id), file.url)),
            kind=_kind((file.content_type or "").partition(";")[0], message.flags.voice),
            name=file.filename,
            mime=(file.content_type or "").partition(";")[0] or None,
            size=file.size,
        )
        for file in message.attachments
    )


def place_of(attachment_id: str) -> Place:
    """Read an attachment's id. Raises ValueError for one that is not ours."""
    return Place(*attachment_id.split(" ", 3))


def _kind(mime: str, recorded: bool) -> AttachmentKind:
    if mime in _STILL:
        return AttachmentKind.IMAGE
    sound = recorded or mime.startswith("audio/")
    return AttachmentKind.VOICE if sound else AttachmentKind.FILE
