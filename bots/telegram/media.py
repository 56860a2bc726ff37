"""What comes with a message, as attachments: pictures, recordings, files. Pure.

The platform names a file by an id that a bot may keep and use again.
"""

from __future__ import annotations

from typing import Final

from aiogram.enums import ContentType
from aiogram.types import Message

from bots.kinds import kind_of
from core.context import Attachment, AttachmentKind

READABLE: Final = frozenset(
    {ContentType.AUDIO, ContentType.DOCUMENT, ContentType.PHOTO, ContentType.VOICE}
)
"""Kinds of messages that bring an attachment, with or without a caption."""


def attachments(message: Message) -> tuple[Attachment, ...]:
    """Return what a message carries; a photo in its largest size."""
    if message.photo:
        best = max(message.photo, key=lambda size: size.width * size.height)
        return (
            Attachment(
                id=best.file_id, kind=AttachmentKind.IMAGE, mime="image/jpeg", size=best.file_size
            ),
        )
    if message.voice is not None:
        voice = message.voice
        return (
            Attachment(
                id=voice.file_id,
                kind=AttachmentKind.VOICE,
                mime=voice.mime_type or "audio/ogg",
                size=voice.file_size,
            ),
        )
    if message.audio is not None:
        audio = message.audio
        return (
            Attachment(
                id=audio.file_id,
                kind=AttachmentKind.VOICE,
                name=audio.file_name,
                mime=audio.mime_type,
                size=audio.file_size,
            ),
        )
    if message.document is not None:
        document = message.document
        return (
            Attachment(
                id=document.file_id,
                kind=kind_of(document.mime_type),  # perhaps a picture that was sent uncompressed
                name=document.file_name,
                mime=document.mime_type,
                size=document.file_size,
            ),
        )
    return ()
