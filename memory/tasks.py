"""The requests of consolidation, built from a learner's files as they stand. Reads, never writes.

Events first, oldest surface first; then what the second layer shows that the third has not looked
at; on a night of each week, one document that is tidied or held against its sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from memory import asking
from memory.aging import crowded
from memory.entries import Noted
from memory.ground import Ground, Shelf
from memory.journal import Event
from memory.layers import LearnerFolder, Surface, revision_of
from memory.ops import Add, Delete, Edit, Merge, Operation
from memory.papers import PROFILES, SURFACES, Papers, words_of
from memory.progress import Ahead, Progress, ahead, load, looked_at
from memory.recall import estimate_tokens
from memory.sections import SAID
from memory.sources import of_entry, of_event

OVERLAP: Final = 4
"""Events before the new ones that are shown again, to understand them."""
STUCK: Final = 4
"""Unreadable answers in a row about a single event, after which the next ones are asked about
without it. Only when those go well is it left behind: a model that is broken skips nothing."""
RAISED_AT_ONCE: Final = 60
AUDITED_AT_ONCE: Final = 30
AUDIT_EVERY: Final = timedelta(days=7)
"""One document each time, so a call or two a week."""
TIDY_FROM: Final = 12
"""Entries below which a document is tidy."""
GROWN: Final = 5
"""Entries that came since it was tidied, from which it is tidied again."""
_DOCUMENTS: Final = (*SURFACES, *PROFILES)
_ALL: Final[frozenset[type[Operation]]] = frozenset({Add, Edit, Delete, Merge})


class Stage(StrEnum):
    """What a model is asked for."""

    LEARN = "learn"
    """Events → the second layer, one surface."""
    RAISE = "raise"
    """The second layer → the third."""
    AUDIT = "audit"
    """Entries of one document against what they rest on."""
    TIDY = "tidy"
    """Entries of one document that belong together."""


@dataclass(frozen=True, slots=True)
class Task:
    """One request to a model, and all that is needed to judge the answer."""

    stage: Stage
    document: str
    """Name of the surface or document; empty for the third layer as a whole."""
    system: str
    user: str
    ground: Ground
    revisions: Mapping[str, str]
    """Document → revision that the request was made from."""
    then: Progress
    """The progress once it is concluded."""
    events: int = 0
    """New events that are asked about."""


def next_task(
    folder: LearnerFolder, tokens: int, *, night: date | None = None, tries: int = 0
) -> Task | None:
    """Return the next request, None when nothing is left to ask.

    ``tokens`` is the size of a request, estimated, instructions included. With a ``night`` (the
    date it is for) entries are audited and tidied too. ``tries`` are the answers in a row that
    could not be used: each halves the request.
    """
    progress = load(folder)
    files = Papers(folder)
    around = ahead(folder, progress)
    if around.pending:
        return _learning(files, progress, around, tokens >> min(tries, 6), tries)
    if fresh := unraised(files, progress):
        return _raising(files, progress, fresh, tokens >> min(tries, 6), tries)
    if night is not None:
        return _nightly(files, progress, night, tokens >> min(tries, 6))
    return None


def _learning(
    files: Papers,
    progress: Progress,
    around: Ahead,
    tokens: int,
    tries: int,
    passed: tuple[Event, ...] = (),
) -> Task:
    pending = [event for event in around.pending if event not in passed]
    surface = pending[0].surface
    mine = [event for event in pending if event.surface is surface]
    name = surface.value
    entries, names = _named(_newest(files.entries(name), tokens // 3))
    own = _own(files, (name, *PROFILES), tokens)
    system, known = asking.learning(entries, own, ())
    room = max(tokens - estimate_tokens(system) - estimate_tokens(known), tokens // 4)
    chunk = _chunk(mine, room)
    if tries >= STUCK and len(chunk) == 1 and len(pending) > 1 and not passed:
        return _learning(files, progress, around, tokens, tries, tuple(chunk))
    before = [event for event in around.behind if event.surface is surface][-OVERLAP:]
    shown = [(f"e{n}", event, event in chunk) for n, event in enumerate((*before, *chunk), 1)]
    system, user = asking.learning(entries, own, shown)
    ground = Ground(
        shelves={name: Shelf(files.entries(name), _all_own(files, name))},
        entries=names,
        evidence={label: of_event(event, fresh=new) for label, event, new in shown},
        allowed=_ALL,
    )
    done = frozenset(event.id for event in (*passed, *chunk))
    then = looked_at(progress, around, done)
    return Task(Stage.LEARN, name, system, user, ground, files.revisions([name]), then, len(chunk))


def _raising(
    files: Papers, progress: Progress, fresh: Mapping[str, str], tokens: int, tries: int
) -> Task:
    standing = {e.id: (name, e) for name in PROFILES for e in files.entries(name)}
    lines = {
        f"m{n}": standing[entry.id]
        for n, entry in enumerate(_newest([e for _, e in standing.values()], tokens // 3), 1)
    }
    waiting = [(n, e) for n in SURFACES for e in files.entries(n) if e.id in fresh]
    turn = tries % len(waiting) if tries >= STUCK else 0  # one that is refused holds up no other
    waiting = waiting[turn:] + waiting[:turn]
    some = _newest([entry for _, entry in waiting], tokens // 2, newest=False)
    chosen = {entry.id for entry in some[:RAISED_AT_ONCE]}
    seen = {
        f"e{n}": one for n, one in enumerate((one for one in waiting if one[1].id in chosen), 1)
    }
    system, user = asking.raising(lines, _own(files, PROFILES, tokens), seen)
    ground = Ground(
        shelves={name: Shelf(files.entries(name), files.own(name)) for name in PROFILES},
        entries={label: entry.id for label, (_, entry) in lines.items()},
        evidence={label: of_entry(entry) for label, (_, entry) in seen.items()},
        allowed=_ALL,
        raised=True,
    )
    living = {entry.id for name in SURFACES for entry in files.entries(name)}
    raised = {id_: was for id_, was in progress.raised.items() if id_ in living}
    then = replace(progress, raised={**raised, **{id_: fresh[id_] for id_ in chosen}})
    names = [*PROFILES, *dict.fromkeys(name for name, _ in seen.values())]
    return Task(Stage.RAISE, "", system, user, ground, files.revisions(names), then)


def _nightly(files: Papers, progress: Progress, night: date, tokens: int) -> Task | None:
    """What is crowded is tidied, before age and size take something away; once a week the
    document whose turn it is is held against its sources."""
    sizes = {name: len(files.entries(name)) for name in _DOCUMENTS}
    grown = {name: size - progress.tidied.get(name, 0) for name, size in sizes.items()}
    for name, size in sizes.items():
        if crowded(name, size) and grown[name] >= GROWN:
            return _tidying(files, progress, name, tokens)
    if progress.audited is not None and night - progress.audited < AUDIT_EVERY:
        return None
    for step in range(len(_DOCUMENTS)):
        turn = (progress.next_audit + step) % len(_DOCUMENTS)
        name = _DOCUMENTS[turn]
        if sizes[name] >= TIDY_FROM and grown[name] >= GROWN:
            return _tidying(files, progress, name, tokens)
        if sizes[name]:
            then = replace(progress, audited=night, next_audit=turn + 1)
            return _auditing(files, then, name, tokens)
    return None


def _auditing(files: Papers, then: Progress, name: str, tokens: int) -> Task:
    oldest = sorted(files.entries(name), key=lambda entry: (entry.day, entry.id))
    shown, names = _named(_newest(oldest[:AUDITED_AT_ONCE], tokens // 3, newest=False))
    words = words_of(files.folder, [source for entry in shown.values() for source in entry.sources])
    words |= {
        f"m_{entry.id}": entry.text
        for surface in Surface
        for entry in (files.entries(surface.value) if name in PROFILES else ())
    }
    rests = {
        label: [words[source] for source in entry.sources if source in words]
        for label, entry in shown.items()
    }
    system, user = asking.auditing(name, shown, rests)
    ground = Ground(
        shelves={name: Shelf(files.entries(name), files.own(name))},
        entries=names,
        evidence={},
        allowed=frozenset({Edit, Delete, Merge}),
        needs_citation=False,
        raised=name in PROFILES,
    )
    return Task(Stage.AUDIT, name, system, user, ground, files.revisions([name]), then)


def _tidying(files: Papers, progress: Progress, name: str, tokens: int) -> Task:
    entries, names = _named(_newest(files.entries(name), tokens))
    system, user = asking.tidying(name, entries)
    ground = Ground(
        shelves={name: Shelf(files.entries(name), files.own(name))},
        entries=names,
        evidence={},
        allowed=frozenset({Merge}),
        needs_citation=False,
        raised=name in PROFILES,
    )
    return Task(Stage.TIDY, name, system, user, ground, files.revisions([name]), progress)


def _chunk(events: Sequence[Event], room: int) -> list[Event]:
    """Return the first events that fit, one at least."""
    chunk: list[Event] = []
    for event in events:
        room -= estimate_tokens(event.text[: asking.CUT]) + 16
        if chunk and room < 0:
            break
        chunk.append(event)
    return chunk


def _newest(entries: Sequence[Noted], room: int, *, newest: bool = True) -> list[Noted]:
    """Return the entries that fit, one at least, in their order: the newest, or the first ones."""
    ranked = sorted(entries, key=lambda e: (e.day, e.id), reverse=True) if newest else entries
    kept: set[str] = set()
    for entry in ranked:
        room -= estimate_tokens(entry.text) + 16
        if kept and room < 0:
            break
        kept.add(entry.id)
    return [entry for entry in entries if entry.id in kept]


def _own(files: Papers, names: Iterable[str], tokens: int) -> tuple[str, ...]:
    """Return a person's lines as far as an eighth of the request holds them."""
    room = tokens // 8
    kept: list[str] = []
    for line in dict.fromkeys(line for name in names for line in files.own(name)):
        room -= estimate_tokens(line) + 2
        if room < 0:
            break
        kept.append(line)
    return tuple(kept)


def _named(entries: Iterable[Noted]) -> tuple[dict[str, Noted], dict[str, str]]:
    named = {f"m{n}": entry for n, entry in enumerate(entries, 1)}
    return named, {label: entry.id for label, entry in named.items()}


def _all_own(files: Papers, name: str) -> tuple[str, ...]:
    """A person's lines in a document, and those of the profile, which hold everywhere."""
    lines = (*files.own(name), *(line for kind in PROFILES for line in files.own(kind)))
    return tuple(dict.fromkeys(lines))


def unraised(files: Papers, progress: Progress) -> dict[str, str]:
    """Entries of the second layer that the third has not looked at: id → what they say."""
    return {
        entry.id: says
        for surface in Surface
        for entry in files.entries(surface.value)
        if entry.section != SAID
        and progress.raised.get(entry.id) != (says := revision_of(entry.text.encode())[:8])
    }
