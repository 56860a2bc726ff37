"""What a model may propose to change in memory: four operations, read from its answer.

The answer is JSON, ``{"operations": [...]}``, in whatever a model wraps it: thinking, a fence, a
sentence before and behind. Around it everything is tolerated, inside it nothing: an operation that
is not exactly one of the four is left out and counted. An answer without such an object is no
answer at all (``Unreadable``), and then nothing may change.

Entries and what they may cite have short names in the request (``m3``, ``e12``), which cost little
and cannot be mistyped into somebody else's; an operation holds those names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_OPERATIONS: Final = 60
"""Of one answer; what comes behind is left out."""
_NAME: Final = re.compile(r"\[?\^?([em](?:[0-9]{1,5}|_[0-9A-HJKMNP-TV-Z]{26}))\]?")
_THINKING: Final = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_UNOPENED: Final = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.I)


class Unreadable(ValueError):
    """The answer holds no operations: nonsense, a refusal, or half of an answer."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new fact."""

    document: str
    """Name of the document; empty where the request has only one."""
    section: str
    text: str
    citations: tuple[str, ...]
    shareable: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """Other words for a fact, or the same words confirmed by something new."""

    entry: str
    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """A fact that does not hold any more."""

    entry: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """Several facts that are one."""

    entries: tuple[str, ...]
    """At least two, all different."""
    text: str


Operation = Add | Edit | Delete | Merge


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer proposes."""

    operations: tuple[Operation, ...]
    malformed: int
    """Items that are none of the four operations, or too many."""


def touched(operation: Operation) -> tuple[str, ...]:
    """Return the names of the entries that an operation changes."""
    match operation:
        case Add():
            return ()
        case Merge(entries=entries):
            return entries
        case Edit(entry=entry) | Delete(entry=entry):
            return (entry,)


def parse_answer(answer: str) -> Parsed:
    """Read an answer. Raises Unreadable when it holds no list of operations."""
    text = _UNOPENED.sub("", _THINKING.sub("", answer))
    for found in _objects(text):
        proposed = found.get("operations") if isinstance(found, dict) else found
        if not isinstance(proposed, list):
            continue
        read = [_operation(one) for one in proposed[:MOST_OPERATIONS]]
        operations = tuple(one for one in read if one is not None)
        if proposed and not operations:
            raise Unreadable("not one operation can be read")
        return Parsed(operations, len(proposed) - len(operations))
    raise Unreadable("the answer holds no operations")


def _objects(text: str) -> Iterator[Any]:
    """Yield the JSON objects of a text that stand in no other; a list only if it is one of
    objects, for brackets are also prose."""
    decoder = json.JSONDecoder()
    at = 0
    tries = 0
    while tries < 200:
        starts = [place for sign in "{[" if (place := text.find(sign, at)) >= 0]
        if not starts:
            return
        start = min(starts)
        tries += 1
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        if isinstance(value, dict) or (value and all(isinstance(one, dict) for one in value)):
            yield value


def _operation(raw: object) -> Operation | None:
    if not isinstance(raw, dict):
        return None
    kind = raw.get("op")
    text = raw.get("text")
    if kind == "delete":
        entry, citations = _name(raw.get("id")), _names(raw.get("cites", []))
        return None if entry is None or citations is None else Delete(entry, citations)
    if not isinstance(text, str):
        return None
    if kind == "merge":
        entries = _names(raw.get("ids"))
        return Merge(entries, text) if entries and len(entries) > 1 else None
    citations = _names(raw.get("cites", []))
    if citations is None:
        return None
    if kind == "edit":
        entry = _name(raw.get("id"))
        return None if entry is None else Edit(entry, text, citations)
    return _addition(raw, text, citations) if kind == "add" else None


def _addition(raw: Mapping[str, Any], text: str, citations: tuple[str, ...]) -> Add | None:
    document, section = raw.get("document", ""), raw.get("section", "")
    shareable = raw.get("shareable", False)
    if not (isinstance(document, str) and isinstance(section, str) and isinstance(shareable, bool)):
        return None
    return Add(document.strip().lower(), section.strip(), text, citations, shareable)


def _names(raw: object) -> tuple[str, ...] | None:
    """Return names, each once; None for what is no list of names."""
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return None
    names = [_name(one) for one in raw]
    return None if None in names else tuple(dict.fromkeys(n for n in names if n is not None))


def _name(raw: object) -> str | None:
    found = _NAME.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return found[1] if found else None
