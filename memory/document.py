"""Grammar of the second and third layer: machine entries among a person's lines.

An entry is one line, ``- text [^1][^2] <!--m_<ULID> 2026-11-30 private-->``. A line that does not
match exactly is a person's: private, and kept byte for byte. The rule is fail closed: only an
intact mark that says ``shareable`` lets a text be used where others read along.

``serialise(parse(data)) == data`` for all bytes, UTF-8 or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum, auto

from memory.characters import has_control, unescape

MAX_ENTRY_CHARACTERS = 2000
"""A longer line is no entry: machines write at most a few hundred characters."""

_MARK = re.compile(
    r"<!--m_(?P<id>[0-7][0-9A-HJKMNP-TV-Z]{25})"
    r"(?: (?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}) (?P<audience>private|shareable)|.*)-->"
)
_LABEL = re.compile(r"[^\s\[\]^]{1,40}")
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|$)")
_FOOTNOTE = re.compile(r"\[\^[^\s\[\]^]+\]:")
_RULE = re.compile(r"(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_COMMENT_EDGE = re.compile(r"<!--(?!-?>)|-->")


class Audience(StrEnum):
    """Who reads a text made from memory; also the word in an entry's mark."""

    PRIVATE = "private"
    """The learner alone."""
    GROUP = "shareable"
    """Others read along."""


class Kind(Enum):
    """What a line is."""

    ENTRY = auto()
    TEXT = auto()
    HEADING = auto()
    FOOTNOTE = auto()
    RULE = auto()
    BLANK = auto()
    CODE = auto()
    """Part of a fenced block, its fences included."""
    COMMENT = auto()
    """Part of a comment that begins its line: hidden, whatever stands in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact that the machine wrote."""

    text: str
    """Without bullet, citations and mark; escapes undone."""
    citations: tuple[str, ...]
    """Footnote labels in order."""
    id: str
    """ULID."""
    date: date | None
    """Day the fact was last confirmed; None when the mark is damaged."""
    audience: Audience
    """PRIVATE when the mark is damaged."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document."""

    raw: str
    """The line with its line end; bytes that are no UTF-8 as surrogate escapes."""
    kind: Kind
    entry: Entry | None = None
    """Set exactly for ``Kind.ENTRY``."""
    level: int = 0
    """1 to 6 for a heading, else 0."""

    @property
    def text(self) -> str:
        """The line without its line end; of a heading, its words."""
        bare = _bare(self.raw)
        if self.kind is not Kind.HEADING:
            return bare
        words = bare[self.level :].strip(" \t")
        unclosed = words.rstrip("#")
        return unclosed.rstrip() if not unclosed or unclosed[-1] in " \t" else words


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """A whole file."""

    lines: tuple[Line, ...]
    unclosed: int | None = None
    """Index of the line that opens a fence or comment which nothing closes."""


def parse(data: bytes) -> MemoryDocument:
    """Read a file. Never raises: what is not understood is a person's line."""
    text = data.decode("utf-8", "surrogateescape")
    raws = text.split("\n")
    raws = [raw + "\n" for raw in raws[:-1]] + ([raws[-1]] if raws[-1] else [])
    lines: list[Line] = []
    fence = ""  # characters that close the open fence
    depth = 0  # comments opened and not closed
    opener = 0
    for index, raw in enumerate(raws):
        bare = _bare(raw)
        if fence:
            lines.append(Line(raw, Kind.CODE))
            closing = bare.strip()
            if len(closing) >= len(fence) and not closing.strip(fence[0]):
                fence = ""
        elif depth or bare.lstrip(" ").startswith("<!--"):
            lines.append(Line(raw, Kind.COMMENT))
            opener = opener if depth else index
            depth = _comment_depth(bare, depth)
        elif found := _FENCE.match(bare):
            lines.append(Line(raw, Kind.CODE))
            fence, opener = found[0], index
        else:
            lines.append(_read_line(raw, bare))
    return MemoryDocument(tuple(lines), opener if fence or depth else None)


def serialise(document: MemoryDocument) -> bytes:
    """Return the bytes the document was read from."""
    return "".join(line.raw for line in document.lines).encode("utf-8", "surrogateescape")


def body_end(document: MemoryDocument) -> int:
    """Index before the closing rule with footnotes, or before a block that nothing closes.

    What is placed inside an open fence or comment would be hidden from everyone.
    """
    lines = document.lines
    end = len(lines) if document.unclosed is None else document.unclosed
    tail = end
    while tail and lines[tail - 1].kind in (Kind.BLANK, Kind.FOOTNOTE):
        tail -= 1
    footnotes = any(line.kind is Kind.FOOTNOTE for line in lines[tail:end])
    if footnotes and tail and lines[tail - 1].kind is Kind.RULE:
        return tail - 1
    return tail if footnotes else end


def _bare(raw: str) -> str:
    """A line without its line end and the byte order mark some editors put first."""
    return raw.removesuffix("\n").removesuffix("\r").removeprefix("\ufeff")


def _read_line(raw: str, bare: str) -> Line:
    if not bare.strip():
        return Line(raw, Kind.BLANK)
    if found := _HEADING.match(bare):
        return Line(raw, Kind.HEADING, level=len(found[1]))
    if _RULE.fullmatch(bare):
        return Line(raw, Kind.RULE)
    if _FOOTNOTE.match(bare):
        return Line(raw, Kind.FOOTNOTE)
    entry = _read_entry(bare)
    return Line(raw, Kind.ENTRY if entry else Kind.TEXT, entry)


def _read_entry(bare: str) -> Entry | None:
    bare = bare.rstrip(" \t")
    if len(bare) > MAX_ENTRY_CHARACTERS or not bare.startswith("- ") or has_control(bare):
        return None
    start = bare.find("<!--")
    mark = _MARK.fullmatch(bare, start) if start >= 0 else None
    if mark is None or "-->" in bare[start:-3]:
        return None  # words behind the mark, or two marks: a person was at work here
    text, citations = _split_citations(bare[2:start].strip())
    if not text:
        return None
    day = _read_date(mark["date"])
    shared = day is not None and mark["audience"] == Audience.GROUP
    audience = Audience.GROUP if shared else Audience.PRIVATE
    return Entry(unescape(text), citations, mark["id"], day, audience)


def _split_citations(text: str) -> tuple[str, tuple[str, ...]]:
    labels: list[str] = []
    while text.endswith("]"):
        start = text.rfind("[^")
        label = text[start + 2 : -1]
        if start < 0 or not _LABEL.fullmatch(label):
            break
        labels.insert(0, label)
        text = text[:start].rstrip()
    return text, tuple(labels)


def _read_date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def _comment_depth(bare: str, depth: int) -> int:
    """Count comment edges, so that an entry's own mark does not end a comment around it."""
    for edge in _COMMENT_EDGE.findall(bare):
        depth = depth + 1 if edge == "<!--" else max(0, depth - 1)
    return depth
