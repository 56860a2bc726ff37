"""What a file that comes with a message is, by the media type that its channel tells."""

from __future__ import annotations

from typing import Final

from core.context import AttachmentKind

PICTURES: Final = frozenset(
    {"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/avif"}
)
"""Still pictures that are opened here (``core.reading.worker.FORMATS``)."""


def kind_of(mime: str | None) -> AttachmentKind:
    """Return what can be done with a file of this type, without parameters; None when untold."""
    if mime in PICTURES:
        return AttachmentKind.IMAGE
    return AttachmentKind.VOICE if (mime or "").startswith("audio/") else AttachmentKind.FILE
