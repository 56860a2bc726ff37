"""A search index of one learner's memory: derived, in the learner's folder, made again at will.

``.index.sqlite`` holds what the files hold and nothing else. Each look compares the files with what
is in the index and brings it up to date first, so an edit by hand, a file that went and another
process's write are all seen. Like git's index (Documentation/technical/racy-git.txt) it trusts a
file's size and times, except where the file changed so shortly before the index was written that
another change could have left them as they are: then it compares the bytes. An index that is
damaged, or of another version of this program, is thrown away and made anew.

Writers hold the learner's lock. What is deleted is overwritten, not only unlinked.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from memory.layers import LearnerFolder, MemoryElsewhere
from memory.places import Layer, Place, files, places
from memory.words import stored_words

NAME: Final = ".index.sqlite"
_VERSION: Final = 1
"""To be raised whenever the tables, or ``memory.words``, change."""
_LOCK_SECONDS: Final = 2.0
"""A learner who searches does not wait longer for one who writes."""
_BUSY_SECONDS: Final = 2.0
_UNSURE_NS: Final = 2_000_000_000
"""Coarsest time stamp of a file system in use (FAT: two seconds)."""
_CANDIDATES: Final = 100
_TABLES: Final = """
CREATE TABLE file (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, revision TEXT NOT NULL);
CREATE TABLE place (
    id INTEGER PRIMARY KEY, file TEXT NOT NULL, text TEXT NOT NULL, source TEXT NOT NULL,
    day TEXT, layer INTEGER NOT NULL, shared INTEGER NOT NULL, rests_on TEXT NOT NULL
);
CREATE INDEX place_file ON place (file);
CREATE INDEX place_layer ON place (layer, shared);
CREATE VIRTUAL TABLE words USING fts5 (body, content='', tokenize='porter ascii');
"""
_COLUMNS: Final = "text, source, day, layer, shared, rests_on"
_AMONG_ALL: Final = f"""
SELECT id, rank, {_COLUMNS} FROM place JOIN (
    SELECT rowid AS found, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?
) ON id = found
"""  # noqa: S608
# The plus keeps SQLite from asking for the words once for each of those rows.
_AMONG_ENTRIES: Final = _AMONG_ALL.replace(
    "ORDER",
    f"AND +rowid IN (SELECT id FROM place WHERE layer > {Layer.EVENT:d}) ORDER",  # noqa: S608
)
_AMONG_SHARED: Final = _AMONG_ENTRIES.replace(") ORDER", " AND shared) ORDER")
_COMMON: Final = 0.2
"""A word in a larger share of all places tells them hardly apart, and costs the most to look up."""
_FEW: Final = 200
"""In so many places a word may stand in any case."""
_BUSY_CODES: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_Row = tuple[str, str, str | None, int, int, str]


class IndexUnusable(Exception):
    """There can be no index here and now: no FTS5, no room, another process at work."""


@dataclass(frozen=True, slots=True)
class Match:
    """A place and how well its words fit."""

    place: Place
    score: float
    """Okapi BM25 over all that the learner's memory holds; more is better."""


def matches(folder: LearnerFolder, words: Sequence[str], *, shared: bool) -> list[Match]:
    """Return places that hold one of the words, as ``memory.words.asked_words`` gives them.

    The best hundred of the entries and of all layers, unordered; with ``shared`` only what others
    may read. Raises IndexUnusable, and MemoryBusy when the learner's lock stays taken.
    """
    if not words or next(files(folder), None) is None:
        return []
    try:
        return _tried(folder, words, shared)
    except sqlite3.DatabaseError as error:
        if _busy(error):
            raise IndexUnusable(str(error)) from error
    except (OSError, MemoryElsewhere) as error:
        raise IndexUnusable(type(error).__name__) from error
    try:
        discard(folder)
        return _tried(folder, words, shared)
    except (sqlite3.Error, OSError, MemoryElsewhere) as error:
        raise IndexUnusable(type(error).__name__) from error


def discard(folder: LearnerFolder) -> None:
    """Remove the index, when what it was made from is no longer the learner's.

    Raises MemoryBusy when the lock stays taken, OSError where the file cannot go.
    """
    with folder.lock(_LOCK_SECONDS):
        remove(folder)


def remove(folder: LearnerFolder) -> None:
    """Remove the index; the lock must be held."""
    # The journal first: beside a new index it would be taken for that one's.
    for name in (f"{NAME}-journal", NAME):
        (folder.path / name).unlink(missing_ok=True)


def _tried(folder: LearnerFolder, words: Sequence[str], shared: bool) -> list[Match]:
    path = folder.contained(folder.path / NAME)
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
        database.execute("PRAGMA secure_delete = ON")
        _Bringing(folder, path, database).up_to_date()
        return _found(database, words, shared)


