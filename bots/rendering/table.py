"""Tables: aligned columns where they fit, one group of lines for each row where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wcwidth import wcswidth

GAP = "  "


@dataclass(frozen=True, slots=True)
class Grid:
    """Lines for a monospaced font: the header, a rule, then one line for each row."""

    lines: tuple[str, ...]


def display_width(text: str) -> int:
    """Return the columns a text takes in a monospaced font; Chinese characters take two."""
    return max(wcswidth(text), 0)


def aligned(
    header: Sequence[str], rows: Sequence[Sequence[str]], alignments: Sequence[str], max_width: int
) -> Grid | None:
    """Return the table as aligned lines, or None when it is wider than ``max_width`` columns.

    ``alignments`` holds ``left``, ``right`` or ``center`` for each column of the header. A row may
    be shorter than the header.
    """
    everything = [header, *rows]
    if any("\n" in cell for row in everything for cell in row):
        return None
    columns = len(header)
    widths = [1] * columns
    for row in everything:
        for column, cell in enumerate(row[:columns]):
            widths[column] = max(widths[column], display_width(cell))
        if sum(widths) + len(GAP) * (columns - 1) > max_width:
            return None

    def line(row: Sequence[str]) -> str:
        cells = []
        for column, width in enumerate(widths):
            cell = row[column] if column < len(row) else ""
            room = width - display_width(cell)
            before = {"right": room, "center": room // 2}.get(alignments[column], 0)
            cells.append(" " * before + cell + " " * (room - before))
        return GAP.join(cells).rstrip()

    rule = GAP.join("─" * width for width in widths)
    head = [line(header), rule] if any(header) else []
    return Grid(tuple(head + [line(row) for row in rows]))
