"""What comes with a message, as attachments: pictures, recordings, files. Pure.

A file's address carries a signature that ends after a day, so an attachment also says in which
message it stands, where the platform tells a new address.
"""

from __future__ import annotations

from typing import NamedTuple

import discord
from discord import Message, MessageSnapshot

from bots.kinds import kind_of
from core.context import Attachment, AttachmentKind


class Place(NamedTuple):
    """Where an attachment is to be found."""

    chat: str
    message: str
    number: str
    address: str
    """Its address when the message came."""


def attachments(message: Message | MessageSnapshot, place: Message) -> tuple[Attachment, ...]:
    """Return what a message carries; ``place`` is the message it is read in."""
    return tuple(_attachment(file, message, place) for file in message.attachments)


def _attachment(
    file: discord.Attachment, message: Message | MessageSnapshot, place: Message
) -> Attachment:
    mime = (file.content_type or "").partition(";")[0] or None
    return Attachment(
        id=" ".join(Place(str(place.channel.id), str(place.id), str(file.id), file.url)),
        kind=AttachmentKind.VOICE if message.flags.voice else kind_of(mime),
        name=file.filename,
        mime=mime,
        size=file.size,
    )


def place_of(attachment_id: str) -> Place:
    """Read an attachment's id. Raises TypeError for one that is not ours."""
    return Place(*attachment_id.split(" ", 3))
