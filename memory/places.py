"""Everything remembered about a learner as places that can be found: one list for all layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from pathlib import Path

from memory.document import Audience
from memory.entries import noted
from memory.journal import day_of, read_day
from memory.layers import LearnerFolder, MemoryElsewhere, Profile, Surface
from memory.recall import Item, grouped, load


class Layer(IntEnum):
    """Where something is remembered."""

    EVENT = 1
    """It was said or done."""
    SURFACE = 2
    """What events of one surface show."""
    PROFILE = 3
    """Who the learner is."""


@dataclass(frozen=True, slots=True)
class Place:
    """One event, entry or passage of a person's."""

    text: str
    source: str
    """``e_ULID`` of an event, ``m_ULID`` of an entry, for a person's words the document's name."""
    day: date | None
    """When it was said in the learner's zone, or last confirmed; None for a person's words."""
    layer: Layer
    shared: bool
    """Others may read it."""
    rests_on: tuple[str, ...] = ()
    """Sources that an entry cites, in order."""

    @property
    def own(self) -> bool:
        """A person wrote it into a document."""
        return self.day is None


def files(folder: LearnerFolder) -> Iterator[Path]:
    """Yield the files that hold places: those of the learner's that exist, links out left out."""
    if folder.events.is_dir():
        yield from (path for path in folder.events.iterdir() if day_of(path.name) is not None)
    yield from filter(Path.is_file, map(folder.surface, Surface))
    yield from filter(Path.is_file, map(folder.profile, Profile))


def places(folder: LearnerFolder, path: Path) -> list[Place]:
    """Return what one of ``files`` holds, in its order; a file that is gone or abroad holds none.

    Raises OSError for a day file that cannot be read.
    """
    day = day_of(path.name) if path.parent == folder.events else None
    if day is None:
        return _of_document(folder, path)
    try:
        events = read_day(folder, day).events
    except MemoryElsewhere:
        return []
    return [
        Place(event.text, f"e_{event.id}", event.at.date(), Layer.EVENT, shared=False)
        for event in events
    ]


def _of_document(folder: LearnerFolder, path: Path) -> list[Place]:
    layer = Layer.PROFILE if path.parent == folder.path / "profile" else Layer.SURFACE
    document = load(folder, path)
    cited = {entry.id: entry.sources for entry in noted(document)}
    return [
        Place(
            item.text,
            f"m_{item.id}" if item.id else path.stem,
            item.day,
            layer,
            shared=item.audience is Audience.GROUP,
            rests_on=cited.get(item.id, ()),
        )
        for item in grouped(document)
        if isinstance(item, Item)
    ]
