"""Styled text: what is shown, free of any channel's markup.

All offsets are Python code points. A ``Span`` says how a range looks, an atom is a range that must
not be cut, a break says how good a cut at a position is where the text alone does not tell.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import pairwise

from bots.rendering.clean import printable


class Kind(StrEnum):
    """How a range looks."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strike"
    CODE = "code"
    """Code inside a line."""
    PRE = "pre"
    """A block of code; the span's value is its language or empty."""
    GRID = "grid"
    """Lines that only line up in a monospaced font: a table, a matrix."""
    LINK = "link"
    """The span's value is the URL."""
    QUOTE = "quote"
    HEADING = "heading"
    """The span's value is the level, 1 to 6."""


SOLID = frozenset({Kind.PRE, Kind.GRID, Kind.CODE})
"""Kinds whose text is shown letter for letter and carries no other style."""


class Quality(IntEnum):
    """How good a cut is, best first."""

    BLOCK = 0
    LINE = 1
    SENTENCE = 2
    WORD = 3


@dataclass(frozen=True, slots=True)
class Span:
    """Text from ``start`` up to ``end`` has a kind; ``value`` is a URL, language or level."""

    kind: Kind
    start: int
    end: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Styled:
    """Text with its spans (sorted by start, outer before inner), atoms and breaks.

    ``atoms`` are sorted ranges ``(start, end)`` without overlap. ``breaks`` are pairs
    ``(position, quality)``, sorted by position.
    """

    text: str
    spans: tuple[Span, ...] = ()
    atoms: tuple[tuple[int, int], ...] = ()
    breaks: tuple[tuple[int, Quality], ...] = ()

    def slice(self, start: int, end: int) -> Styled:
        """Return the part from ``start`` up to ``end``; spans and atoms are clipped to it."""
        first = bisect_left(self.breaks, (start + 1, Quality.BLOCK))
        last = bisect_left(self.breaks, (end, Quality.BLOCK))
        return Styled(
            self.text[start:end],
            tuple(
                Span(s.kind, max(s.start, start) - start, min(s.end, end) - start, s.value)
                for s in self.spans
                if s.start < end and s.end > start
            ),
            tuple(
                (max(a, start) - start, min(b, end) - start)
                for a, b in self.atoms
                if a < end and b > start
            ),
            tuple((at - start, quality) for at, quality in self.breaks[first:last]),
        )

    def insert(self, positions: list[int], character: str) -> Styled:
        """Return the text with one character put before each of the sorted positions."""
        if not positions:
            return self
        cuts = [0, *positions, len(self.text)]
        text = character.join(self.text[a:b] for a, b in pairwise(cuts))

        def moved(at: int) -> int:
            return at + bisect_left(positions, at)

        return Styled(
            text,
            tuple(Span(s.kind, moved(s.start), moved(s.end), s.value) for s in self.spans),
            tuple((moved(a), moved(b)) for a, b in self.atoms),
            tuple((moved(at), quality) for at, quality in self.breaks),
        )


_BARE_URL = re.compile(r"https?://[!-;=?-~]+")


