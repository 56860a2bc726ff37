"""What proposed operations are judged against, and what comes of judging them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from memory.entries import Noted
from memory.ops import Operation


class Refusal(StrEnum):
    """Why an operation does not hold."""

    MALFORMED = "malformed"
    NOT_ASKED = "not_asked"
    """This request does not allow such an operation."""
    UNKNOWN_DOCUMENT = "unknown_document"
    UNKNOWN_SECTION = "unknown_section"
    UNKNOWN_ENTRY = "unknown_entry"
    """No machine entry of that name; also what a person made their own."""
    NO_CITATION = "no_citation"
    UNKNOWN_CITATION = "unknown_citation"
    NOTHING_NEW = "nothing_new"
    """It rests only on what was looked at before."""
    NOT_THE_LEARNERS = "not_the_learners"
    """It rests only on the tutor's own words."""
    TOO_LONG = "too_long"
    EMPTY = "empty"
    REPEATED = "repeated"
    """Another entry, or a person's line, says it."""
    CONFLICT = "conflict"
    """Two operations of the batch change one entry."""
    SECRET = "secret"  # noqa: S105
    THINKING = "thinking"
    ORDER = "order"
    """It is an order to the tutor, or rests on one."""
    CLAIM = "claim"
    """A success that only the learner claims, worded as a fact."""
    TOO_MANY_DELETED = "too_many_deleted"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an entry may rest on."""

    target: str
    """``e_ULID`` or ``m_ULID``."""
    text: str
    day: date
    fresh: bool = True
    """Not looked at before."""
    learners: bool = True
    """The learner said or did it; False for words of the tutor."""
    graded: bool = False
    """Something that was judged, not only said."""
    order: bool = False
    """It holds an order to the tutor, or is kept only as something that was said."""
    in_group: bool = False
    shareable: bool = True
    """What rests on it may be shareable."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A document as operations see it."""

    entries: tuple[Noted, ...]
    own: tuple[str, ...]
    """A person's lines."""


@dataclass(frozen=True, slots=True)
class Ground:
    """All that a batch is judged against."""

    shelves: Mapping[str, Shelf]
    """By the name of the document."""
    entries: Mapping[str, str]
    """Short name → id, of the entries that may be changed."""
    evidence: Mapping[str, Evidence]
    """Short name → what may be cited."""
    allowed: frozenset[type[Operation]]
    needs_citation: bool = True
    """An edit or a deletion needs something new to rest on."""
    raised: bool = False
    """The third layer: what was only said stays below."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to one document."""

    put: tuple[Noted, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What of a batch holds."""

    changes: Mapping[str, Change]
    """By the name of the document; only documents that change."""
    moved: Mapping[str, str]
    """Entry that was merged → entry that took it in, by id."""
    done: Mapping[str, int]
    """Kind of operation → how many hold."""
    refused: Mapping[str, int]
    """Reason → how many do not."""
