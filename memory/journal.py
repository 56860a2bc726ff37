"""First layer: what happened, one bullet an event, one file a day, only ever appended to.

An event is ``- 14:02:11 [chat] asked: why? ^e_<ULID>``; further lines of its text are indented by
two spaces (a blank one may be empty) and the block id ends the *last* line. So the id is the seal:
an event without it was torn by a crash, and one with it is whole. Every line that is not part of a
sealed event is a person's and is kept as it is.

Day and time are those of the learner's wall clock when it was written; order is by ULID.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from itertools import groupby, islice
from pathlib import Path
from typing import BinaryIO

from memory.characters import escape, unescape
from memory.files import sync_folder
from memory.layers import LearnerFolder, MemoryBusy, Surface, is_ulid
from memory.redact import redact

TAIL_BYTES = 64 * 1024
"""How far back an append looks for its own id. A repeat comes soon or is told as recovery."""

_TRIES = 20
"""How often an append begins anew because another program has put a file in the place of ours."""

_INDENT = "  "
_HEAD = re.compile(rf"- ([0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}) \[({'|'.join(Surface)})\] ")
_SEAL = re.compile(r" \^e_([0-7][0-9A-HJKMNP-TV-Z]{25})$")
_DAY_NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.md")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""

    id: str
    """ULID; the same event always has the same."""
    at: datetime
    """Wall clock of the learner. Aware when handed in; without zone when read from a file, which
    holds whole seconds and no zone."""
    surface: Surface
    text: str
    """Any text; lines are separated by line feeds."""


@dataclass(frozen=True, slots=True)
class Day:
    """One day file, read."""

    events: tuple[Event, ...]
    """Sealed events, oldest first, each id once."""
    other: tuple[str, ...]
    """All other lines, each without its line feed: headings, blank lines, a person's words."""


def format_event(event: Event) -> str:
    """Return the event as it stands in a day file, ending in a line feed."""
    first, *rest = escape(event.text).split("\n")
    lines = [f"- {event.at:%H:%M:%S} [{event.surface}] {first}"]
    lines += [_INDENT + line if line else "" for line in rest[:-1]]
    lines += [_INDENT + line for line in rest[-1:]]
    return "\n".join(lines) + f" ^e_{event.id}\n"


def pieces(text: str, day: date) -> list[tuple[Event | None, list[str]]]:
    """Cut a day file's text into sealed events and single other lines, in file order.

    Lines come without their line feed; joined by line feeds they are the text again.
    """
    found: list[tuple[Event | None, list[str]]] = []
    pending: list[str] = []  # raw lines of an event whose seal has not come yet
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")  # an editor's line ends; we never write a bare return
        if pending and line and not line.startswith(_INDENT):
            # Torn: the next thing began before the seal came.
            found += [(None, [one]) for one in pending]
            pending = []
        if pending or _HEAD.match(line):
            pending.append(raw)
        else:
            found.append((None, [raw]))
        if pending and _SEAL.search(line):
            event = _read_event(pending, day)
            found += [(event, pending)] if event else [(None, [one]) for one in pending]
            pending = []
    return found + [(None, [one]) for one in pending]


def parse_day(text: str, day: date) -> Day:
    """Read a day file's text. Nothing raises: what is no event is ``other``."""
    events: dict[str, Event] = {}
    other: list[str] = []
    for event, lines in pieces(text, day):
        if event is None:
            other += lines
        else:
            events.setdefault(event.id, event)
    return Day(tuple(sorted(events.values(), key=lambda e: e.id)), tuple(other))


def append(folder: LearnerFolder, *events: Event, recovering: bool = False) -> bool:
    """Add events to the day files of their ``at``; return False if all were there already.

    One synced write a day under the learner's lock, its cost independent of the file's size: only
    the last ``TAIL_BYTES`` are searched for the ids, the whole file with ``recovering``. Secrets
    are replaced. A last line left unfinished is closed first, so it cannot swallow an event.

    Raises ValueError for an id that is no ULID or a time without zone, before anything is written;
    MemoryBusy when the lock stays taken, OSError when the disk refuses: then what is not sealed
    may be repeated.
    """
    for event in events:
        if not is_ulid(event.id):
            raise ValueError(f"an event id is a ULID, not {event.id!r}")
        if event.at.tzinfo is None:
            raise ValueError("an event's time needs a zone")
    written = False
    with folder.lock():
        for day, together in groupby(events, lambda event: event.at.date()):
            written |= _append(folder, day, tuple(together), recovering)
    return written