def _busy(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY_CODES


def _found(database: sqlite3.Connection, words: Sequence[str], shared: bool) -> list[Match]:
    # The words hold no ASCII sign, so between quotes none can be read as an operator.
    asked = " OR ".join(f'"{word}"' for word in _telling(database, words))
    # A rank is negative, the best one the lowest. Many good events must not crowd out the entries
    # that were made from them.
    found: dict[int, Match] = {}
    for query in (_AMONG_SHARED,) if shared else (_AMONG_ENTRIES, _AMONG_ALL):
        rows = database.execute(query, (asked, _CANDIDATES))
        for number, rank, *row in rows:
            found[number] = Match(_place(tuple(row)), -rank)
    return list(found.values())


def _telling(database: sqlite3.Connection, words: Sequence[str]) -> Sequence[str]:
    """Leave out what stands nearly everywhere, unless there is nothing else to look for."""
    [everything] = database.execute("SELECT count(*) FROM place").fetchone()
    most = max(_FEW, _COMMON * everything)
    counted = {
        word: database.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (f'"{word}"',)
        ).fetchone()[0]
        for word in words
    }
    held = [word for word in words if counted[word]]
    return [word for word in held if counted[word] <= most] or held or words


class _Bringing:
    """Brings an index up to date with the files."""

    def __init__(self, folder: LearnerFolder, path: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._path = path
        self._database = database

    def up_to_date(self) -> None:
        """Compare, and write what differs. Another process's writes are waited for."""
        [version] = self._database.execute("PRAGMA user_version").fetchone()
        if version == _VERSION and not self._behind(self._stamps()):
            return
        with self._folder.lock(_LOCK_SECONDS):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                [version] = self._database.execute("PRAGMA user_version").fetchone()
                if version != _VERSION:
                    self._begin(version)
                stamps = self._stamps()
                self._write(stamps, self._behind(stamps))
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            os.utime(self._path)  # so that what was compared now need not be again

    def _begin(self, version: int) -> None:
        if version or self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise sqlite3.DatabaseError("an index of another version")
        for statement in filter(str.strip, _TABLES.split(";")):
            self._database.execute(statement)
        self._database.execute(f"PRAGMA user_version = {_VERSION}")

    def _stamps(self) -> dict[str, tuple[str, int]]:
        """What the disk tells of each file without reading it, and when it last changed (ns)."""
        stamps = {}
        for path in files(self._folder):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
            stamp = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}"
            stamps[f"{path.parent.name}/{path.name}"] = stamp, changed
        return stamps

    def _behind(self, stamps: dict[str, tuple[str, int]]) -> set[str]:
        """Names of files that differ from what is in the index, or might."""
        known: dict[str, str] = dict(self._database.execute("SELECT name, stamp FROM file"))
        sure = self._path.stat().st_mtime_ns - _UNSURE_NS
        behind = known.keys() - stamps.keys()
        for name, (stamp, changed) in stamps.items():
            if known.get(name) != stamp or changed > sure:
                behind.add(name)
        return behind

    def _write(self, stamps: dict[str, tuple[str, int]], behind: set[str]) -> None:
        known = dict(self._database.execute("SELECT name, revision FROM file"))
        vanished = False
        for name in sorted(behind):
            path = self._folder.path / name
            revision = self._revision(path)
            if name not in stamps:
                vanished |= self._put(name, [])
                self._database.execute("DELETE FROM file WHERE name = ?", (name,))
                continue
            if known.get(name) != revision:
                vanished |= self._put(name, places(self._folder, path))
            self._database.execute(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?)", (name, stamps[name][0], revision)
            )
        if vanished:
            # A deleted text's words stay in the index until its parts are merged.
            self._database.execute("INSERT INTO words (words) VALUES ('optimize')")

    def _revision(self, path: Path) -> str:
        try:
            return self._folder.revision(path)
        except (MemoryElsewhere, IsADirectoryError, PermissionError):
            return hashlib.sha256().hexdigest()  # it holds nothing that we may read

    def _put(self, name: str, now: Sequence[Place]) -> bool:
        """Make a file's places what they are now; return whether any went."""
        rows = self._database.execute(f"SELECT id, {_COLUMNS} FROM place WHERE file = ?", (name,))  # noqa: S608
        before: dict[_Row, list[int]] = {}
        for number, *row in rows:
            before.setdefault(tuple(row), []).append(number)
        for place in now:
            row = _row(place)
            if before.get(row):
                before[row].pop()
                continue
            cursor = self._database.execute(
                f"INSERT INTO place (file, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (name, *row),
            )
            self._database.execute(
                "INSERT INTO words (rowid, body) VALUES (?, ?)",
                (cursor.lastrowid, _kept(place.text)),
            )
        gone = list(_left(before))
        for number, text in gone:
            self._database.execute(
                "INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)",
                (number, _kept(text)),
            )
            self._database.execute("DELETE FROM place WHERE id = ?", (number,))
        return bool(gone)


def _left(rows: dict[_Row, list[int]]) -> Iterator[tuple[int, str]]:
    for row, numbers in rows.items():
        for number in numbers:
            yield number, row[0]


def _kept(text: str) -> str:
    return " ".join(stored_words(text))


def _row(place: Place) -> _Row:
    day = place.day.isoformat() if place.day else None
    return (
        place.text,
        place.source,
        day,
        int(place.layer),
        int(place.shared),
        json.dumps(place.rests_on),
    )


def _place(row: _Row) -> Place:
    text, source, day, layer, shared, rests_on = row
    return Place(
        text,
        source,
        date.fromisoformat(day) if day else None,
        Layer(layer),
        bool(shared),
        tuple(json.loads(rests_on)),
    )
