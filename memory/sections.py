"""Where an entry may stand: the documents of the second and third layer and their headings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from memory.layers import Profile, Surface

SAID: Final = "Said"
"""Claims, jests and orders: kept at most as something that was said, and never raised."""

_SURFACE: Final = ("Goals", "Background", "Knowledge", "Difficulties", "Preferences", SAID)

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{surface.value: _SURFACE for surface in Surface},
        Profile.PROFILE.value: ("Goals", "Background"),
        Profile.KNOWLEDGE.value: ("Knows", "Difficulties", "Misconceptions"),
        Profile.PREFERENCES.value: ("",),
        Profile.RECENT.value: ("",),
    }
)
"""Headings of the second level by document; the empty one is the head of the document."""

SHAREABLE: Final = frozenset(
    {"Knowledge", "Difficulties", "Preferences", "Knows", "Misconceptions", Profile.PREFERENCES}
)
"""What may help where others read along: how far somebody is, and how they like to learn."""


def section_of(document: str, name: str) -> str | None:
    """Return the heading as it is written; None where the document has no such section."""
    sections = SECTIONS.get(document, ())
    if sections == ("",):
        return ""  # it has no headings, so whatever was named is the document itself
    return next((one for one in sections if one.casefold() == name.casefold()), None)


def may_be_shared(document: str, section: str) -> bool:
    """Tell whether an entry there may be marked shareable at all."""
    return (section or document) in SHAREABLE
