"""A person hands in a document they edited: looked over, and united with what came meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory.document import Kind, parse
from memory.history import Cause, amend, revisions
from memory.layers import LearnerFolder, revision_of
from memory.recall import MAX_FILE_BYTES
from memory.threeway import merged


class Unfit(ValueError):
    """The file cannot be taken: it is too large, or no text in UTF-8."""


class Conflicting(Exception):
    """The same lines were changed since the copy was made; nothing was written."""


@dataclass(frozen=True, slots=True)
class Remarks:
    """What a person may not have meant; line numbers from 1."""

    hidden_from: int | None
    """Here opens a block of code or a comment that nothing closes: the rest is hidden."""
    damaged: tuple[int, ...]
    """Lines that were the tutor's, whose mark is not whole: they count as the person's."""


def remarks(data: bytes) -> Remarks:
    """Look a document over. Raises Unfit."""
    if len(data) > MAX_FILE_BYTES:
        raise Unfit(f"{len(data)} bytes are more than {MAX_FILE_BYTES}")
    if b"\0" in data:
        raise Unfit("it is no text")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unfit("it is no UTF-8") from error
    document = parse(data)
    damaged = tuple(
        number
        for number, line in enumerate(document.lines, 1)
        if (line.kind is Kind.TEXT and "<!--m_" in line.text)
        or (line.entry is not None and line.entry.date is None)
    )
    return Remarks(None if document.unclosed is None else document.unclosed + 1, damaged)


def revision_named(folder: LearnerFolder, path: Path, revision: str) -> bytes | None:
    """Return the bytes of a revision, the present one or a kept one; None where it is unknown."""
    present = folder.read(path)
    if revision_of(present) == revision:
        return present
    kept = (one.read_bytes() for one in reversed(revisions(folder, path)))
    return next((data for data in kept if revision_of(data) == revision), None)


def hand_in(folder: LearnerFolder, path: Path, data: bytes, *, base: bytes) -> bool:
    """Write what a person made of ``base``; True when other changes since then were kept too.

    Raises Conflicting, ``memory.layers.MemoryBusy`` or OSError; then nothing was written.
    """
    united = False

    def taken(present: bytes) -> bytes:
        nonlocal united
        both = merged(base, present, data)
        if both is None:
            raise Conflicting
        united = both != data
        return both

    with folder.lock():
        amend(folder, path, taken, Cause.EDIT)
    return united
