"""Documents as text for a terminal: wrapped to its width, formulas in Unicode, tables aligned.

The same lines come out with and without colour. Control characters of a model's text never reach
the terminal (``bots/rendering/clean``): the only escape sequences in the result are Rich's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wcwidth import wcswidth

from bots.rendering.clean import is_blank, printable
from bots.rendering.compose import Style, compose
from bots.rendering.styled import Kind, Span, Styled
from bots.terminal.wrap import TAB, wrapped
from core.document import Document

MIN_WIDTH = 20
"""Narrower terminals get lines of this many columns."""
CODE_INDENT = "    "
QUOTE_BAR = "│ "
_NO_CHARACTER = "\ufffe"  # never left in a text by bots/rendering/clean
_HANG = re.compile(r" *(?:[•◦] (?:[☐☑] )?|\d+\. )*")
_COLOURS = {
    Kind.BOLD: "bold",
    Kind.HEADING: "bold",
    Kind.ITALIC: "italic",
    Kind.STRIKE: "strike",
    Kind.CODE: "cyan",
    Kind.PRE: "cyan",
}


def render(document: Document, width: int, color: bool) -> str:
    """Return a document as lines of at most ``width`` columns, without a line end at the end.

    Code and tables keep their lines, however long. Without ``color`` the text has no escape
    sequence. Buttons follow as numbered choices, counted over all rows. Raises ValueError when
    nothing of the document can be seen.
    """
    width = max(width, MIN_WIDTH)
    # The address is written out: a terminal that hides it would let words lie about it.
    styled = compose(document.markdown, Style(table_width=width, can_link=lambda url: False))
    if is_blank(styled.text):
        raise ValueError("the document renders blank")
    lines = list(_lines(styled, width))
    body = _coloured(styled, lines) if color else "\n".join(line.shown(styled) for line in lines)
    choices = _choices(document, width)
    return "\n\n".join([body, choices] if choices else [body])


@dataclass(frozen=True, slots=True)
class _Line:
    """One line on the screen: a prefix of our own, then a range of the styled text."""

    prefix: str
    start: int
    end: int

    def shown(self, styled: Styled) -> str:
        """Return the line as it is read."""
        return (self.prefix + styled.text[self.start : self.end].replace("\t", TAB)).rstrip()


def _lines(styled: Styled, width: int) -> Iterator[_Line]:
    """Cut the text into screen lines, in order."""
    active = _Active(styled)
    start = 0
    for text in styled.text.split("\n"):
        end = start + len(text)
        kinds = [span.kind for span in active.at(start, end)]
        prefix = QUOTE_BAR * kinds.count(Kind.QUOTE)
        if Kind.PRE in kinds:
            yield _Line(prefix + CODE_INDENT, start, end)
        elif Kind.GRID in kinds:
            yield _Line(prefix, start, end)
        else:
            hang = " " * (match.end() if (match := _HANG.match(text)) else 0)
            yield from _wrapped(text, start, prefix, hang, width - wcswidth(prefix))
        start = end + 1


def _wrapped(text: str, start: int, prefix: str, hang: str, width: int) -> Iterator[_Line]:
    lead, room = len(hang), max(width - len(hang), MIN_WIDTH // 2)
    for index, (first, last) in enumerate(wrapped(text[lead:], room)):
        if index == 0:
            yield _Line(prefix, start, start + lead + last)
        else:
            yield _Line(prefix + hang, start + lead + first, start + lead + last)


class _Active:
    """The spans over a range, for ranges asked for in rising order."""

    def __init__(self, styled: Styled) -> None:
        self._spans = styled.spans
        self._next = 0
        self._open: list[Span] = []

    def at(self, start: int, end: int) -> list[Span]:
        """Return the spans that touch a range; one that is empty is touched by what holds it."""
        end = max(end, start + 1)
        while self._next < len(self._spans) and self._spans[self._next].start < end:
            self._open.append(self._spans[self._next])
            self._next += 1
        self._open = [span for span in self._open if span.end > start]
        return self._open


def _coloured(styled: Styled, lines: list[_Line]) -> str:
    """Return the lines with escape sequences for their styles."""
    # Loaded only for a terminal that shows colours: half of the time an answer takes to render.
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    active = _Active(styled)
    console = Console(
        file=StringIO(), force_terminal=True, color_system="standard", legacy_windows=False
    )
    result = []
    for line in lines:
        spans = active.at(line.start, line.end)
        if not (line.prefix or spans):
            result.append(line.shown(styled))
            continue
        # Rich would expand a tab to the next stop, our plain lines to four spaces.
        shown = (line.prefix + styled.text[line.start : line.end]).rstrip()
        text = Text(shown.replace("\t", _NO_CHARACTER))
        if line.prefix:
            text.stylize("dim", 0, len(line.prefix))
        for span in spans:
            if style := _COLOURS.get(span.kind):
                shift = len(line.prefix) - line.start
                first, last = max(span.start, line.start), min(span.end, line.end)
                text.stylize(style, first + shift, last + shift)
        with console.capture() as captured:
            console.print(text, soft_wrap=True, highlight=False, emoji=False, end="")
        result.append(captured.get().replace(_NO_CHARACTER, TAB))
    return "\n".join(result)


def _choices(document: Document, width: int) -> str:
    """Return the buttons as ``[1] Label  [2] Label``, a row of buttons to a line where it fits."""
    lines: list[str] = []
    number = 0
    for row in document.buttons:
        line = ""
        for button in row:
            number += 1
            label = " ".join(printable(button.label).split())
            choice = f"[{number}] {label}"
            if line and wcswidth(line) + 2 + wcswidth(choice) > width:
                lines.append(line)
                line = ""
            line += ("  " if line else "") + choice
        if line:
            lines.append(line)
    return "\n".join(lines)
