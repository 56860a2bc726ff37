"""Documents as message cards (JSON 2.0) within the platform's limits.

Pure, and free of the client library. A card holds 30 KB of JSON, 200 elements and five tables; what
does not fit goes on in the next card. Tables that stand alone become table components, counted
here as the parser sees them, so a table inside a block of code is none (F072); all other text is
Markdown of our own writing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bots.feishu.receive import ACTION, THREAD
from bots.feishu.write import unpinging, write
from bots.rendering.clean import is_blank
from bots.rendering.compose import Style, Table, sections
from bots.rendering.split import split
from bots.rendering.styled import Styled
from core.channel import Rejected
from core.document import Button, Document

MAX_BYTES: Final = 29 * 1024
"""UTF-8 bytes of a card's JSON; the platform takes 30 KB."""
MAX_ELEMENTS: Final = 200
MAX_TABLES: Final = 5
MAX_COLUMNS: Final = 50
MAX_ACTION_BYTES: Final = 64
TABLE_WIDTH: Final = 44
"""Columns of a monospaced line on a phone held upright."""
PAGE_ROWS: Final = 10
"""Rows of a table shown at once; the platform has pages for the rest."""

STREAMED: Final = "answer"
"""Id of the element that streams in a preview."""

_TEXT: Final = 22 * 1024
"""Bytes of one markdown element as they are guessed before it is written."""
_LEAST: Final = 64
_FRAME: Final = 1024
"""Bytes kept for what is around the elements."""
_LONGEST_THREAD: Final = "x" * 64
_SUMMARY: Final = 80
_STYLE: Final = Style(
    table_width=TABLE_WIDTH,
    can_link=lambda url: url.lower().startswith(("http://", "https://")) and len(url) <= 1000,
)

Element = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FeishuPart:
    """One message: a card, and the same as plain text for a platform that refuses the card."""

    elements: tuple[Element, ...]
    buttons: tuple[tuple[Button, ...], ...]
    """Rows, under the elements."""
    plain: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Something that goes into one card as a whole."""

    size: int
    """Bytes of its JSON."""
    element: Element | None = None
    row: tuple[Button, ...] = ()
    plain: str = ""

    @property
    def elements(self) -> int:
        """How many elements the platform counts: a button is a column, itself and its words."""
        return 1 + 3 * len(self.row)

    @property
    def tables(self) -> int:
        return int(self.element is not None and self.element["tag"] == "table")


def render(document: Document) -> tuple[FeishuPart, ...]:
    """Return a document as cards within the platform's limits, in order.

    Raises ValueError when nothing of the document can be seen, and when a button has no label or
    its action is empty or longer than 64 bytes: both are faults of the caller.
    """
    blocks = list(_blocks(document.markdown))
    if not blocks:
        raise ValueError("the document renders blank")
    blocks += [_button_row(row) for row in document.buttons if row]
    return tuple(map(_part, _packed(blocks)))


def card(part: FeishuPart, thread: str | None) -> dict[str, Any]:
    """Return a card as the platform takes it; its buttons remember the thread they stand in."""
    rows = [_row(row, thread) for row in part.buttons]
    summary = " ".join(part.plain.split())
    return {
        "schema": "2.0",
        "config": {
            "update_multi": True,
            "summary": {"content": summary[:_SUMMARY]},  # shown in notifications and the chat list
        },
        "body": {"elements": [*part.elements, *rows]},
    }


def streaming(text: str) -> dict[str, Any]:
    """Return a card that is going to stream its one element, ``STREAMED``."""
    return {
        "schema": "2.0",
        "config": {"update_multi": True, "streaming_mode": True, "summary": {"content": "…"}},
        "body": {"elements": [{"tag": "markdown", "element_id": STREAMED, "content": text}]},
    }


def beginning(text: str) -> str | None:
    """Return as much of an answer as one streamed element shows, None while there is nothing.

    Raises Rejected when it has outgrown one card.
    """
    try:
        parts = render(Document(markdown=text))
    except ValueError:
        return None
    words = [one["content"] for one in parts[0].elements if one.get("tag") == "markdown"]
    if len(parts) > 1:
        raise Rejected("the answer has outgrown its preview")
    return "\n\n".join(words) or None


def encoded(value: Mapping[str, Any]) -> str:
    """Return the JSON that goes into ``content``."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(element: Mapping[str, Any]) -> int:
    return len(encoded(element).encode()) + 1


