"""Text off the wire made whole: characters that came in halves are joined, lone halves replaced.

JSON can carry half a surrogate pair, and servers that cut their pieces in UTF-16 send an emoji in
two of them. Nothing behind this point could store or send such a half.
"""

from __future__ import annotations

import re

_HALVES = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Return the text with pairs joined and lone halves as U+FFFD."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Whole:
    """The pieces of one stream. A half whose other half never comes is left out."""

    def __init__(self) -> None:
        self.length = 0
        """Characters returned so far."""
        self._half = ""

    def feed(self, piece: str) -> str:
        """Return the piece made whole; its last half waits for the next one."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = whole(text)
        self.length += len(text)
        return text
