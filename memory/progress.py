"""How far consolidation has come with a learner: a small file in the learner's folder.

What was looked at is known by the ids of events, not by a place in a file: an event of a long turn,
or one that a restart brings late, may stand before others that were looked at already. So ids are
kept for some days back, and only days before those count as done as a whole.

The file is written before the documents it speaks of, with what they will be, and again after
them: whoever reads it after a crash can tell which of the two is true.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from memory.files import replace_file
from memory.journal import Event, read_day
from memory.layers import LearnerFolder

FILE: Final = ".consolidation.json"
KEPT_DAYS: Final = 2
"""Days before the newest event that was looked at, of which single ids are known."""
MOST_READ: Final = 2_000
"""Events that are read ahead at once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """What was looked at."""

    since: date | None = None
    """Days before this one are done; None when nothing was looked at yet."""
    seen: frozenset[str] = frozenset()
    """Ids of the events of this day and later ones that were looked at."""
    raised: Mapping[str, str] = field(default_factory=dict)
    """Entries of the second layer that the third has looked at: id → what they said (a hash)."""
    tended: date | None = None
    """The night for which age and size were last looked after."""
    audited: date | None = None
    """The night for which entries were last held against their sources."""
    next_audit: int = 0
    """Whose turn it is then, counted over all documents."""
    tidied: Mapping[str, int] = field(default_factory=dict)
    """Document → how many entries the last tidying left."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Events around the place that was reached, oldest first."""

    pending: tuple[Event, ...]
    """Not looked at yet; at most about ``MOST_READ``."""
    behind: tuple[Event, ...]
    """The last ones that were looked at, as far as they are read anyway."""


def load(folder: LearnerFolder) -> Progress:
    """Read the file; a missing or damaged one means that nothing was looked at."""
    raw = folder.read(folder.path / FILE)
    if not raw:
        return Progress()
    try:
        stored = json.loads(raw)
        after = stored.get("after")
        if after and all(folder.revision(folder.path / name) == to for name, to in after.items()):
            return _read(stored["then"])
        return _read(stored)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        _log.warning("the progress of learner %s is unreadable (%s)", folder.learner, error)
        return Progress()


def save(
    folder: LearnerFolder,
    progress: Progress,
    *,
    then: Progress | None = None,
    after: Mapping[str, str] | None = None,
) -> None:
    """Write the file; the learner's lock must be held.

    ``then`` holds once the files named in ``after`` (relative, with slashes) have these revisions.
    """
    stored = _written(progress)
    if then is not None:
        stored |= {"after": dict(after or {}), "then": _written(then)}
    path = folder.contained(folder.path / FILE)
    replace_file(path, json.dumps(stored, sort_keys=True).encode())


def ahead(folder: LearnerFolder, progress: Progress) -> Ahead:
    """Read on from the place that was reached; days are opened one by one."""
    behind: list[Event] = []
    pending: list[Event] = []
    for event in islice(_events(folder, progress.since), MOST_READ + len(progress.seen)):
        (behind if event.id in progress.seen else pending).append(event)
    pending.sort(key=lambda event: event.id)
    behind.sort(key=lambda event: event.id)
    return Ahead(tuple(pending), tuple(behind))


def looked_at(progress: Progress, around: Ahead, done: frozenset[str]) -> Progress:
    """Return the progress once the events ``done`` of ``around`` were looked at."""
    looked = [event for event in (*around.behind, *around.pending) if event.id in done]
    looked += around.behind
    left = [event.at.date() for event in around.pending if event.id not in done]
    newest = max((event.at.date() for event in looked), default=None)
    if newest is None:
        return progress
    since = min([newest - timedelta(days=KEPT_DAYS), *left])
    if progress.since is not None:
        since = max(since, progress.since)
    seen = frozenset(event.id for event in looked if event.at.date() >= since)
    return replace(progress, since=since, seen=seen)


def _events(folder: LearnerFolder, since: date | None) -> Iterator[Event]:
    for day in days(folder.events):
        if since is None or day >= since:
            yield from read_day(folder, day).events


def days(events: Path) -> list[date]:
    """Return the days that have a file, oldest first."""
    if not events.is_dir():
        return []
    found = []
    for file in events.glob("????-??-??.md"):
        try:
            found.append(date.fromisoformat(file.stem))
        except ValueError:
            continue  # 2026-02-30.md: not ours
    return sorted(found)


def _written(progress: Progress) -> dict[str, Any]:
    return {
        "since": progress.since and progress.since.isoformat(),
        "seen": sorted(progress.seen),
        "raised": dict(progress.raised),
        "tended": progress.tended and progress.tended.isoformat(),
        "audited": progress.audited and progress.audited.isoformat(),
        "next_audit": progress.next_audit,
        "tidied": dict(progress.tidied),
    }


def _read(stored: Mapping[str, Any]) -> Progress:
    return Progress(
        since=_date(stored["since"]),
        seen=frozenset(map(str, stored["seen"])),
        raised={str(key): str(value) for key, value in stored["raised"].items()},
        tended=_date(stored["tended"]),
        audited=_date(stored["audited"]),
        next_audit=int(stored["next_audit"]),
        tidied={str(key): int(value) for key, value in stored["tidied"].items()},
    )


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
