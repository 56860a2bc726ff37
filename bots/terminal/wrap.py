"""Breaking a line of text at a width in terminal columns."""

from __future__ import annotations

from wcwidth import iter_graphemes, wcswidth

TAB = "    "
"""How a tab is shown."""
_NOT_FIRST = frozenset("，。、；：？！）》」』”’…,.;:?!)]}")
_NOT_LAST = frozenset("（《「『“‘([{")


def wrapped(text: str, width: int) -> list[tuple[int, int]]:
    """Return the ranges of one line (no line ends in it) that fit ``width`` columns each.

    Breaks fall at spaces and beside Chinese characters, not before a closing or after an opening
    mark; a longer word is cut between characters. The spaces at a break are in no range.
    """
    if text.isascii() and text.isprintable() and len(text) <= width:
        return [(0, len(text))]
    lines: list[tuple[int, int]] = []
    start = at = column = 0  # of the line under way
    last_break = column_at_break = 0
    before = ""
    for character in iter_graphemes(text):
        size = len(TAB) if character == "\t" else max(wcswidth(character), 0)
        if at > start and _may_break(before, character):
            last_break, column_at_break = at, column
        if column + size > width and not character.isspace() and at > start:
            cut = last_break if last_break > start else at
            lines.append((start, start + len(text[start:cut].rstrip())))
            column -= column_at_break if cut == last_break else column
            start = cut
        column += size
        at += len(character)
        before = character
    lines.append((start, start + len(text[start:].rstrip())))
    return lines


def _may_break(before: str, after: str) -> bool:
    if after.isspace():
        return False
    if before.isspace():
        return True
    if after[0] in _NOT_FIRST or before[0] in _NOT_LAST:
        return False
    return wcswidth(before) == 2 or wcswidth(after) == 2
