"""The memory of one learner joins that of another, and can be taken out again.

While it can be taken out, both lie as they were in the kept learner's folder::

    .history/joined/<link>/mine/     what the kept learner had
    .history/joined/<link>/theirs/   what the other one had, whose own folder is empty from then on

So whoever erases the one folder erases all of it. Each function can be killed at any moment and is
then called again: nothing is written twice, and nothing is lost in between.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from memory.characters import unescape
from memory.files import replace_file
from memory.history import Cause, amend
from memory.index import NAME as INDEX
from memory.index import remove as remove_index
from memory.journal import parse_day
from memory.layers import LearnerFolder, is_ulid
from memory.merge_days import WhoseEvent, part_day, unite_day
from memory.merge_documents import part_document, unite_document

_READY: Final = "ready"
_NOT_THEIRS: Final = (".lock", INDEX, f"{INDEX}-journal")
"""Files that hold nothing of their own."""
_HISTORY: Final = ".history"
_JOINED: Final = (_HISTORY, "joined")
_DAY: Final = re.compile(r"events/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
_DOCUMENT: Final = re.compile(r"(?:surfaces|profile)/[^/]+\.md")
_NOTED: Final = "noted: "
_BULLET: Final = re.compile(r"^- ")


@dataclass(frozen=True, slots=True)
class Join:
    """One learner's memory in that of another."""

    kept: LearnerFolder
    other: LearnerFolder
    link: str
    """ULID of the link; names the place of what was."""

    def __post_init__(self) -> None:
        if not is_ulid(self.link):
            raise ValueError(f"a link is a ULID, not {self.link!r}")

    @property
    def home(self) -> Path:
        """Folder of what both were before."""
        return self.kept.path.joinpath(*_JOINED, self.link)


def unite(join: Join) -> None:
    """Take everything of the other learner's into the kept one's files; also what came late.

    Raises MemoryBusy when a lock stays taken or another program writes without end, OSError when
    the disk refuses; then what is not done is done by the next call.
    """
    with _locked(join):
        _unite(join)


def has_more(other: LearnerFolder) -> bool:
    """Tell whether something was written for a learner whose memory was taken over."""
    return next(_files(other.path), None) is not None


def part(join: Join, whose: WhoseEvent) -> None:
    """Give both learners back what they had, and what came since to the side it came from.

    ``whose`` is true for the id of an event that came since on the other learner's side. Errors
    are those of ``unite``.
    """
    with _locked(join):
        if not join.home.is_dir():
            return  # an earlier call did it all
        staged = join.home / "parted"
        if not (staged / _READY).exists():
            _unite(join)
            _stage(join, staged, whose)
        # The copy of what both were goes last: while it is there, this is done again.
        _put_in_place(staged / "theirs", join.other)
        _put_in_place(staged / "mine", join.kept)
        _discard(join)


def settle(join: Join) -> None:
    """Forget what both were: the join stays."""
    with _locked(join):
        _discard(join)


def _discard(join: Join) -> None:
    """Remove the copy at one blow: half of one would be taken for the whole."""
    waste = join.home.with_name(f"{join.link}.done")
    shutil.rmtree(waste, ignore_errors=True)
    if join.home.is_dir():
        join.home.rename(waste)
        shutil.rmtree(waste)


def _locked(join: Join) -> ExitStack:
    """Both locks, always in the same order; what was found by searching is found anew."""
    with ExitStack() as locks:
        for folder in sorted((join.kept, join.other), key=lambda one: one.learner):
            locks.enter_context(folder.lock())
            remove_index(folder)
        return locks.pop_all()


