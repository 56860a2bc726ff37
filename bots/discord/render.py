"""Documents as Discord messages within the platform's limits.

Pure, and free of the client library. 2,000 characters a message (counted in UTF-16 units here, the
more careful way), five rows of five buttons, 80 characters of label, 100 of ``custom_id``. A list
of more than five choices, one below the other, does not fit those rows: it becomes a menu.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bots.discord.write import muted, write
from bots.rendering.clean import is_blank
from bots.rendering.compose import Style, compose
from bots.rendering.split import split, utf16
from bots.rendering.styled import Styled
from core.channel import Rejected
from core.document import Button, Document

MAX_TEXT = 2000
MAX_ROWS = 5
MAX_IN_ROW = 5
MAX_LABEL = 80
MAX_CUSTOM_ID = 100
MAX_OPTIONS = 25
MENU = "menu:"
"""Begins the ``custom_id`` of a menu; what is chosen in it says all."""
TABLE_WIDTH = 44
"""Columns of a monospaced line on a phone held upright."""

_LONGEST_LINK = 400
"""Longer addresses are written out, where they can be cut; a few links must fit one message."""
_ESCAPABLE = frozenset("\\*_`~|[]<:@")
_LEAST = 4
_STYLE = Style(
    table_width=TABLE_WIDTH,
    can_link=lambda url: (
        url.lower().startswith(("http://", "https://")) and len(url) <= _LONGEST_LINK
    ),
)


_ROOM = 100
"""Units kept free in a preview, so that it is never two messages."""


@dataclass(frozen=True, slots=True)
class ButtonSpec:
    """One button: its label, at most 80 characters, and at most 100 of ``custom_id``."""

    label: str
    custom_id: str


@dataclass(frozen=True, slots=True)
class MenuSpec:
    """A menu of at most 25 choices, one of which is taken; it has a row of its own."""

    custom_id: str
    options: tuple[ButtonSpec, ...]


@dataclass(frozen=True, slots=True)
class DiscordPart:
    """One message."""

    text: str
    buttons: tuple[tuple[ButtonSpec, ...], ...] = ()
    """Rows; only the last part of a document has any."""
    menus: tuple[MenuSpec, ...] = ()
    """Above the buttons; with them at most five."""


def render(document: Document) -> tuple[DiscordPart, ...]:
    """Return a document as messages within Discord's limits, in order.

    Raises ValueError when nothing of the document can be seen, when a button has no label or its
    action is empty or too long, and when there are more than fit: faults of the caller.
    """
    menus, others = _menus(document.buttons)
    buttons = _rows(others, MAX_ROWS - len(menus))
    styled = muted(compose(document.markdown, _STYLE))
    parts = [DiscordPart(text) for text in _texts(styled, MAX_TEXT)]
    if not parts:
        raise ValueError("the document renders blank")
    parts[-1] = replace(parts[-1], buttons=buttons, menus=menus)
    return tuple(parts)


def size(text: str) -> int:
    """Return the length of a message's text in UTF-16 units."""
    return sum(map(utf16, text))


def _measure(character: str) -> int:
    return 2 if character in _ESCAPABLE else utf16(character)


def _texts(styled: Styled, limit: int) -> Iterable[str]:
    """Split by length, and a piece again whose markup makes it too long."""
    for piece in split(styled, limit, _measure):
        text = write(piece)
        if size(text) <= MAX_TEXT or limit <= _LEAST:
            yield text
        else:
            measured = sum(map(_measure, piece.text))
            fitting = min(measured - 1, measured * MAX_TEXT // size(text))
            yield from _texts(piece, max(_LEAST, fitting))


def _menus(
    rows: Sequence[Sequence[Button]],
) -> tuple[tuple[MenuSpec, ...], Sequence[Sequence[Button]]]:
    """Return a list of more than five single buttons as menus, and the rows that are none."""
    single = [row for row in rows if len(row) == 1]
    if len(single) <= MAX_ROWS:
        return (), rows
    listed = {spec.custom_id: spec for row in single for spec in map(_button, row)}
    options = tuple(listed.values())
    menus = tuple(
        MenuSpec(f"{MENU}{at // MAX_OPTIONS}", options[at : at + MAX_OPTIONS])
        for at in range(0, len(options), MAX_OPTIONS)
    )
    return menus, [row for row in rows if len(row) != 1]


def _rows(rows: Iterable[Iterable[Button]], most: int) -> tuple[tuple[ButtonSpec, ...], ...]:
    """Return at most so many rows; a row too wide, or a row too many, is laid out anew."""
    seen: set[str] = set()
    kept: list[list[ButtonSpec]] = []
    for row in rows:
        specs = []
        for spec in map(_button, row):
            if spec.custom_id not in seen:  # the platform refuses the same one twice
                specs.append(spec)
                seen.add(spec.custom_id)
        kept += [specs[at : at + MAX_IN_ROW] for at in range(0, len(specs), MAX_IN_ROW)]
    if len(kept) > most:
        every = [spec for row in kept for spec in row]
        kept = [every[at : at + MAX_IN_ROW] for at in range(0, len(every), MAX_IN_ROW)]
    if len(kept) > most:
        raise ValueError("more buttons than a message can carry")
    return tuple(map(tuple, kept))


def _button(button: Button) -> ButtonSpec:
    if not 1 <= len(button.action) <= MAX_CUSTOM_ID:
        raise ValueError(f"a custom id has {len(button.action)} characters, not 1 to 100")
    if is_blank(button.label):
        raise ValueError("a button needs a label")
    return ButtonSpec(button.label[:MAX_LABEL], button.action)


def beginning(text: str) -> DiscordPart | None:
    """Return the beginning of an answer as one message, without buttons, for a preview.

    None while nothing of it can be seen. Raises Rejected when it has outgrown one message.
    """
    try:
        first = render(Document(markdown=text))[0]
    except ValueError:
        return None
    if sum(map(utf16, first.text)) > MAX_TEXT - _ROOM:
        raise Rejected("the answer has outgrown its preview")
    return first
