"""Every machine write of a document goes through ``write``, so it can be looked up and undone.

A document is a file of the second or third layer. What it was lies beside it as whole files::

    .history/profile/profile/00000012-20261130T060211Z-remember.md

that is: number, time (UTC), and why it was written. Numbers count all documents of a learner
together and are not given twice. What a person saved between two machine writes is found at the
next one and kept as well (``found``), so each change has what was before it and what came of it.

At most ``MOST`` revisions and ``MOST_BYTES`` of a document are kept, the newest two always; the
oldest go first. Times come from the folder's clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from memory.files import exchange_file, replace_file
from memory.layers import LearnerFolder, MemoryBusy, Profile, Surface, revision_of
from memory.threeway import merged

MOST: Final = 60
"""Revisions of a document."""
MOST_BYTES: Final = 4_000_000
"""Of all kept revisions of a document together."""
_TRIES: Final = 20
_NAME: Final = re.compile(r"([0-9]{8})-([0-9]{8}T[0-9]{6}Z)-([a-z]{1,20})\.md")
_TIME: Final = "%Y%m%dT%H%M%SZ"


class Cause(StrEnum):
    """Why a document was written; stands in the name of the kept revision."""

    FOUND = "found"
    """Not by us: the file was like this when we came to write it."""
    REMEMBER = "remember"
    """The learner asked for a note."""
    CONSOLIDATE = "consolidate"
    """A model's proposals, judged by code."""
    TEND = "tend"
    """What had faded or lost its sources went."""
    EDIT = "edit"
    """A person handed in an edited file."""
    JOIN = "join"
    """Another learner's memory was taken in."""
    UNDO = "undo"


class Drifted(MemoryBusy):
    """The file has changed since the revision a write was made for; nothing was written.

    Like a lock that is taken it passes: try again with what is there now.
    """

    def __init__(self, folder: LearnerFolder, path: Path) -> None:
        document = path.relative_to(folder.path).with_suffix("").as_posix()
        super().__init__(folder.learner, f"{document} has changed meanwhile")
        self.document = document


class NotUndoable(Exception):
    """A change cannot be undone; nothing was written."""


class Unknown(NotUndoable):
    """There is no such change, or it is so old that it is not kept any more."""


class Contradicted(NotUndoable):
    """The same lines were changed again since, perhaps by a person: they have to decide."""

    def __init__(self, change: Change, present: Path) -> None:
        super().__init__(f"{present} was changed again since change {change.number}")
        self.change = change
        self.present = present


@dataclass(frozen=True, slots=True)
class Change:
    """One write of a document."""

    number: int
    document: str
    """Such as ``profile/knowledge``."""
    at: datetime
    """UTC; of a found one, when it was found."""
    cause: Cause
    before: Path
    """Kept file with what the document was."""
    after: Path
    """Kept file with what it became."""


@dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    at: datetime
    cause: Cause
    path: Path


def write(folder: LearnerFolder, path: Path, data: bytes, *, revision: str, cause: Cause) -> None:
    """Replace a document whole; the learner's lock must be held.

    ``revision`` is that of the bytes the change was made for (``memory.layers.revision_of``).
    Raises Drifted when the file holds others by now, MemoryElsewhere or OSError; then it is as it
    was. After a crash at any moment it holds the old bytes or the new ones, never a part, and what
    it held is in the history.
    """
    target = folder.contained(path)
    was = folder.read(target)
    if revision_of(was) != revision:
        raise Drifted(folder, target)
    if was == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = _kept(folder, target)
    if not kept or kept[-1].path.read_bytes() != was:
        _keep(folder, target, was, Cause.FOUND)
    found = exchange_file(target, data, was)
    if found is not None:
        _keep(folder, target, found, Cause.FOUND)
        raise Drifted(folder, target)
    _keep(folder, target, data, cause)
    _prune(folder, target)


def amend(
    folder: LearnerFolder, path: Path, change: Callable[[bytes], bytes], cause: Cause
) -> None:
    """Write what ``change`` makes of a document; the learner's lock must be held.

    When a program that takes no lock saves in between, it is made anew from what is there then.
    Raises Drifted when that happens again and again, else as ``write``.
    """
    tries = 0
    while True:
        was = folder.read(path)
        try:
            write(folder, path, change(was), revision=revision_of(was), cause=cause)
        except Drifted:
            tries += 1
            if tries == _TRIES:
                raise
        else:
            return


def log(folder: LearnerFolder) -> tuple[Change, ...]:
    """Return the changes that are kept and can be undone, the newest first."""
    return tuple(sorted(_changes(folder), key=lambda change: -change.number))


def undo(folder: LearnerFolder, number: int) -> Change:
    """Take one change back, and return it. This is a write of its own, so it can be undone.

    If the document has not changed since, it gets back the bytes it had before; otherwise the
    lines of that change are taken back and all later ones stay. Raises Unknown, Contradicted,
    Drifted, MemoryBusy or OSError; then nothing has changed.
    """
    with folder.lock():
        change = next((one for one in _changes(folder) if one.number == number), None)
        if change is None:
            raise Unknown(f"there is no change {number}")
        path = (folder.path / change.document).with_suffix(".md")
        before, after = change.before.read_bytes(), change.after.read_bytes()

        def back(present: bytes) -> bytes:
            data = merged(after, present, before)
            if data is None:
                raise Contradicted(change, path)
            return data

        amend(folder, path, back, Cause.UNDO)
    return change


def revisions(folder: LearnerFolder, path: Path) -> list[Path]:
    """Return the kept files of a document, the oldest first."""
    return [one.path for one in _kept(folder, path)]


def _changes(folder: LearnerFolder) -> Iterator[Change]:
    for path in _documents(folder):
        kept = _kept(folder, path)
        document = path.relative_to(folder.path).with_suffix("").as_posix()
        for before, after in pairwise(kept):
            yield Change(after.number, document, after.at, after.cause, before.path, after.path)


def _documents(folder: LearnerFolder) -> Iterator[Path]:
    yield from map(folder.surface, Surface)
    yield from map(folder.profile, Profile)


def _kept(folder: LearnerFolder, path: Path) -> list[_Kept]:
    home = _home(folder, path)
    found = map(_read, home.iterdir()) if home.is_dir() else ()
    return sorted(filter(None, found), key=lambda one: one.number)


def _read(path: Path) -> _Kept | None:
    found = _NAME.fullmatch(path.name)
    try:
        if found is None:
            return None
        at = datetime.strptime(found[2], _TIME).replace(tzinfo=UTC)
        return _Kept(int(found[1]), at, Cause(found[3]), path)
    except ValueError:
        return None  # somebody renamed it


def _home(folder: LearnerFolder, path: Path) -> Path:
    """Where the revisions of a document lie."""
    return folder.contained(
        folder.path / ".history" / path.relative_to(folder.path).with_suffix("")
    )


def _keep(folder: LearnerFolder, path: Path, data: bytes, cause: Cause) -> None:
    home = _home(folder, path)
    home.mkdir(parents=True, exist_ok=True)
    numbers = (one.number for other in _documents(folder) for one in _kept(folder, other))
    at = folder.clock().astimezone(UTC)
    name = f"{max(numbers, default=0) + 1:08d}-{at:{_TIME}}-{cause}.md"
    replace_file(home / name, data)


def _prune(folder: LearnerFolder, path: Path) -> None:
    room = MOST_BYTES
    for place, one in enumerate(reversed(_kept(folder, path))):
        room -= one.path.stat().st_size
        if place >= 2 and (place >= MOST or room < 0):
            one.path.unlink()
