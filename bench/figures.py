"""Figures: medians, and tables that read well in a terminal and in a file."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Sequence


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    """Return the smallest value that is not below 95 % of them (nearest rank)."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def machine() -> str:
    """Describe in one line what the figures were measured on."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, {platform.python_implementation()} " + (
        platform.python_version()
    )


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    print(f"\n{title}\n")
    for row in (head, ["-" * width for width in widths], *rows):
        first, *others = (cell for cell in row)
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  " + "  ".join(cells).rstrip())
