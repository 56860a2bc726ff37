"""What a learner asks to be remembered: a line of their own under "Notes" in ``profile.md``.

The line carries no id, so it is a person's: private, outranking what the machine wrote, and
never rewritten. The file gains lines at one place; every byte that was there stays.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from memory.characters import escape, is_blank, printable
from memory.document import Kind, MemoryDocument, body_end, parse
from memory.history import Cause, amend
from memory.layers import LearnerFolder, Profile
from memory.redact import redact

MAX_NOTE_CHARACTERS = 1000

_NOTES = "Notes"


class NoteEmpty(ValueError):
    """There is nothing to remember."""


class NoteTooLong(ValueError):
    """The text is longer than a note may be."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(f"a note has at most {limit} characters, this one has {length}")
        self.length = length
        self.limit = limit


class Remembered(Enum):
    """What became of a note."""

    SAVED = auto()
    KNOWN = auto()
    """The very same note stands there already; nothing was written."""


def remember(folder: LearnerFolder, text: str) -> Remembered:
    """Write a note of the learner's own under ``## Notes`` of ``profile/profile.md``.

    Blank lines and secrets are left out; further lines are indented under the first. The
    previous revision stays in ``.history/``.

    Raises NoteEmpty, NoteTooLong (over 1000 characters), MemoryBusy when the lock stays taken, or
    OSError.
    """
    shown = (printable(line).strip() for line in re.split(r"\r\n?|\n", text))
    lines = [line for line in shown if not is_blank(line)]
    length = len("\n".join(lines))
    if not lines:
        raise NoteEmpty("there is nothing to remember")
    if length > MAX_NOTE_CHARACTERS:
        raise NoteTooLong(length, MAX_NOTE_CHARACTERS)
    bullet = _bullet(redact("\n".join(lines)))
    path = folder.profile(Profile.PROFILE)
    outcome = Remembered.SAVED

    def noted(data: bytes) -> bytes:
        nonlocal outcome
        document = parse(data)
        start, end = _notes_section(document)
        known = _stands_in(document, start, end, bullet)
        outcome = Remembered.KNOWN if known else Remembered.SAVED
        return data if known else _inserted(document, start, end, bullet)

    with folder.lock():
        amend(folder, path, noted, Cause.REMEMBER)
    return outcome


def _bullet(note: str) -> list[str]:
    first, *rest = escape(note).split("\n")
    if not first.strip("- "):
        first = f"&#{ord('-')};{first[1:]}"  # a bullet of dashes alone would be a rule
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _notes_section(document: MemoryDocument) -> tuple[int | None, int]:
    """Return (index of the heading, or None; index of the line before which a note goes)."""
    lines = document.lines
    end = body_end(document)
    start = next(
        (
            i
            for i, line in enumerate(lines[:end])
            if line.kind is Kind.HEADING and line.level == 2 and line.text == _NOTES
        ),
        None,
    )
    if start is not None:
        for i in range(start + 1, end):
            if lines[i].kind is Kind.HEADING and lines[i].level <= 2:
                end = i
                break
    while end > (start or 0) and lines[end - 1].kind is Kind.BLANK:
        end -= 1
    return start, end


def _stands_in(document: MemoryDocument, start: int | None, end: int, bullet: list[str]) -> bool:
    """Tell whether the section holds exactly this bullet, not merely a longer one."""
    if start is None:
        return False
    section = document.lines[start + 1 : end]
    texts = [line.text.rstrip() if line.kind is Kind.TEXT else "" for line in section] + [""]
    size = len(bullet)
    return any(
        texts[i : i + size] == bullet and not texts[i + size].startswith("  ")
        for i in range(len(texts) - size)
    )


def _inserted(document: MemoryDocument, start: int | None, end: int, bullet: list[str]) -> bytes:
    """Return the file with the bullet before line ``end``, the heading too where it is missing."""
    before, after = document.lines[:end], document.lines[end:]
    new = list(bullet)
    last = before[-1] if before else None
    if start is None:
        new = [f"## {_NOTES}", "", *new]
        if not document.lines:
            new = ["# Profile", "", *new]
    if last is not None and (start is None or not last.text.startswith(("- ", "  "))):
        new = ["", *new]
    if after and after[0].kind is not Kind.BLANK:
        new = [*new, ""]
    line_end = "\r\n" if document.lines and document.lines[0].raw.endswith("\r\n") else "\n"
    added = "".join(line + line_end for line in new)
    if last is not None and not last.raw.endswith("\n"):
        added = line_end + added
    text = "".join(line.raw for line in before) + added + "".join(line.raw for line in after)
    return text.encode("utf-8", "surrogateescape")
