"""The documents of one learner as consolidation reads them: each once, with its revision."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from ulid import ULID

from memory.document import parse
from memory.entries import Noted, noted, own_lines
from memory.journal import read_day
from memory.layers import LearnerFolder, Profile, Surface, revision_of
from memory.progress import FILE

SURFACES: Final = tuple(one.value for one in Surface)
"""Names of the documents of the second layer."""
PROFILES: Final = tuple(one.value for one in Profile)
"""Names of those of the third."""


@dataclass(slots=True)
class Papers:
    """The documents of one learner, each read once."""

    folder: LearnerFolder
    _data: dict[str, bytes] = field(default_factory=dict)

    def data(self, name: str) -> bytes:
        """Return the bytes of a document as they were when it was first asked for."""
        if name not in self._data:
            self._data[name] = self.folder.read(self.path(name))
        return self._data[name]

    def path(self, name: str) -> Path:
        """Return the file of a document; that of the progress by its own name."""
        if name in SURFACES:
            return self.folder.surface(Surface(name))
        return self.folder.path / FILE if name == FILE else self.folder.profile(Profile(name))

    def revision(self, name: str) -> str:
        """Return the revision of these bytes."""
        return revision_of(self.data(name))

    def revisions(self, names: Iterable[str]) -> dict[str, str]:
        """Return the revisions of some documents, and of the progress."""
        return {name: self.revision(name) for name in (FILE, *names)}

    def entries(self, name: str) -> tuple[Noted, ...]:
        """Return the machine entries of a document."""
        return noted(parse(self.data(name)))

    def own(self, name: str) -> tuple[str, ...]:
        """Return a person's lines in a document."""
        return own_lines(parse(self.data(name)))


def words_of(folder: LearnerFolder, sources: Collection[str]) -> dict[str, str]:
    """Return what the cited events say, as far as they exist.

    An event lies in the file of its learner's day, which is the day of its id or a neighbour.
    """
    wanted = {source for source in sources if source.startswith("e_")}
    days = {
        ULID.from_str(source[2:]).datetime.date() + timedelta(days=shift)
        for source in wanted
        for shift in (-1, 0, 1)
    }
    return {
        f"e_{event.id}": event.text
        for day in sorted(days)
        for event in read_day(folder, day).events
        if f"e_{event.id}" in wanted
    }
