"""Documents as Telegram messages: plain text with entities, so that no markup can break.

Pure, and free of the client library. Limits and rules are those of the Bot API: 4096 UTF-16 units
after entities are parsed, 100 entities a message, ``pre`` and ``code`` alone on their range, no
quotation inside another, 64 bytes of callback data. White space at both ends of a message is cut
here because Telegram cuts it and would shift what follows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from bots.rendering.clean import is_blank
from bots.rendering.compose import Style, compose
from bots.rendering.split import split, utf16
from bots.rendering.styled import SOLID, Kind, Styled
from bots.telegram.rich import Block, rich
from core.document import Button, Document

MAX_TEXT = 4096
"""UTF-16 code units of a message."""
MAX_ENTITIES = 100
MAX_CALLBACK_BYTES = 64
TABLE_WIDTH = 36
"""Columns of a monospaced line on a phone held upright."""

_STYLE = Style(
    table_width=TABLE_WIDTH,
    can_link=lambda url: url.lower().startswith(("http://", "https://", "mailto:")),
)
# Telegram makes a mention of every @name, and a mention rings at its owner's.
_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])")
_WORD_JOINER = "\u2060"
_SIMPLE = {
    Kind.BOLD: "bold",
    Kind.HEADING: "bold",
    Kind.ITALIC: "italic",
    Kind.STRIKE: "strikethrough",
}
# What goes first when a message would have too many entities; links stay, they carry addresses.
_DISPENSABLE = ("italic", "bold", "code", "strikethrough", "blockquote", "pre")


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """One ``MessageEntity``; offset and length in UTF-16 code units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ButtonSpec:
    """One inline button: its label, and at most 64 bytes of ``callback_data``."""

    label: str
    callback_data: str


@dataclass(frozen=True, slots=True)
class TelegramPart:
    """One message."""

    text: str
    entities: tuple[EntitySpec, ...] = ()
    buttons: tuple[tuple[ButtonSpec, ...], ...] = ()
    """Rows; only the last part of a document has any."""
    rich: tuple[Block, ...] = ()
    """The same message as a rich one, where that shows more; empty where it does not."""


def render(document: Document) -> tuple[TelegramPart, ...]:
    """Return the text of a document as messages within Telegram's limits, in order.

    Raises ValueError when nothing of the document can be seen, and when a button has no label or
    its action is empty or longer than 64 bytes: both are faults of the caller.
    """
    buttons = tuple(tuple(map(_button, row)) for row in document.buttons if row)
    styled = _quiet(compose(document.markdown, _STYLE))
    parts = [_part(piece) for piece in _pieces(styled, MAX_TEXT)]
    if not parts:
        raise ValueError("the document renders blank")
    if len(parts) == 1:
        # One message either way, so that it does not matter which one the server takes.
        parts[0] = replace(parts[0], rich=rich(document.markdown) or ())
    parts[-1] = replace(parts[-1], buttons=buttons)
    return tuple(parts)


def plain_part(part: TelegramPart) -> TelegramPart:
    """Return the same message without entities, for a server that refuses them.

    The text is the one people read, not its source. An @name that stood in code would now ring, so
    its sign is replaced by the full-width one.
    """
    return replace(part, text=_MENTION.sub("＠", part.text), entities=(), rich=())


def _button(button: Button) -> ButtonSpec:
    size = len(button.action.encode())
    if not 1 <= size <= MAX_CALLBACK_BYTES:
        raise ValueError(f"callback data has {size} bytes, not 1 to {MAX_CALLBACK_BYTES}")
    if is_blank(button.label):
        raise ValueError("a button needs a label")
    return ButtonSpec(button.label, button.action)


def _quiet(styled: Styled) -> Styled:
    """Put an invisible character into every @name outside code, so that it pings nobody."""
    solid = [(s.start, s.end) for s in styled.spans if s.kind in SOLID]
    return styled.insert(
        [m.end() for m in _MENTION.finditer(styled.text) if not _covered(m.start(), solid)],
        _WORD_JOINER,
    )


def _safe_names(text: str, code: list[tuple[int, int]]) -> str:
    """Give an @name whose code style was dropped the full-width sign, which is as long."""
    return _MENTION.sub(lambda m: "@" if _covered(m.start(), code) else "＠", text)


def _covered(at: int, ranges: list[tuple[int, int]]) -> bool:
    """Tell whether a position lies in one of the sorted ranges."""
    index = bisect_right(ranges, at, key=lambda r: r[0]) - 1
    return index >= 0 and at < ranges[index][1]