def _append(folder: LearnerFolder, day: date, events: tuple[Event, ...], recovering: bool) -> bool:
    path = folder.contained(folder.day(day))
    path.parent.mkdir(parents=True, exist_ok=True)
    written = False
    for _ in range(_TRIES):
        with path.open("a+b", buffering=0) as file:
            if not _added(file, path, day, events, recovering):
                return written
            written = True
            if _stands(file, path):
                return True
    raise MemoryBusy(folder.learner, f"{path.name} is replaced again and again")


def _added(
    file: BinaryIO, path: Path, day: date, events: tuple[Event, ...], recovering: bool
) -> bool:
    """Write those events that are not there; False when all are."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0 if recovering else max(0, size - TAIL_BYTES))
    tail = file.read()
    fresh = [event for event in events if not _sealed(tail, event.id)]
    if not fresh:
        return False
    block = "".join(format_event(replace(event, text=redact(event.text))) for event in fresh)
    if not size:
        block = f"# {day.isoformat()}\n\n{block}"
    elif not tail.endswith(b"\n"):
        block = f"\n{block}"
    _write(file, block.encode())
    os.fsync(file.fileno())
    if not size:
        sync_folder(path.parent)
    return True


def _stands(file: BinaryIO, path: Path) -> bool:
    """Tell whether this is still the file of that name, and not one somebody put aside."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def read_day(folder: LearnerFolder, day: date) -> Day:
    """Read one day; a missing file is an empty day. Bytes that are no UTF-8 become U+FFFD."""
    return parse_day(folder.read(folder.day(day)).decode("utf-8", "replace"), day)


def read_events(
    folder: LearnerFolder, *, since: date | None = None, limit: int | None = None
) -> list[Event]:
    """Return the latest events, newest first: at most ``limit``, none of a day before ``since``.

    Days are opened from the newest backwards and only as many as are needed.
    """
    found = (
        event
        for day in _days(folder.events)
        if since is None or day >= since
        for event in reversed(read_day(folder, day).events)
    )
    return list(islice(found, limit))


def _read_event(raw: list[str], day: date) -> Event | None:
    lines = [line.removesuffix("\r") for line in raw]
    head = _HEAD.match(lines[0])
    seal = _SEAL.search(lines[-1])
    if head is None or seal is None:
        return None
    lines[-1] = lines[-1][: seal.start()]
    try:
        at = datetime.combine(day, time.fromisoformat(head[1]))
    except ValueError:
        return None  # 25:61:00 is a person's line
    body = [lines[0][head.end() :], *(line.removeprefix(_INDENT) for line in lines[1:])]
    return Event(seal[1], at, Surface(head[2]), unescape("\n".join(body)))


def _sealed(data: bytes, event_id: str) -> bool:
    seal = f" ^e_{event_id}".encode()
    # Nearly always it is not there, and to look for bytes is cheaper than to compile a pattern.
    return seal in data and re.search(rb"%s\r?(?:\n|\Z)" % re.escape(seal), data) is not None


def _write(file: BinaryIO, data: bytes) -> None:
    """One write; a file system that takes only a part is given the rest."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _days(folder: Path) -> list[date]:
    """Days that have a file, newest first."""
    if not folder.is_dir():
        return []
    found = (day_of(path.name) for path in folder.iterdir())
    return sorted((day for day in found if day is not None), reverse=True)


def day_of(name: str) -> date | None:
    """Return the day that a file of this name holds; None for a file that is not ours."""
    try:
        return date.fromisoformat(name.removesuffix(".md")) if _DAY_NAME.fullmatch(name) else None
    except ValueError:
        return None  # 2026-02-30.md
