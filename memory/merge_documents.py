"""Two learners' documents become one, and one becomes two again: text only, no file is touched.

What holds for days (``memory.merge_days``) holds here. Machine entries that say the same are kept
once. Those written since are left out when it is taken apart: they may speak of both, and are made
again from the days.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.document import Kind, Line, MemoryDocument, body_end, parse

_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_CITED = re.compile(r"(?:[ \t]*\[\^[^\s\[\]^]{1,40}\])+[ \t]*$")
_DEFINED = re.compile(r"\[\^(?P<label>[^\s\[\]^]+)\]:[ \t]*(?P<text>.*)")
_HUMAN = (Kind.TEXT, Kind.CODE, Kind.COMMENT, Kind.RULE)

WhoseNote = Callable[[str], bool]
"""True for a person's lines that belong to the side that was joined."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is moved as one: an entry, or lines of a person's that belong together."""

    heading: Line | None
    """The heading above it; None at the head of the document."""
    lines: tuple[Line, ...]

    @property
    def raw(self) -> str:
        return "".join(_ended(line.raw) for line in self.lines)

    @property
    def key(self) -> str:
        """Its lines without line ends and spaces behind."""
        return "\n".join(line.text.rstrip() for line in self.lines)

    @property
    def id(self) -> str | None:
        entry = self.lines[0].entry
        return entry.id if entry else None


def unite_document(mine: bytes, theirs: bytes) -> bytes:
    """Return one document: all of ``mine`` as it is, and what only ``theirs`` says below it."""
    if not theirs.strip():
        return mine
    if not mine.strip():
        return theirs
    document, other = parse(mine), parse(theirs)
    units = list(_units(document))
    ids = {unit.id for unit in units if unit.id}
    said = {_normal(unit) for unit in units if unit.id}
    written = Counter(unit.key for unit in units if not unit.id)
    labels = _Labels(document, other)
    out = _Out(document)
    for unit in _units(other):
        if unit.id is None:
            if written[unit.key] > 0:
                written[unit.key] -= 1
            else:
                out.put(unit.heading, unit.raw)
        elif unit.id not in ids and _normal(unit) not in said:
            ids.add(unit.id)
            said.add(_normal(unit))
            out.put(unit.heading, labels.renamed(unit))
    tail = "" if other.unclosed is None else _raw(other.lines[other.unclosed :])
    return out.bytes(labels.added, tail)


def part_document(
    current: bytes, mine: bytes, theirs: bytes, whose: WhoseNote
) -> tuple[bytes, bytes]:
    """Return what each side keeps of a document that was united from ``mine`` and ``theirs``."""
    united = list(_units(parse(unite_document(mine, theirs))))
    now = list(_units(parse(current)))
    gone = Counter(_name(unit) for unit in united)
    gone.subtract(Counter(_name(unit) for unit in now))
    fresh = Counter(unit.key for unit in now if not unit.id)
    fresh.subtract(Counter(unit.key for unit in united if not unit.id))
    kept = [_document_left(side, +gone) for side in (mine, theirs)]
    for unit in now:
        if unit.id is None and fresh[unit.key] > 0:
            fresh[unit.key] -= 1
            side = whose(unit.key)
            heading = _ended(unit.heading.raw) if unit.heading else ""
            added = f"{heading}\n{unit.raw}" if heading else unit.raw
            kept[side] = unite_document(kept[side], added.encode("utf-8", "surrogateescape"))
    return kept[0], kept[1]


def _name(unit: _Unit) -> str:
    return f"m_{unit.id}" if unit.id else unit.key


def _document_left(side: bytes, gone: Counter[str]) -> bytes:
    """A side as it was, without what was removed since."""
    document = parse(side)
    spare = Counter(gone)
    removed: set[int] = set()
    place = {id(line): n for n, line in enumerate(document.lines)}
    for unit in _units(document):
        if spare[_name(unit)] > 0:
            spare[_name(unit)] -= 1
            removed.update(place[id(line)] for line in unit.lines)
    if not removed:
        return side
    lines = [line for n, line in enumerate(document.lines) if n not in removed]
    return _raw(lines).encode("utf-8", "surrogateescape")


def _units(document: MemoryDocument) -> Iterator[_Unit]:
    """Everything in a document but its headings, footnotes, and a block that nothing closes."""
    heading: Line | None = None
    group: list[Line] = []
    for line in document.lines[: body_end(document)]:
        if group and not _goes_on(group[-1], line):
            yield _Unit(heading, tuple(group))
            group = []
        if line.kind is Kind.HEADING:
            heading = line if line.level > 1 else None
        elif line.kind is Kind.ENTRY:
            yield _Unit(heading, (line,))
        elif line.kind in _HUMAN:
            group.append(line)
    if group:
        yield _Unit(heading, tuple(group))


def _goes_on(before: Line, line: Line) -> bool:
    """Tell whether a person's line belongs to the one before it."""
    if line.kind is not before.kind:
        return False
    return line.kind is not Kind.TEXT or not _BULLET.match(line.text)