def _pieces(styled: Styled, limit: int) -> Iterable[Styled]:
    """Split by length, and further where one message would carry too many links."""
    for piece in split(styled, limit, utf16):
        links = sum(1 for span in piece.spans if span.kind is Kind.LINK)
        if links > MAX_ENTITIES:
            yield from _pieces(piece, sum(map(utf16, piece.text)) * MAX_ENTITIES // links)
        else:
            yield piece


@dataclass(frozen=True, slots=True)
class _Range:
    """An entity still counted in code points."""

    type: str
    start: int
    end: int
    value: str = ""


def _part(piece: Styled) -> TelegramPart:
    ranges = _few(_trimmed(piece.text, _untangled(piece)))
    text = _safe_names(piece.text, [(r.start, r.end) for r in ranges if r.type in ("pre", "code")])
    at = [0, *accumulate(map(utf16, piece.text))]
    entities = tuple(
        EntitySpec(
            one.type,
            at[one.start],
            at[one.end] - at[one.start],
            url=one.value if one.type == "text_link" else None,
            language=one.value or None if one.type == "pre" else None,
        )
        for one in ranges
    )
    return TelegramPart(text, entities)


def _untangled(piece: Styled) -> list[_Range]:
    """Return entities of which none lies where Telegram forbids it, sorted, outer before inner."""
    by_kind: dict[Kind, list[tuple[int, int, str]]] = {kind: [] for kind in Kind}
    for span in piece.spans:
        by_kind[span.kind].append((span.start, span.end, span.value))
    blocks = sorted(by_kind[Kind.PRE] + [(a, b, "") for a, b, _ in by_kind[Kind.GRID]])
    quotes = _without(_united(by_kind[Kind.QUOTE]), blocks)
    links = _without(by_kind[Kind.LINK], blocks)
    # Code gives way to a link or quotation around it: the words stay the same.
    around = [[(a, b) for a, b, _ in ranges] for ranges in (quotes, links)]
    code = [
        one for one in by_kind[Kind.CODE] if not any(_covered(one[0], ranges) for ranges in around)
    ]
    solid = sorted([*blocks, *code])
    ranges = [_Range("pre", *one) for one in blocks]
    ranges += [_Range("code", *one) for one in code]
    ranges += [_Range("blockquote", *one) for one in quotes]
    ranges += [_Range("text_link", *one) for one in links]
    for name in ("bold", "italic", "strikethrough"):
        same = [one for kind, its in _SIMPLE.items() if its == name for one in by_kind[kind]]
        united = _united([(a, b, "") for a, b, _ in same])
        ranges += [_Range(name, *one) for one in _without(united, solid)]
    order = ("blockquote", "text_link", "bold", "italic", "strikethrough", "code", "pre")
    return sorted(ranges, key=lambda one: (one.start, -one.end, order.index(one.type)))


def _united(ranges: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Unite ranges that overlap or lie inside each other."""
    result: list[tuple[int, int, str]] = []
    for start, end, value in sorted(ranges):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]), result[-1][2])
        else:
            result.append((start, end, value))
    return result


def _without(
    ranges: list[tuple[int, int, str]], holes: list[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Cut holes (sorted, apart from each other) out of ranges (sorted, apart likewise)."""
    result: list[tuple[int, int, str]] = []
    first = 0
    for start, end, value in ranges:
        while first < len(holes) and holes[first][1] <= start:
            first += 1
        at = first
        while at < len(holes) and holes[at][0] < end:
            if start < holes[at][0]:
                result.append((start, holes[at][0], value))
            start = max(start, holes[at][1])
            at += 1
        if start < end:
            result.append((start, end, value))
    return result


def _trimmed(text: str, ranges: list[_Range]) -> list[_Range]:
    """Take white space off the ends of entities, and the entities with nothing else away."""
    result = []
    for one in ranges:
        inside = text[one.start : one.end]
        end = one.start + len(inside.rstrip())
        start = one.start
        if one.type not in ("pre", "code"):
            start = one.end - len(inside.lstrip())
        if start < end and not is_blank(text[start:end]):
            result.append(replace(one, start=start, end=end))
    return result


def _few(ranges: list[_Range]) -> list[_Range]:
    """Drop the least important entities, the last ones first, until there are few enough."""
    excess = len(ranges) - MAX_ENTITIES
    for name in _DISPENSABLE:
        if excess <= 0:
            break
        at = [index for index, one in enumerate(ranges) if one.type == name][-excess:]
        dropped = set(at)
        ranges = [one for index, one in enumerate(ranges) if index not in dropped]
        excess -= len(dropped)
    return ranges
