"""Words of people inside a line of ours: what could be taken for our own signs is written around.

A sign that must not appear is written as a numeric character reference of Markdown (``&#94;`` for
``^``), which every Markdown viewer shows as the character itself. ``unescape(escape(x)) == x``
for every text without lone surrogates; those become U+FFFD, since UTF-8 cannot hold them.
"""

from __future__ import annotations

import re
import unicodedata

_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff"
"""Control characters except tab and line feed, the other line ends of Unicode, and the BOM."""

_SIGNS = re.compile(rf"[{_CONTROL}]|&(?=#[0-9]{{1,7}};)|\^(?=e_)|<(?=!--)")
_REFERENCE = re.compile(r"&#([0-9]{1,7});")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile(f"[{_CONTROL}]")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffe\uffff")
_UNSEEN = re.compile(rf"[{_CONTROL}\t\n]+")


def escape(text: str) -> str:
    """Return the text with control characters and our own signs as character references.

    Line feeds and tabs stay. ``^e_`` (a block id), ``<!--`` (an entry's mark) and what already
    looks like a reference are the signs.
    """
    return _SIGNS.sub(lambda found: f"&#{ord(found[0])};", _SURROGATES.sub("\ufffd", text))


def unescape(text: str) -> str:
    """Undo ``escape``. A reference to nothing (a surrogate, beyond Unicode) stays as it is."""
    return _REFERENCE.sub(_character, text)


def visible(text: str) -> str:
    """Return one stored line as people and models read it: no reference, no control character."""
    return printable(unescape(text))


def printable(text: str) -> str:
    """Return one line with a space for control characters, U+FFFD for lone surrogates."""
    return _UNSEEN.sub(" ", _SURROGATES.sub("\ufffd", text))


def is_blank(text: str) -> bool:
    """Tell whether nothing of the text can be seen (spaces, format characters, fillers)."""
    return all(
        c.isspace()
        or c in _FILLERS
        or "\ufe00" <= c <= "\ufe0f"  # variation selectors
        or unicodedata.category(c) in ("Cf", "Cc", "Zs")
        or "\U000e0100" <= c <= "\U000e01ef"
        for c in text
    )


def has_control(text: str) -> bool:
    """Tell whether a single line holds a control character other than a tab."""
    return _CONTROLS.search(text) is not None


def _character(found: re.Match[str]) -> str:
    number = int(found[1])
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return found[0]
    return chr(number)
