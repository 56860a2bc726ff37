"""What an attachment is, by its first bytes rather than by what it says of itself. Pure."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Final

from core.context import Attachment, AttachmentKind

_NAME_LENGTH: Final = 60


class Kind(StrEnum):
    """How an attachment is opened; the values are the worker's words."""

    PICTURE = "picture"
    PDF = "pdf"
    WORD = "word"
    TEXT = "text"
    SOUND = "sound"
    UNKNOWN = "unknown"


_PICTURES: Final = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"BM")
_SUFFIXES: Final = (
    (re.compile(rb"OggS"), "ogg"),
    (re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]"), "mp3"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "wav"),
    (re.compile(rb"fLaC"), "flac"),
    (re.compile(rb"....ftyp", re.DOTALL), "m4a"),
    (re.compile(rb"\x1aE\xdf\xa3"), "webm"),
)
_BYTE_ORDER: Final = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")


def kind_of(data: bytes, attachment: Attachment) -> Kind:
    """Return how to open ``data``; what the platform says of it decides only about sounds."""
    head = data[:1_024]
    if attachment.kind is AttachmentKind.VOICE:
        return Kind.SOUND
    if b"%PDF-" in head:
        return Kind.PDF
    if head.startswith(b"PK\x03\x04"):
        return Kind.WORD
    if head.startswith(_PICTURES[:-1]) or head[4:12] in (b"ftypavif", b"ftypavis"):
        return Kind.PICTURE
    if head.startswith(_PICTURES[-1]) and b"\0" in head:
        return Kind.PICTURE
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind.PICTURE
    if (attachment.mime or "").startswith("audio/"):
        return Kind.SOUND
    if attachment.kind is AttachmentKind.IMAGE:
        return Kind.PICTURE  # the worker says what is wrong with it
    if b"\0" in head and not head.startswith(_BYTE_ORDER):
        return Kind.UNKNOWN
    return Kind.TEXT


def sound_suffix(data: bytes) -> str:
    """Return the file extension that speech recognition knows a sound by; ``ogg`` when in doubt."""
    return next((suffix for magic, suffix in _SUFFIXES if magic.match(data)), "ogg")


def shown_name(attachment: Attachment) -> str | None:
    """Return the file's name as it can stand in a sentence or a mark; None where it has none.

    One short line without a path, and without brackets, which marks are made of.
    """
    name = re.split(r"[\\/]", attachment.name or "")[-1]
    name = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in name)
    name = " ".join(re.sub(r"[\[\]<>]", " ", name).split())
    if len(name) > _NAME_LENGTH:
        stem, dot, suffix = name.rpartition(".")
        kept = f".{suffix}" if dot and len(suffix) <= 8 else ""
        name = f"{(stem or name)[: _NAME_LENGTH - len(kept) - 1]}…{kept}"
    return name or None
