"""How much an entry still counts, and what gives way when a document is full. Pure.

An entry counts by what it rests on and by how long ago it was last confirmed; what nothing has
confirmed for long fades away by itself. A person's line has no strength: it is never asked.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Final

from memory.entries import Noted
from memory.layers import Profile

HALF_LIVES: Final[Mapping[str, float]] = MappingProxyType(
    {
        Profile.RECENT.value: 7.0,
        Profile.KNOWLEDGE.value: 120.0,
        Profile.PREFERENCES.value: 240.0,
        Profile.PROFILE.value: 360.0,
    }
)
"""Days after which an entry of a document counts half; a third-layer document by its name."""
HALF_LIFE: Final = 90.0
"""Of the second layer."""
FADED: Final = 0.1
"""An entry below this strength goes: one that rests on one event after 3.3 half-lives."""

MOST_ENTRIES: Final[Mapping[str, int]] = MappingProxyType(
    {
        Profile.RECENT.value: 20,
        Profile.PROFILE.value: 40,
        Profile.PREFERENCES.value: 30,
        Profile.KNOWLEDGE.value: 80,
    }
)
"""Machine entries that a document may hold."""
MOST_OF_SURFACE: Final = 80
CROWDED: Final = 0.8
"""Share of the most entries from which a model is asked what can be merged."""


def strength(entry: Noted, today: date, half_life: float) -> float:
    """Return how much an entry counts: 1 for one fresh source, more with more, less with age."""
    age = max(0, (today - entry.day).days)
    support = 1.0 + math.log2(max(1, len(entry.sources)))
    return float(support * 0.5 ** (age / half_life))


def half_life(document: str) -> float:
    """Return the days after which an entry of a document counts half."""
    return HALF_LIVES.get(document, HALF_LIFE)


def room(document: str) -> int:
    """Return the number of machine entries that a document may hold."""
    return MOST_ENTRIES.get(document, MOST_OF_SURFACE)


def crowded(document: str, entries: int) -> bool:
    """Tell whether a document is so full that merging should be tried."""
    return entries >= CROWDED * room(document)


def leaving(
    entries: Sequence[Noted], document: str, today: date, needed: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the ids of the entries that go: the faded ones, and the weakest above the room.

    ``needed`` are ids that another layer rests on: they fade only with what rests on them, and
    are the last to go for want of room. Of equals the oldest goes first.
    """
    life = half_life(document)
    weights = {entry.id: strength(entry, today, life) for entry in entries}
    faded = [e.id for e in entries if weights[e.id] < FADED and e.id not in needed]
    rest = [entry for entry in entries if entry.id not in faded]
    rest.sort(key=lambda entry: (entry.id in needed, weights[entry.id], entry.day, entry.id))
    surplus = max(0, len(rest) - room(document))
    return (*faded, *(entry.id for entry in rest[:surplus]))
