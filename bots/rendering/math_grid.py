"""Formulas of several rows: matrices, cases and aligned equations as lines that line up."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wcwidth import wcswidth

MAX_WIDTH = 60
"""Columns; what is wider is written in one line."""

BRACKETS = {
    "pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖",
    "matrix": "  ", "smallmatrix": "  ", "array": "  ", "cases": "{ ", "rcases": " }",
    "dcases": "{ ",
}  # fmt: skip
_TALL = {
    "(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "{": "⎧⎪⎩", "}": "⎫⎪⎭", "|": "│││",
    "‖": "‖‖‖", " ": "   ",
}  # fmt: skip
_BOX = re.compile("\ue000([0-9]+)\ue001")


def width_of(text: str) -> int:
    """Return the columns of a text in a monospaced font."""
    return max(wcswidth(text), 0)


@dataclass(frozen=True, slots=True)
class Box:
    """Rows that stand on top of each other, and the same in one line."""

    lines: tuple[str, ...]
    inline: str


def placeholder(index: int) -> str:
    """Return the characters that stand for a box in text, two of the private use area."""
    return f"\ue000{index}\ue001"


def inlined(text: str, boxes: list[Box]) -> str:
    """Return text with every placeholder replaced by its box in one line."""
    return _BOX.sub(lambda m: boxes[int(m[1])].inline, text)


def lay_out(row: str, boxes: list[Box]) -> list[str]:
    """Put the boxes of one line side by side, their middles at the height of the text."""
    parts = _BOX.split(row)
    if len(parts) == 1:
        return [row]
    blocks = [boxes[int(part)].lines if index % 2 else (part,) for index, part in enumerate(parts)]
    blocks = [block for block in blocks if block and block != ("",)]
    if sum(max(map(width_of, block)) for block in blocks) > MAX_WIDTH:
        return inlined(row, boxes).split("\n")
    above = max(((len(block) - 1) // 2 for block in blocks), default=0)
    below = max((len(block) // 2 for block in blocks), default=0)
    lines = [""] * (above + below + 1)
    for block in blocks:
        width = max(map(width_of, block))
        top = above - (len(block) - 1) // 2
        for index in range(len(lines)):
            text = block[index - top] if 0 <= index - top < len(block) else ""
            lines[index] += text + " " * (width - width_of(text))
    return lines


def _padded(rows: list[list[str]], right: bool) -> list[list[str]]:
    """Pad cells to the width of their columns; with ``right`` even columns lean right."""
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((width_of(row[column]) for row in rows if column < len(row)), default=0)
        for column in range(count)
    ]
    result = []
    for row in rows:
        cells = []
        for column, width in enumerate(widths):
            cell = row[column] if column < len(row) else ""
            padding = " " * (width - width_of(cell))
            cells.append(padding + cell if right and column % 2 == 0 else cell + padding)
        result.append(cells)
    return result


def matrix(rows: list[list[str]], brackets: str) -> Box:
    """Return cells between a left and a right bracket; a space stands for none."""
    left, right = brackets[0], brackets[1]
    cells = [[cell.replace("\n", " ") for cell in row] for row in rows]
    body = ["  ".join(row) for row in _padded(cells, right=False)]
    lines = []
    for index, text in enumerate(body):
        if len(body) == 1:
            begin, end = left, right
        else:
            height = 0 if index == 0 else 2 if index == len(body) - 1 else 1
            begin, end = _TALL[left][height], _TALL[right][height]
            if left == "{" and len(body) % 2 and index == len(body) // 2:
                begin = "⎨"
        gap = " " if "{" in brackets or "}" in brackets else ""
        lines.append(
            f"{begin}{gap}{text}{gap}{end}".rstrip() if right == " " else begin + text + end
        )
    joined = "; ".join(" ".join(cell for cell in row if cell) for row in cells)
    gap = "" if left in "([" or left == " " else " "
    return Box(tuple(lines), f"{left}{gap}{joined}{gap}{right}".strip())


def equations(rows: list[list[str]]) -> Box:
    """Return equations below each other, aligned where TeX aligns them."""
    lines = tuple("".join(_spaced(row)).rstrip() for row in _padded(rows, right=True))
    joined = "; ".join("".join(_spaced(row)).strip() for row in rows)
    return Box(lines, joined)


def _spaced(row: list[str]) -> list[str]:
    """Part the columns of an aligned equation: ``a`` ``= b`` needs a space between."""
    return [cell if index == 0 else " " + cell for index, cell in enumerate(row)]