def _unite(join: Join) -> None:
    mine = join.home / "mine"
    if not (join.home / _READY).exists():
        shutil.rmtree(mine, ignore_errors=True)
        for name in _files(join.kept.path):
            _write(mine / name, (join.kept.path / name).read_bytes())
        _write(join.home / _READY, b"")
    for name in list(_files(join.other.path)):
        source, beside = join.other.path / name, join.home / "theirs" / name
        data = source.read_bytes()
        before = beside.read_bytes() if beside.is_file() else b""
        _write(beside, _united(name, before, data) if before and _shared(name) else data)
        target = join.kept.path / name
        if _DOCUMENT.fullmatch(name):
            amend(join.kept, target, partial(unite_document, theirs=data), Cause.JOIN)
        else:
            current = join.kept.read(target)
            united = _united(name, current, data)
            if united != current:
                _write(join.kept.contained(target), united)
        source.unlink()
    _tidy(join.other.path)


def _united(name: str, mine: bytes, theirs: bytes) -> bytes:
    """Unite two files of one name. What is neither a day nor a document is not shared."""
    if day := _day(name):
        return unite_day(mine, theirs, day)
    return unite_document(mine, theirs) if _DOCUMENT.fullmatch(name) else mine


def _shared(name: str) -> bool:
    return bool(_day(name) or _DOCUMENT.fullmatch(name))


def _stage(join: Join, staged: Path, whose: WhoseEvent) -> None:
    """Write down what each side will have, before anything is touched."""
    shutil.rmtree(staged, ignore_errors=True)
    mine, theirs = join.home / "mine", join.home / "theirs"
    notes = _notes_of(join, whose)
    names = {*_files(mine), *_files(theirs), *_files(join.kept.path)}
    for name in sorted(names):
        one, other = _bytes(mine / name), _bytes(theirs / name)
        current = _bytes(join.kept.path / name)
        parted: tuple[bytes | None, bytes | None] = (one, other)
        if day := _day(name):
            parted = part_day(current or b"", one or b"", other or b"", day, whose)
        elif _DOCUMENT.fullmatch(name):
            parted = part_document(current or b"", one or b"", other or b"", notes)
        elif one is None and other is None and not name.startswith(_HISTORY):
            parted = (current, None)
        for side, data, was in (("mine", parted[0], one), ("theirs", parted[1], other)):
            if data or was is not None:
                _write(staged / side / name, data or b"")
    _write(staged / _READY, b"")


def _notes_of(join: Join, whose: WhoseEvent) -> Callable[[str], bool]:
    """Tell by the days whether a note that came since was the other learner's."""
    noted: set[str] = set()
    for name in _files(join.kept.path):
        day = _day(name)
        if day is None:
            continue
        text = (join.kept.path / name).read_bytes().decode("utf-8", "replace")
        noted.update(
            _plain(event.text.removeprefix(_NOTED))
            for event in parse_day(text, day).events
            if event.text.startswith(_NOTED) and whose(event.id)
        )
    return lambda lines: _plain(_BULLET.sub("", lines)) in noted


def _plain(text: str) -> str:
    return " ".join(unescape(text).split())


def _put_in_place(staged: Path, folder: LearnerFolder) -> None:
    wanted = set(_files(staged)) if staged.is_dir() else set()
    for name in list(_files(folder.path)):
        if name not in wanted:
            (folder.path / name).unlink()
    for name in wanted:
        data = (staged / name).read_bytes()
        target = folder.contained(folder.path / name)
        if _bytes(target) != data:
            _write(target, data)
    _tidy(folder.path)


def _files(root: Path) -> Iterator[str]:
    """Names of the regular files below a folder, with slashes; links, the lock, and what was
    joined are left out, and so is what an interrupted write left."""
    for place, folders, names in os.walk(root):
        here = Path(place)
        inside = here.relative_to(root).parts
        folders[:] = sorted(one for one in folders if (*inside, one) != _JOINED)
        for name in sorted(names):
            path = here / name
            if name in _NOT_THEIRS or name.endswith(".tmp") or path.is_symlink():
                continue
            yield PurePosixPath(*inside, name).as_posix()


def _tidy(root: Path) -> None:
    """Remove folders that are empty now."""
    for place, _, _ in os.walk(root, topdown=False):
        path = Path(place)
        if path != root and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)


def _day(name: str) -> date | None:
    found = _DAY.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
