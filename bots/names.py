"""Names of people, made safe to show: they are whatever somebody typed."""

from __future__ import annotations

import unicodedata
from typing import Final

from memory.characters import is_blank

LONGEST_NAME: Final = 64

_JOINERS: Final = "\u200c\u200d"  # part of the spelling of some scripts and of many emoji


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name on one line, without control or direction marks, cut to ``longest`` characters.

    Empty when nothing of it could be seen.
    """
    kept = (_visible(character) for character in name)
    shown = " ".join("".join(kept).split())[:longest].rstrip()
    return "" if is_blank(shown) else shown


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    hidden = category in ("Cf", "Cs", "Co") and character not in _JOINERS
    return "" if hidden else character
