"""Two learners' days become one, and one becomes two again: text only, no file is touched.

Uniting loses nothing a person wrote: their lines are kept byte for byte, the very same line once.
Uniting twice changes nothing more, so what was interrupted is simply done again.

Taking apart gives each side what it had, without what was removed meanwhile, and what came since to
the side it came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from memory.journal import pieces

WhoseEvent = Callable[[str], bool]
"""True for the id of an event that belongs to the side that was joined."""


@dataclass(slots=True)
class _Chunk:
    """An event and the lines a person wrote below it; without an event, the head of a day."""

    id: str
    event: list[str]
    below: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        return [*self.event, *self.below]


def unite_day(mine: bytes, theirs: bytes, day: date) -> bytes:
    """Return one day file with the events of both, each once, in the order of their ids."""
    ours, added = _chunks(mine, day), _chunks(theirs, day)
    if not mine:
        return theirs
    known = {chunk.id: chunk for chunk in ours}
    spare = Counter(line for chunk in ours for line in chunk.below if line.strip())
    changed = False
    for chunk in added:
        below = _without(chunk.below, spare)
        here = known.get(chunk.id)
        if here is None:
            ours.append(_Chunk(chunk.id, chunk.event, below))
        elif below:
            here.below = [*here.below, *below]
        changed |= here is None or bool(below)
    if not changed:
        return mine
    return _day_bytes(sorted(ours, key=lambda chunk: chunk.id))


def part_day(
    current: bytes, mine: bytes, theirs: bytes, day: date, whose: WhoseEvent
) -> tuple[bytes, bytes]:
    """Return what each side keeps of a day that was united from ``mine`` and ``theirs``."""
    united, now = _chunks(unite_day(mine, theirs, day), day), _chunks(current, day)
    ids = {chunk.id for chunk in now}
    known = {chunk.id for chunk in united}
    gone_lines = Counter(_written(united))
    gone_lines.subtract(Counter(_written(now)))
    gone = {chunk.id for chunk in united} - ids
    kept = [_left(side, day, gone, +gone_lines) for side in (mine, theirs)]
    fresh_lines = Counter(_written(now))
    fresh_lines.subtract(Counter(_written(united)))
    fresh = +fresh_lines
    since: tuple[list[str], list[str]] = ([], [])
    for chunk in now:
        side = since[bool(chunk.id) and chunk.id not in known and whose(chunk.id)]
        if chunk.id and chunk.id not in known:
            side += chunk.event
        for line in chunk.below:
            if fresh[line] > 0:
                fresh[line] -= 1
                side.append(line)
    return _with(kept[0], since[0], day), _with(kept[1], since[1], day)


def _chunks(data: bytes, day: date) -> list[_Chunk]:
    """The head of the file first, its id empty, even where there is none."""
    text = data.decode("utf-8", "surrogateescape")
    found = [_Chunk("", [])]
    for event, lines in pieces(text.removesuffix("\n"), day) if text else ():
        if event is None:
            found[-1].below += lines
        else:
            found.append(_Chunk(event.id, lines))
    return found


def _day_bytes(chunks: Iterable[_Chunk]) -> bytes:
    lines = [line for chunk in chunks for line in chunk.lines]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _without(lines: Sequence[str], spare: Counter[str]) -> list[str]:
    """Lines that are not there yet; blank ones only between those that are kept."""
    kept: list[str] = []
    for line in lines:
        if line.strip() and spare[line] > 0:
            spare[line] -= 1
        elif line.strip() or kept:
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _written(chunks: Iterable[_Chunk]) -> Iterator[str]:
    return (line for chunk in chunks for line in chunk.below if line.strip())


def _left(side: bytes, day: date, gone: set[str], lines: Counter[str]) -> bytes:
    """A side as it was, without what was removed since."""
    chunks = _chunks(side, day)
    if not gone & {chunk.id for chunk in chunks} and not any(
        lines[line] for line in _written(chunks)
    ):
        return side
    spare = Counter(lines)
    kept: list[_Chunk] = []
    for chunk in chunks:
        below: list[str] = []
        for line in chunk.below:
            if spare[line] > 0:
                spare[line] -= 1
            else:
                below.append(line)
        kept.append(_Chunk(chunk.id, [] if chunk.id in gone else chunk.event, below))
    return _day_bytes(kept)


def _with(data: bytes, lines: Sequence[str], day: date) -> bytes:
    if not lines:
        return data
    if not data:
        data = f"# {day.isoformat()}\n\n".encode()
    elif not data.endswith(b"\n"):
        data += b"\n"
    return data + "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
