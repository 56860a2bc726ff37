"""From what happened (first layer) to what it shows (second) and who this learner is (third).

One step at a time: ``next_task`` builds a request from the files as they stand, somebody asks a
model, ``conclude`` judges the answer and applies what holds, under the learner's lock and only if
no file has changed since. Whatever goes wrong, files and progress stay as they were. ``tend`` is
what needs no model: what has faded or lost its sources goes, and what is too much.

The second layer cites events, the third cites entries of the second; when an entry of the second
layer is merged or goes, what rests on it follows in the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory.aging import leaving
from memory.entries import Noted, changed
from memory.ground import Change
from memory.history import Cause, Drifted, write
from memory.judging import judge
from memory.layers import LearnerFolder, Profile, Surface, revision_of
from memory.ops import parse_answer
from memory.papers import PROFILES, SURFACES, Papers, words_of
from memory.progress import Progress, ahead, load, save
from memory.tasks import Stage, Task, unraised


@dataclass(frozen=True, slots=True)
class Concluded:
    """What came of an answer."""

    done: Mapping[str, int]
    """Kind of operation → how many hold."""
    refused: Mapping[str, int]
    """Reason (``memory.ground.Refusal``) → how many do not."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits to be looked at."""

    events: int
    """As far as was read ahead."""
    newest: datetime | None
    """Wall clock of the learner."""
    unraised: int
    """Entries of the second layer that the third has not looked at."""
    tended: date | None
    """The night that was last looked after."""


def backlog(folder: LearnerFolder) -> Backlog:
    """Say what waits. Reads only days that are not done."""
    progress = load(folder)
    pending = ahead(folder, progress).pending
    newest = max((event.at for event in pending), default=None)
    waiting = len(unraised(Papers(folder), progress))
    return Backlog(len(pending), newest, waiting, progress.tended)


def conclude(
    folder: LearnerFolder, task: Task, answer: str, today: date, new_id: Callable[[], str]
) -> Concluded:
    """Judge an answer, apply what holds, and note the progress.

    Raises ``memory.ops.Unreadable`` for an answer that is none, Drifted, MemoryBusy or OSError;
    then nothing has changed.
    """
    judged = judge(parse_answer(answer), task.ground, today, new_id)
    with folder.lock():
        files = Papers(folder)
        for name, was in task.revisions.items():
            if files.revision(name) != was:
                raise Drifted(folder, files.path(name))
        changes = _followed(files, judged.changes, judged.moved)
        then = task.then
        if task.stage is Stage.TIDY:
            change = changes.get(task.document, Change())
            left = len(files.entries(task.document)) - len(change.gone)
            then = replace(then, tidied={**then.tidied, task.document: left})
        _write(files, changes, then, Cause.CONSOLIDATE)
    return Concluded(judged.done, judged.refused)


def tend(folder: LearnerFolder, night: date) -> int:
    """Take out what has faded, what lost its sources and what is too much; return how many.

    The night is noted. Raises Drifted, MemoryBusy or OSError.
    """
    with folder.lock():
        files = Papers(folder)
        changes = {
            kind.value: Change(gone=leaving(files.entries(kind.value), kind.value, night))
            for kind in Profile
        }
        needed = {
            source.removeprefix("m_")
            for kind in Profile
            for entry in files.entries(kind.value)
            if entry.id not in changes[kind.value].gone
            for source in entry.sources
        }
        for surface in Surface:
            entries = files.entries(surface.value)
            said = words_of(folder, [source for entry in entries for source in entry.sources])
            resting = _resting(entries, said)
            rest = [entry for entry in entries if entry.id not in resting.gone]
            weak = leaving(rest, surface.value, night, needed)
            put = tuple(entry for entry in resting.put if entry.id not in weak)
            changes[surface.value] = Change(put, (*resting.gone, *weak))
        changes = _followed(files, changes, {}, bare=True)
        _write(files, changes, replace(load(folder), tended=night), Cause.TEND)
    return sum(len(change.gone) for change in changes.values())


def _followed(
    files: Papers,
    changes: Mapping[str, Change],
    moved: Mapping[str, str],
    *,
    bare: bool = False,
) -> dict[str, Change]:
    """Let the third layer follow what becomes of the entries it rests on.

    ``moved`` leads from a merged entry to the one that took it in. What rests on an entry that is
    gone, also by a person's hand, rests on it no more. With ``bare``, entries that name no source
    at all go too.
    """
    result = dict(changes)
    living: set[str] = set()
    for name in SURFACES:
        change = changes.get(name, Change())
        ids = {entry.id for entry in (*files.entries(name), *change.put)}
        living |= {f"m_{id_}" for id_ in ids if id_ not in change.gone}
    leads = {f"m_{old}": f"m_{new}" for old, new in moved.items()}
    for name in PROFILES:
        change = result.get(name, Change())
        standing = {entry.id: entry for entry in (*files.entries(name), *change.put)}
        staying = [entry for entry in standing.values() if entry.id not in change.gone]
        resting = _resting([one for one in staying if one.sources or bare], living, leads)
        put = {entry.id: entry for entry in (*change.put, *resting.put)}
        gone = (*change.gone, *resting.gone)
        kept = tuple(entry for entry in put.values() if entry.id not in gone)
        if kept or gone:
            result[name] = Change(kept, gone)
    return result


def _resting(
    entries: Iterable[Noted], living: Container[str], leads: Mapping[str, str] | None = None
) -> Change:
    """Let entries rest on what lives: without any source an entry goes."""
    put: list[Noted] = []
    gone: list[str] = []
    for entry in entries:
        led = [(leads or {}).get(source, source) for source in entry.sources]
        sources = tuple(dict.fromkeys(source for source in led if source in living))
        if not sources:
            gone.append(entry.id)
        elif sources != entry.sources:
            put.append(replace(entry, sources=sources))
    return Change(tuple(put), tuple(gone))


def _after(files: Papers, changes: Mapping[str, Change]) -> dict[str, bytes]:
    """What the documents will be; only those that change."""
    result = {}
    for name, change in changes.items():
        data = changed(files.data(name), change.put, change.gone, name.capitalize())
        if data != files.data(name):
            result[name] = data
    return result


def _write(files: Papers, changes: Mapping[str, Change], then: Progress, cause: Cause) -> None:
    """Write documents and progress; the lock is held."""
    folder = files.folder
    after = _after(files, changes)
    if after:
        names = {n: files.path(n).relative_to(folder.path).as_posix() for n in after}
        revisions = {names[name]: revision_of(data) for name, data in after.items()}
        save(folder, load(folder), then=then, after=revisions)
        for name, data in after.items():
            path, revision = files.path(name), files.revision(name)
            write(folder, path, data, revision=revision, cause=cause)
    save(folder, then)
