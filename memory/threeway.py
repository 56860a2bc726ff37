"""Two changes of one text become one, line by line: text only, no file is touched.

What only one side changed is taken; what both changed alike is taken once. Unlike ``diff3``,
neighbouring changes do not disturb each other: a line taken out beside a line put in is two
changes, not a conflict. Where both changed the same line, a person has to decide.
"""

from __future__ import annotations

from difflib import SequenceMatcher


def merged(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """Return ``base`` with the changes of both sides; None where they contradict each other.

    Bytes are kept, line ends among them. ``merged(b, m, b) == m`` and ``merged(b, b, t) == t``.
    """
    lines = base.splitlines(keepends=True)
    edits = sorted(_edits(lines, mine) | _edits(lines, theirs))
    at, parts = 0, []
    before: tuple[int, int] = (-1, -1)
    for start, end, new in edits:
        if start < at or before == (start, end):
            return None
        parts += lines[at:start] + list(new)
        at, before = end, (start, end)
    return b"".join([*parts, *lines[at:]])


def _edits(base: list[bytes], side: bytes) -> set[tuple[int, int, tuple[bytes, ...]]]:
    """Return what a side puts in the place of which lines; removed lines one by one."""
    lines = side.splitlines(keepends=True)
    edits: set[tuple[int, int, tuple[bytes, ...]]] = set()
    matcher = SequenceMatcher(None, base, lines, autojunk=False)
    for kind, start, end, left, right in matcher.get_opcodes():
        if kind == "delete":
            edits |= {(n, n + 1, ()) for n in range(start, end)}
        elif kind != "equal":
            edits.add((start, end, tuple(lines[left:right])))
    return edits