class Builder:
    """Writes styled text from front to back.

    Line ends between blocks are asked for with ``gap`` and only written before the next text, so
    the result neither begins nor ends with them. ``enter_item`` and ``leave_item`` keep the
    indentation of lists.
    """

    MAX_INDENT = 24
    """Deeper lists are drawn at this indentation, in columns."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._spans: list[tuple[Span, int]] = []
        self._opened: list[tuple[Kind, int, str]] = []
        self._atoms: list[tuple[int, int]] = []
        self._breaks: list[tuple[int, Quality]] = []
        self._gap = 0
        self._glued = False
        self._line_open = False
        self._line_start = 0
        self._indent = ""
        self._lead: str | None = None

    @property
    def position(self) -> int:
        """Code points written so far."""
        return self._length

    def text_since(self, position: int) -> str:
        """Return what was written from a position on."""
        taken: list[str] = []
        start = self._length
        for part in reversed(self._parts):
            if start <= position:
                break
            taken.append(part)
            start -= len(part)
        return "".join(reversed(taken))[max(position - start, 0) :]

    def gap(self, lines: int) -> None:
        """Ask for at least so many line ends before the next text: 1 within a block, 2 between."""
        if not self._glued and (self._line_open or self._gap):
            self._gap = max(self._gap, lines)
            self._line_open = False

    def glue(self) -> None:
        """Ask for exactly one line end before the next text, where a cut would be a bad one.

        For headings: a cut below would leave it alone at the end of a message.
        """
        if self._line_open:
            self._gap = 1
            self._glued = True
            self._line_open = False

    def enter_item(self, marker: str) -> str:
        """Begin a list item; its first line starts with the marker, the others are indented.

        Returns the state that ``leave_item`` wants back.
        """
        before = self._indent
        self._lead = (self._indent if self._lead is None else self._lead) + marker
        self._indent = (self._indent + " " * len(marker))[: self.MAX_INDENT]
        return before

    def leave_item(self, before: str) -> None:
        """End a list item; an empty one still shows its marker."""
        if self._lead is not None:
            self.begin_line()
        self._indent = before

    def begin_line(self, *, indented: bool = True) -> None:
        """Write the line ends asked for and the indentation, unless a line is already open."""
        if self._line_open:
            return
        if self._gap:
            self._put("\n" * self._gap)
            quality = Quality.BLOCK if self._gap > 1 else Quality.LINE
            self._breaks.append((self._length, Quality.WORD if self._glued else quality))
            self._gap = 0
            self._glued = False
        self._line_start = self._length
        self._start_opened(only=Kind.QUOTE)
        if self._lead is not None:
            self._put(self._lead)
            self._lead = None
        elif indented:
            self._put(self._indent)
        self._start_opened()
        self._line_open = True

    def _start_opened(self, only: Kind | None = None) -> None:
        """Give a start to the spans that were opened before their first text."""
        for index in range(len(self._opened) - 1, -1, -1):
            kind, start, value = self._opened[index]
            if start >= 0:
                break
            if only is None or kind is only:
                self._opened[index] = (kind, self._length, value)

    def write(self, text: str) -> None:
        """Write text as it is to be read; line ends inside get the indentation of the list."""
        text = printable(text)
        if not text:
            return
        self.begin_line()
        self._put(text.replace("\n", "\n" + self._indent) if self._indent else text)

    def write_block(self, kind: Kind, text: str, value: str = "", *, whole: bool = False) -> None:
        """Write lines that stand alone and unindented: code or a grid; ``whole``: as one atom."""
        if self._lead is not None:
            self.begin_line()
            self.gap(1)
        self.begin_line(indented=False)
        start = self._length
        with self.span(kind, value):
            self._put(printable(text))
        if whole:
            self.mark_atom(start)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)

    def open(self, kind: Kind, value: str = "") -> None:
        """Begin a span at the next text."""
        self._opened.append((kind, self._length if self._line_open else -1, value))

    def close(self, *, keep: bool = True) -> None:
        """End the span opened last; an empty one, or one not kept, leaves nothing."""
        kind, start, value = self._opened.pop()
        if keep and 0 <= start < self._length:
            self._spans.append((Span(kind, start, self._length, value), len(self._opened)))

    @contextmanager
    def span(self, kind: Kind, value: str = "") -> Iterator[None]:
        """Everything written inside has this kind."""
        self.open(kind, value)
        yield
        self.close()

    @contextmanager
    def atom(self) -> Iterator[None]:
        """Everything written inside must not be cut, nor parted from the marker of its item."""
        at_line_start = not self._line_open
        self.begin_line()
        start = self._line_start if at_line_start else self._length
        yield
        self.mark_atom(start)

    def mark_atom(self, start: int) -> None:
        """What was written since a position must not be cut."""
        if start < self._length:
            self._atoms.append((start, self._length))

    def done(self) -> Styled:
        """Return what was written."""
        text = "".join(self._parts)
        self._spans.sort(key=lambda item: (item[0].start, item[1]))
        atoms = self._atoms + [m.span() for m in _BARE_URL.finditer(text)]
        return Styled(
            text, tuple(span for span, _ in self._spans), _merged(atoms), tuple(self._breaks)
        )


def _merged(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Unite ranges that overlap; ranges that only touch stay apart."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)