def _blocks(source: str) -> Iterator[_Block]:
    for section in sections(source, _STYLE):
        if isinstance(section, Styled):
            yield from _texts(section, _TEXT)
        else:
            yield from _tables(section)


def _texts(styled: Styled, limit: int) -> Iterator[_Block]:
    """Split by length, and a piece again whose markup makes it too long."""
    for piece in split(styled, limit, _measure):
        element = {"tag": "markdown", "content": write(piece)}
        size = _size(element)
        if size <= MAX_BYTES - _FRAME or limit <= _LEAST:
            yield _Block(size, element, plain=unpinging(piece.text))
        else:
            measured = sum(map(_measure, piece.text))
            yield from _texts(piece, max(_LEAST, min(measured - 1, measured * _TEXT // size)))


def _measure(character: str) -> int:
    """Return about how many bytes of JSON a character becomes."""
    if character in "\\*_`~|[]<>":
        return 6
    return 2 if character in '"\n\t' else len(character.encode())


def _tables(table: Table) -> Iterator[_Block]:
    """Return a table as components, its rows parted where one card cannot hold them."""
    columns = len(table.header)
    styled = [any(row[at].spans for row in table.rows if at < len(row)) for at in range(columns)]
    head = {
        "tag": "table",
        "page_size": PAGE_ROWS,
        "row_height": "auto",
        "columns": [
            {
                "name": f"c{at}",
                "display_name": title.text,
                "data_type": "lark_md" if styled[at] else "text",
                "horizontal_align": table.alignments[at],
                "width": "auto",
            }
            for at, title in enumerate(table.header)
        ],
    }
    rows = [
        {
            f"c{at}": write(cell) if styled[at] else cell.text
            for at, cell in enumerate(row[:columns])
        }
        for row in table.rows
    ]
    room = _TEXT - _size(head)
    if not rows or columns > MAX_COLUMNS or any(_size(row) > room for row in rows):
        yield from _texts(table.drawn, _TEXT)
        return
    for some in _chunks(rows, room):
        element = {**head, "rows": some}
        plain = [" | ".join(title.text for title in table.header)]
        plain += [" | ".join(row.values()) for row in some]
        yield _Block(_size(element), element, plain=unpinging("\n".join(plain)))


def _chunks(rows: list[dict[str, str]], room: int) -> Iterator[list[dict[str, str]]]:
    taken: list[dict[str, str]] = []
    left = room
    for row in rows:
        size = _size(row)
        if taken and size > left:
            yield taken
            taken, left = [], room
        taken.append(row)
        left -= size
    yield taken


def _button_row(row: Iterable[Button]) -> _Block:
    buttons = tuple(row)
    for button in buttons:
        if not 1 <= len(button.action.encode()) <= MAX_ACTION_BYTES:
            raise ValueError(f"an action has 1 to {MAX_ACTION_BYTES} bytes")
        if is_blank(button.label):
            raise ValueError("a button needs a label")
    return _Block(_size(_row(buttons, _LONGEST_THREAD)), row=buttons)


def _row(buttons: tuple[Button, ...], thread: str | None) -> Element:
    place = {} if thread is None else {THREAD: thread}
    return {
        "tag": "column_set",
        "flex_mode": "flow",
        "columns": [
            {
                "tag": "column",
                "width": "auto",
                "elements": [
                    {
                        "tag": "button",
                        "text": {"tag": "plain_text", "content": button.label},
                        "behaviors": [
                            {"type": "callback", "value": {ACTION: button.action, **place}}
                        ],
                    }
                ],
            }
            for button in buttons
        ],
    }


def _packed(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """Fill cards one after the other, in order."""
    taken: list[_Block] = []
    for block in blocks:
        both = [*taken, block]
        fits = (
            sum(one.size for one in both) <= MAX_BYTES - _FRAME
            and sum(one.elements for one in both) <= MAX_ELEMENTS
            and sum(one.tables for one in both) <= MAX_TABLES
        )
        if taken and not fits:
            yield taken
            taken = []
        taken.append(block)
    yield taken


def _part(blocks: list[_Block]) -> FeishuPart:
    words = "\n\n".join(block.plain for block in blocks if block.plain)
    labels = " · ".join(button.label for block in blocks for button in block.row)
    return FeishuPart(
        elements=tuple(block.element for block in blocks if block.element is not None),
        buttons=tuple(block.row for block in blocks if block.row),
        plain=words or unpinging(labels),
    )
