"""What a card is: reading ``QUESTION :: ANSWER``, telling twins and siblings, naming leeches."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from memory.characters import is_blank

FRONT_MAX = 500
BACK_MAX = 1500
"""Longest sides, in characters: a question with its answer fits one message of every channel."""

LEECH_LAPSES = 4
"""Lapses after which a card is taught anew instead of asked again (Anki's 8 halved: a chat asks
few cards a day)."""

# Best first: free on both sides, so that ``std::vector :: a container`` splits at the second; then
# free on one side; then any. Chinese keyboards write the colon full width.
_SEPARATORS = tuple(
    re.compile(pattern.replace("SEP", r"(?<![:：])(?:::|：：)(?![:：])"))
    for pattern in (r"(?<!\S)SEP(?!\S)", r"(?<!\S)SEP|SEP(?!\S)", r"SEP")
)


class CardProblem(StrEnum):
    """Why a text is no card."""

    NO_SEPARATOR = "no_separator"
    EMPTY_FRONT = "empty_front"
    EMPTY_BACK = "empty_back"
    FRONT_TOO_LONG = "front_too_long"
    """More than ``FRONT_MAX`` characters."""
    BACK_TOO_LONG = "back_too_long"
    """More than ``BACK_MAX`` characters."""


@dataclass(frozen=True, slots=True)
class CardText:
    """The two sides of a card, stripped, neither of them blank; both may have several lines."""

    front: str
    back: str


def parse_card(text: str) -> CardText | CardProblem:
    """Read ``QUESTION :: ANSWER``; answer with the card or with what is wrong.

    Splits at the first ``::`` that stands free, else at the first that is free on one side, else
    at the first at all.
    """
    text = text.replace("\r\n", "\n").replace("\0", "")
    found = next((match for sep in _SEPARATORS if (match := sep.search(text))), None)
    if found is None:
        return CardProblem.NO_SEPARATOR
    return card_of(text[: found.start()], text[found.end() :])


def card_of(front: str, back: str) -> CardText | CardProblem:
    """Return the card with these two sides, or what is wrong with them."""
    card = CardText(front.strip(), back.strip())
    if is_blank(card.front):
        return CardProblem.EMPTY_FRONT
    if is_blank(card.back):
        return CardProblem.EMPTY_BACK
    if len(card.front) > FRONT_MAX:
        return CardProblem.FRONT_TOO_LONG
    if len(card.back) > BACK_MAX:
        return CardProblem.BACK_TOO_LONG
    return card


def duplicate_key(front: str, back: str) -> str:
    """Return a key (32 hex digits) that is equal for cards that say the same.

    Case, spacing, full-width forms and a closing full stop or question mark do not count. All else
    does: two cards may share a question and differ in the answer, and ``x²`` is not ``x2``.
    """
    return _key(_plain(front), _plain(back))


def sibling_key(front: str, back: str, *, group: str | None = None) -> str:
    """Return a key (32 hex digits) that is equal for cards that would give each other away.

    A card and its reverse are siblings; so are all cards of one ``group``, for example of one
    objective or one missed answer.
    """
    return (
        _key("group", group) if group is not None else _key(*sorted((_plain(front), _plain(back))))
    )


def is_leech(lapses: int) -> bool:
    """Tell whether a card was forgotten so often that asking again does not help."""
    return lapses >= LEECH_LAPSES


def _plain(text: str) -> str:
    # Only width is folded: full compatibility folding would turn x² into x2.
    narrow = "".join(
        unicodedata.normalize("NFKC", c) if unicodedata.east_asian_width(c) in "FH" else c
        for c in unicodedata.normalize("NFC", text)
    )
    return " ".join(narrow.casefold().split()).rstrip(" .?。")


def _key(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
