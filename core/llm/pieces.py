"""Pieces of a streamed text from servers that send each time all of it, told from those that go on.

The usual server sends what is new; some send the whole text so far with every chunk. Which one it
is shows by itself: a whole text begins with the one before. Short beginnings can be both ("1", then
"10"), so such pieces wait until it is sure.
"""

from __future__ import annotations

from enum import Enum, auto
from itertools import pairwise
from typing import Final

SURE: Final = 16
"""Characters that a text and its continuation do not share by chance."""
_MOST_WAITING: Final = 8


class _Kind(Enum):
    OPEN = auto()
    NEW = auto()
    WHOLE = auto()


class Pieces:
    """The pieces of one text."""

    def __init__(self) -> None:
        self._kind = _Kind.OPEN
        self._last = ""
        self._waiting: list[str] = []

    def feed(self, piece: str) -> str:
        """Return what a piece adds to the text, empty while that is not sure."""
        if not piece:
            return ""
        match self._kind:
            case _Kind.NEW:
                return piece
            case _Kind.WHOLE:
                return self._grown(piece)
        if not self._last:
            self._last = piece
            return piece
        newest = self._waiting[-1] if self._waiting else self._last
        if not piece.startswith(newest):
            self._kind = _Kind.NEW
            return self._given_back() + piece
        self._waiting.append(piece)
        if len(newest) >= SURE and len(piece) > len(newest):
            self._kind = _Kind.WHOLE
            self._waiting = []
            return self._grown(piece)
        if len(self._waiting) > _MOST_WAITING:
            self._kind = _Kind.NEW
            return self._given_back()
        return ""

    def finish(self) -> str:
        """Return what waited at the end of the text."""
        texts = [self._last, *self._waiting]
        grew = all(a != b for a, b in pairwise(texts))
        if self._kind is _Kind.OPEN and len(texts) > 2 and grew:
            self._waiting = []
            return self._grown(texts[-1])
        return self._given_back()

    def _grown(self, piece: str) -> str:
        if not piece.startswith(self._last):
            return ""  # the same text once more, cut or changed at its end
        added, self._last = piece[len(self._last) :], piece
        return added

    def _given_back(self) -> str:
        text, self._waiting = "".join(self._waiting), []
        return text
