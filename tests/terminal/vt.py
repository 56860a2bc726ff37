"""What a person sees: a small terminal emulator that keeps what scrolled off the top.

It knows the sequences that our libraries send, counts columns as terminals do and answers the
question for the cursor's position. An unknown sequence is an error: what it does not know it
cannot show.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from wcwidth import wcwidth

_SEQUENCE = re.compile(
    r"\x1b\[(?P<mark>[?>=<]?)(?P<numbers>[0-9;:]*)(?P<kind>[@-~])"
    r"|\x1b\](?P<title>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b(?P<single>[78=>DEMc]|[()][AB0])"
)
_BEGINNING = re.compile(r"\x1b(?:\[[?>=<]?[0-9;:]*|\][^\x07\x1b]*\x1b?|[()])?\Z")
"""The beginning of a sequence whose end has not arrived."""


class Screen:
    """A screen of ``columns`` by ``rows``; ``reply`` takes what a terminal answers by itself."""

    def __init__(self, columns: int, rows: int, reply: Callable[[str], None]) -> None:
        self.columns, self.rows = columns, rows
        self.titles: list[str] = []
        """Everything that asked to change the window's title or the like."""
        self._reply = reply
        self._rest = ""
        self._lines: list[list[str]] = [[]]
        self._top = 0  # index of the first visible line
        self._row = self._column = 0  # absolute line, column
        self._wrap = True

    @property
    def text(self) -> str:
        """Everything shown, also what scrolled away, a line of the screen a line."""
        return "\n".join("".join(line).rstrip() for line in self._lines).rstrip("\n")

    @property
    def line(self) -> str:
        """The line the cursor is in, up to the cursor."""
        return "".join(self._lines[self._row][: self._column]).ljust(self._column)

    def feed(self, text: str) -> None:
        """Take output of the program."""
        text = self._rest + text
        beginning = _BEGINNING.search(text)
        self._rest = beginning.group() if beginning else ""
        end = len(text) - len(self._rest)
        at = 0
        while at < end:
            if text[at] == "\x1b":
                match = _SEQUENCE.match(text, at)
                if match is None:
                    raise AssertionError(f"an unknown sequence: {text[at : at + 20]!r}")
                self._obey(match)
                at = match.end()
            else:
                self._put(text[at])
                at += 1

    def _put(self, character: str) -> None:
        match character:
            case "\n":
                self._go(self._row + 1, self._column)
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(0, self._column - 1)
            case "\t":
                self._column = min(self.columns - 1, (self._column // 8 + 1) * 8)
            case "\x07":
                pass
            case _:
                self._print(character)

    def _print(self, character: str) -> None:
        width = wcwidth(character)
        if width < 0:
            raise AssertionError(f"a control character reached the screen: {character!r}")
        line = self._lines[self._row]
        if width == 0:
            if self._column and len(line) >= self._column:
                line[self._column - 1] += character
            return
        if self._column + width > self.columns:
            if self._wrap:
                self._go(self._row + 1, 0)
            else:
                self._column = self.columns - width
            line = self._lines[self._row]
        line += [" "] * (self._column + width - len(line))
        line[self._column] = character
        if width == 2:
            line[self._column + 1] = ""
        self._column += width

    def _go(self, row: int, column: int) -> None:
        row, column = max(row, self._top), max(0, min(column, self.columns))
        while row >= len(self._lines):
            self._lines.append([])
        self._top = max(self._top, row - self.rows + 1)
        self._row, self._column = row, column

    def _obey(self, match: re.Match[str]) -> None:
        if match["title"] is not None:
            self.titles.append(match["title"])
            return
        if match["single"] is not None:
            return
        numbers = [int(n) if n else 0 for n in re.split("[;:]", match["numbers"])]
        first = max(1, numbers[0])
        if match["mark"]:
            if match["mark"] == "?" and match["kind"] in "hl" and 7 in numbers:
                self._wrap = match["kind"] == "h"
            return
        bottom = self._top + self.rows - 1
        match match["kind"]:
            case "A":
                self._go(max(self._top, self._row - first), self._column)
            case "B":
                self._go(min(bottom, self._row + first), self._column)
            case "C":
                self._go(self._row, min(self.columns - 1, self._column + first))
            case "D":
                self._go(self._row, self._column - first)
            case "G":
                self._go(self._row, first - 1)
            case "H":
                column = max(1, numbers[1]) if len(numbers) > 1 else 1
                self._go(min(bottom, self._top + first - 1), column - 1)
            case "J":
                self._erase_below(numbers[0])
            case "K":
                line = self._lines[self._row]
                if numbers[0] == 0:
                    del line[self._column :]
                else:
                    stop = len(line) if numbers[0] == 2 else self._column
                    line[:stop] = [" "] * stop
            case "n":
                if numbers[0] == 6:
                    self._reply(f"\x1b[{self._row - self._top + 1};{self._column + 1}R")
            case "m" | "h" | "l" | "q" | "r" | "u":
                pass
            case kind:
                raise AssertionError(f"an unknown sequence: {kind}")

    def _erase_below(self, how: int) -> None:
        if how == 0:
            del self._lines[self._row][self._column :]
            del self._lines[self._row + 1 :]
        else:
            del self._lines[self._top :]
            while len(self._lines) <= self._row:
                self._lines.append([])
