"""From Markdown to styled text: which block looks how, the same on every channel.

Blocks are parted by one empty line, a heading stands right above its text, a formula is shown as
Unicode, an image as its words and its address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markdown_it.token import Token

from bots.rendering import table
from bots.rendering.clean import is_blank, printable
from bots.rendering.markdown import parse, readable_url
from bots.rendering.math import to_unicode
from bots.rendering.styled import Builder, Kind, Styled

RULE = "─" * 12
_SPAN_OF = {"strong": Kind.BOLD, "em": Kind.ITALIC, "s": Kind.STRIKE}
_BREAK_TAG = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_TASK = re.compile(r"^\[([ xX])\] ")


@dataclass(frozen=True, slots=True)
class Style:
    """What a channel can show."""

    table_width: int
    """Columns of a monospaced line; a wider table becomes groups of lines."""
    can_link: Callable[[str], bool]
    """Whether words can carry this URL; otherwise it is written behind them in brackets."""


def compose(source: str, style: Style) -> Styled:
    """Return Markdown source as styled text. Never raises; blank source gives blank text."""
    source = printable(source)
    tokens = parse(source)
    if tokens is None:
        builder = Builder()
        builder.write(source.strip())
        return builder.done()
    return _composed(tokens, style)


@dataclass(frozen=True, slots=True)
class Table:
    """A table for channels that have tables of their own; rows are as long as the header."""

    header: tuple[Styled, ...]
    rows: tuple[tuple[Styled, ...], ...]
    alignments: tuple[str, ...]
    """``left``, ``center`` or ``right`` for each column."""
    drawn: Styled
    """The same as text."""


def sections(source: str, style: Style) -> Iterator[Styled | Table]:
    """Yield Markdown source as styled text and, apart from it, each table that stands alone.

    A table inside a list or a quotation stays in the text. Never raises; blank source yields
    nothing that can be seen.
    """
    tokens = parse(printable(source))
    if tokens is None:
        yield compose(source, style)
        return
    start = at = 0
    while at < len(tokens):
        if tokens[at].type != "table_open" or tokens[at].level:
            at += 1
            continue
        end = at
        while tokens[end].type != "table_close":
            end += 1
        yield _composed(tokens[start:at], style)
        yield _Composer(style).table(tokens[at : end + 1])
        start = at = end + 1
    yield _composed(tokens[start:], style)


def _composed(tokens: list[Token], style: Style) -> Styled:
    composer = _Composer(style)
    composer.blocks(tokens)
    return composer.builder.done()


@dataclass(slots=True)
class _List:
    """A list being written."""

    number: int | None
    """Number of the next item; None for bullets."""
    indent_before: str = ""


class _Composer:
    """Walks over the flat token stream once; nesting is kept in lists, not in calls."""

    def __init__(self, style: Style, *, in_cell: bool = False) -> None:
        self.builder = Builder()
        self._style = style
        self._in_cell = in_cell
        self._lists: list[_List] = []
        self._label_start: list[tuple[int, str]] = []

    def blocks(self, tokens: list[Token]) -> None:
        """Write block tokens."""
        index = 0
        while index < len(tokens):
            if tokens[index].type == "table_open":
                end = index
                while tokens[end].type != "table_close":
                    end += 1
                self._table(tokens[index : end + 1])
                index = end
            else:
                self._block(tokens[index])
            index += 1

    def _gap(self) -> None:
        """Part two blocks."""
        self.builder.gap(1 if self._lists else 2)

    def _block(self, token: Token) -> None:
        build = self.builder
        match token.type:
            case "paragraph_open":
                build.gap(1 if token.hidden or self._lists else 2)
            case "paragraph_close":
                self._gap() if not token.hidden else build.gap(1)
            case "heading_open":
                build.gap(2)
                build.open(Kind.HEADING, token.tag[1:])
            case "heading_close":
                build.close()
                build.glue()
            case "inline":
                self.inline(token.children or [])
            case "blockquote_open":
                self._gap()
                build.open(Kind.QUOTE)
            case "blockquote_close":
                build.close()
                self._gap()
            case "bullet_list_open":
                self._open_list(None)
            case "ordered_list_open":
                self._open_list(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._gap()
            case "list_item_open":
                self._open_item()
            case "list_item_close":
                build.leave_item(self._lists[-1].indent_before)
                build.gap(1)
            case "fence" | "code_block":
                self._code(token)
            case "math_block":
                self._display(token)
            case "hr":
                build.gap(2)
                build.write(RULE)
                build.gap(2)
            case _:
                pass

    # --- lists, code, formulas

    def _open_list(self, number: int | None) -> None:
        self._gap()
        self._lists.append(_List(number))

    def _open_item(self) -> None:
        current = self._lists[-1]
        self.builder.gap(1)
        if current.number is None:
            depth = sum(1 for one in self._lists if one.number is None)
            marker = "• " if depth % 2 else "◦ "
        else:
            marker = f"{current.number}. "
            current.number += 1
        current.indent_before = self.builder.enter_item(marker)

    def _code(self, token: Token) -> None:
        info = token.info.split()
        language = printable(info[0]) if info else ""
        code = token.content.rstrip("\n")
        if is_blank(code):
            return
        if language == "math":
            self._formula_block(code.strip(), "")
            return
        self._gap()
        self.builder.write_block(Kind.PRE, code, language)
        self._gap()

    def _display(self, token: Token) -> None:
        self._formula_block(token.content, token.info)

    def _formula_block(self, tex: str, punctuation: str) -> None:
        self._gap()
        text = (to_unicode(tex, display=True) or tex) + punctuation
        if "\n" in text:
            self.builder.write_block(Kind.GRID, text, whole=True)
        else:
            with self.builder.atom():
                self.builder.write(text)
        self._gap()

    # --- tables

    def table(self, tokens: list[Token]) -> Table:
        """Return a table, cell by cell."""
        rows, alignments = _cells(tokens)
        header, *others = [tuple(self._cell(cell) for cell in row) for row in rows]
        self._table(tokens)
        return Table(header, tuple(others), tuple(alignments), self.builder.done())

    def _table(self, tokens: list[Token]) -> None:
        rows, alignments = _cells(tokens)
        composed = [[self._cell(cell) for cell in row] for row in rows]
        self._gap()
        grid = None
        if not any(
            span.kind is Kind.LINK for row in composed for cell in row for span in cell.spans
        ):
            texts = [[cell.text for cell in row] for row in composed]
            grid = table.aligned(texts[0], texts[1:], alignments, self._style.table_width)
        if grid is not None:
            self.builder.write_block(Kind.GRID, "\n".join(grid.lines))
        else:
            self._row_groups([cell.text for cell in composed[0]], rows)
        self._gap()

    def _cell(self, children: list[Token]) -> Styled:
        composer = _Composer(self._style, in_cell=True)
        composer.inline(children)
        return composer.builder.done()

    def _row_groups(self, header: list[str], rows: list[list[list[Token]]]) -> None:
        build = self.builder
        self._in_cell = True
        for row in rows[1:] or rows:
            before = build.enter_item("• ")
            with build.atom():
                filled = [(title, cell) for title, cell in zip(header, row, strict=False) if cell]
                for index, (title, cell) in enumerate(filled):
                    if index:
                        build.gap(1)
                    if title and len(rows) > 1:
                        build.write(title.replace("\n", " ") + ": ")
                    self.inline(cell)
            build.leave_item(before)
            build.gap(1)
        self._in_cell = False

    # --- inside a line

    def inline(self, children: list[Token]) -> None:
        """Write inline tokens."""
        if self._lists and children and children[0].type == "text":
            children[0].content = _TASK.sub(
                lambda m: "☐ " if m[1] == " " else "☑ ", children[0].content
            )
        for token in children:
            self._inline(token)

    def _inline(self, token: Token) -> None:
        build = self.builder
        kind = _SPAN_OF.get(token.tag)
        match token.type:
            case "text":
                text = token.content
                # A cell has no other way to write a line end.
                build.write(_BREAK_TAG.sub("\n", text) if self._in_cell else text)
            case "softbreak" | "hardbreak":
                build.write("\n")
            case "code_inline":
                with build.atom(), build.span(Kind.CODE):
                    build.write(token.content)
            case "math_inline":
                with build.atom():
                    build.write(to_unicode(token.content) or token.content)
            case "link_open":
                url = str(token.attrGet("href") or "")
                build.begin_line()
                self._label_start.append((build.position, url))
                build.open(Kind.LINK, url)
            case "link_close":
                self._end_link()
            case "image":
                self._image(token)
            case _ if kind is not None and token.nesting == 1:
                build.open(kind)
            case _ if kind is not None and token.nesting == -1:
                build.close()
            case _:
                pass

    def _end_link(self) -> None:
        build = self.builder
        start, url = self._label_start.pop()
        label = build.text_since(start).strip()
        spelled = readable_url(url)
        bare = label in (url, spelled, spelled.removeprefix("mailto:"))
        carried = not bare and not is_blank(label) and self._style.can_link(url)
        build.close(keep=carried)
        if is_blank(label):
            build.write(spelled)
        elif not bare and not carried and url:
            build.write(f" ({spelled})")
        build.mark_atom(start)

    def _image(self, token: Token) -> None:
        words = self._cell(token.children or []).text.replace("\n", " ").strip()
        url = str(token.attrGet("src") or "")
        if url.startswith("data:"):
            url = ""
        with self.builder.atom():
            if words and url:
                self.builder.write(f"{words} ({readable_url(url)})")
            else:
                self.builder.write(words or readable_url(url))


def _cells(tokens: list[Token]) -> tuple[list[list[list[Token]]], list[str]]:
    """Return the content of a table's cells, row by row, the header first; and its alignments."""
    rows: list[list[list[Token]]] = []
    alignments: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            style = str(token.attrGet("style") or "")
            alignments.append(style.removeprefix("text-align:") or "left")
        elif token.type == "inline":
            rows[-1].append(token.children or [])
    return rows, alignments