def _normal(unit: _Unit) -> str:
    """What an entry says, without what makes no difference: case, width, spaces, punctuation."""
    entry = unit.lines[0].entry
    text = unicodedata.normalize("NFKC", entry.text if entry else "").casefold()
    return "".join(c for c in text if unicodedata.category(c)[0] in "LNMS")


class _Labels:
    """Gives the footnotes of another document labels of their own in this one."""

    def __init__(self, mine: MemoryDocument, theirs: MemoryDocument) -> None:
        self._mine = {text: label for label, text in _footnotes(mine)}
        self._theirs = dict(_footnotes(theirs))
        numbers = [int(label) for label in self._mine.values() if label.isdecimal()]
        self._next = max(numbers, default=0) + 1
        self.added: list[str] = []
        """Footnotes to add, each with its line feed."""

    def renamed(self, unit: _Unit) -> str:
        """The line of an entry, citing by the labels of this document."""
        raw = unit.raw
        entry = unit.lines[0].entry
        start = raw.index("<!--")
        words = _CITED.sub("", raw[:start]).rstrip()
        cited = (self._label(label) for label in (entry.citations if entry else ()))
        marks = "".join(f"[^{label}]" for label in cited if label)
        return f"{words} {marks} {raw[start:]}" if marks else f"{words} {raw[start:]}"

    def _label(self, label: str) -> str | None:
        text = self._theirs.get(label)
        if text is None:
            return None
        if text not in self._mine:
            self._mine[text] = str(self._next)
            self.added.append(f"[^{self._next}]: {text}\n")
            self._next += 1
        return self._mine[text]


def _footnotes(document: MemoryDocument) -> Iterator[tuple[str, str]]:
    for line in document.lines:
        found = _DEFINED.fullmatch(line.text) if line.kind is Kind.FOOTNOTE else None
        if found:
            yield found["label"], found["text"].strip()


class _Out:
    """A document that gains lines below its headings."""

    def __init__(self, document: MemoryDocument) -> None:
        self._lines = document.lines
        self._end = body_end(document)
        self._unclosed = document.unclosed
        self._added: dict[int, list[str]] = {}
        self._new: dict[str, list[str]] = {}

    def put(self, heading: Line | None, raw: str) -> None:
        if not _BULLET.match(raw):
            raw = f"\n{raw}"  # else it would go on with what stands above
        place = self._place(heading)
        if place is None and heading is not None:
            self._new.setdefault(_ended(heading.raw), []).append(raw)
        else:
            self._added.setdefault(place or 0, []).append(raw)

    def _place(self, heading: Line | None) -> int | None:
        """The line before which something below this heading goes."""
        inside = heading is None
        place: int | None = 0 if inside else None
        for n, line in enumerate(self._lines[: self._end]):
            if line.kind is Kind.HEADING:
                if inside and (line.level > 1 or heading is not None):
                    break
                inside = inside or _same(line, heading)
            if inside and line.kind is not Kind.BLANK:
                place = n + 1
        return place

    def bytes(self, footnotes: Sequence[str], tail: str) -> bytes:
        text = ""
        for n, line in enumerate(self._lines[: self._end]):
            text = self._grown(text, n) + line.raw
        text = self._grown(text, self._end)
        for heading, raws in self._new.items():
            text = _ended(text).rstrip("\n") + "\n\n" if text.strip() else ""
            text += heading + "\n" + "".join(raws).lstrip("\n")
        stop = len(self._lines) if self._unclosed is None else self._unclosed
        below = _raw(self._lines[self._end : stop])
        if footnotes:
            below = _ended(below) if below.strip() else "\n---\n"
            below = below.rstrip("\n") + "\n" + "".join(footnotes)
        rest = _raw(self._lines[stop:])
        if below.strip() or rest:
            text = _ended(text)
        if self._new and below.strip() and not below.startswith("\n"):
            text += "\n"
        text += below
        if rest:
            text = _ended(text) + rest
        if tail and tail.strip() not in text:
            text = _ended(text) + tail
        return text.encode("utf-8", "surrogateescape")

    def _grown(self, text: str, place: int) -> str:
        for raw in self._added.get(place, ()):
            text = _ended(text) + raw
        return text


def _same(line: Line, heading: Line | None) -> bool:
    return (
        heading is not None
        and line.level == heading.level
        and line.text.casefold() == heading.text.casefold()
    )


def _ended(raw: str) -> str:
    return raw if not raw or raw.endswith("\n") else f"{raw}\n"


def _raw(lines: Iterable[Line]) -> str:
    return "".join(line.raw for line in lines)
