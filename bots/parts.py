"""The parts of a document on their way out: messages of a channel's own kind, and files."""

from __future__ import annotations

from typing import TypeVar

from core.channel import Part, Rejected
from core.document import File

M = TypeVar("M")
"""A rendered message of a channel."""


def payload_of(part: Part, kind: type[M]) -> M | File:
    """Return what a part holds. Raises TypeError for one of another channel."""
    if not isinstance(part.payload, kind | File):
        raise TypeError(f"not a part of this channel: {type(part.payload).__name__}")
    return part.payload


def message_of(part: Part, kind: type[M]) -> M:
    """Return the message that is to take the place of one. Raises Rejected for a file."""
    payload = payload_of(part, kind)
    if isinstance(payload, File):
        raise Rejected("a file cannot take the place of a text")
    return payload
