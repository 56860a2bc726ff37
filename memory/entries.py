"""Machine entries of a document, read and written: bytes in, bytes out, a person's bytes kept.

Written lines are entries, their footnotes, a missing heading, and the rule above the first
footnote; removed lines are entries, and footnotes of ours that nothing cites any more. An entry
whose mark is damaged counts as a person's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from memory.characters import escape
from memory.document import Audience, Entry, Kind, Line, MemoryDocument, body_end, parse

_FOOTNOTE: Final = re.compile(
    r"\[\^(?P<label>[^\s\[\]^]{1,40})\]:[ \t]*(?P<target>[em]_[0-7][0-9A-HJKMNP-TV-Z]{25})[ \t]*"
)
_LABELS: Final = re.compile(r"\[\^([^\s\[\]^]+)\]")
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Noted:
    """A fact that the machine wrote, with what it rests on."""

    id: str
    """ULID."""
    text: str
    day: date
    """When it was last confirmed."""
    audience: Audience
    section: str
    """Words of the second-level heading above; empty without one."""
    sources: tuple[str, ...]
    """``e_ULID`` of events or ``m_ULID`` of entries, in the order they are cited; what no footnote
    tells is left out."""


def noted(document: MemoryDocument) -> tuple[Noted, ...]:
    """Return the machine entries of a document, in file order, each id once."""
    targets = {label: target for label, target, _ in _footnotes(document)}
    found: dict[str, Noted] = {}
    for line, section in _with_sections(document):
        entry = _whole(line)
        if entry is not None and entry.date is not None:
            sources = dict.fromkeys(targets[one] for one in entry.citations if one in targets)
            found.setdefault(
                entry.id,
                Noted(entry.id, entry.text, entry.date, entry.audience, section, tuple(sources)),
            )
    return tuple(found.values())


def own_lines(document: MemoryDocument) -> tuple[str, ...]:
    """Return a person's visible lines, in file order."""
    return tuple(
        line.text.strip()
        for line in document.lines
        if line.kind is Kind.TEXT or (line.kind is Kind.ENTRY and _whole(line) is None)
    )


def changed(data: bytes, put: Sequence[Noted], gone: Collection[str], title: str) -> bytes:
    """Return a document with entries put in and taken out.

    An entry whose id stands there is replaced in its place, else it goes to the end of its section.
    ``title`` is the heading of a document that is empty. Texts must fit one line.
    """
    if not put and not gone:
        return data
    return _Writing(parse(data), put, frozenset(gone), title).result()


class _Writing:
    """One change of one document."""

    def __init__(
        self, document: MemoryDocument, put: Sequence[Noted], gone: frozenset[str], title: str
    ) -> None:
        self._document = document
        self._put = {entry.id: entry for entry in put}
        self._gone = gone
        self._title = title
        self._end = "\r\n" if document.lines and document.lines[0].raw.endswith("\r\n") else "\n"
        self._body = _body_end(document)
        self._footnotes = list(_footnotes(document))
        self._labels = {target: label for label, target, _ in reversed(self._footnotes)}
        self._fresh: dict[str, str] = {}  # label → target, of footnotes to be added
        self._freed: set[str] = set()  # labels that a changed entry had cited
        used = _LABELS.findall("".join(line.raw for line in document.lines))
        self._last = max((int(one) for one in used if one.isdecimal() and len(one) < 9), default=0)

    def result(self) -> bytes:
        """Return the document as bytes."""
        lines = [line.raw for line in self._document.lines]
        done: set[str] = set()
        for index, line in enumerate(self._document.lines):
            entry = _whole(line)
            if entry is None or (entry.id not in self._gone and entry.id not in self._put):
                continue
            self._freed.update(entry.citations)
            if entry.id in self._gone or entry.id in done:
                lines[index] = ""
            else:
                done.add(entry.id)
                lines[index] = self._rewritten(line, self._put[entry.id])
        before = self._additions(done)
        self._drop_orphans(lines, before)
        before.append((self._foot(), self._footnote_lines()))
        return self._joined(lines, before)

    def _rewritten(self, line: Line, entry: Noted) -> str:
        bare = line.raw.removesuffix("\n").removesuffix("\r")
        lead = _BOM if bare.startswith(_BOM) else ""
        return lead + self._formatted(entry) + line.raw[len(bare) :]

    def _formatted(self, entry: Noted) -> str:
        cited = "".join(f"[^{self._label(source)}]" for source in entry.sources)
        mark = f"<!--m_{entry.id} {entry.day.isoformat()} {entry.audience}-->"
        return " ".join(part for part in (f"- {escape(entry.text)}", cited, mark) if part)

    def _label(self, source: str) -> str:
        if source not in self._labels:
            self._last += 1
            self._labels[source] = str(self._last)
            self._fresh[str(self._last)] = source
        return self._labels[source]

    def _additions(self, done: set[str]) -> list[tuple[int, list[str]]]:
        """Return (index of the line to stand before, lines without line ends), in file order."""
        sections: dict[str, list[str]] = {}
        for entry in self._put.values():
            if entry.id not in done:
                sections.setdefault(entry.section, []).append(self._formatted(entry))
        found: list[tuple[int, list[str]]] = []
        empty = not any(line.raw.strip() for line in self._document.lines)
        heads = [f"# {self._title}"] if empty and sections else []
        for section, entries in sections.items():
            place = self._place(section)
            if place is None:
                found.append((self._trimmed(0, self._body), [*heads, f"## {section}", *entries]))
            else:
                found.append((place, [*heads, *entries]))
            heads = []
        return sorted(found, key=lambda one: one[0])

    def _place(self, section: str) -> int | None:
        """Index of the line before which an entry of a section goes; None without the section."""
        lines = self._document.lines
        start = None if section else 0
        for index, line in enumerate(lines[: self._body]):
            if line.kind is not Kind.HEADING or line.level > 2:
                continue
            if section and start is None:
                if line.level == 2 and line.text.casefold() == section.casefold():
                    start = index + 1
            elif not (section or line.level == 2):
                start = index + 1  # the title
            else:
                return self._trimmed(start or 0, index)
        return None if start is None else self._trimmed(start, self._body)

    def _trimmed(self, start: int, end: int) -> int:
        while end > start and self._document.lines[end - 1].kind is Kind.BLANK:
            end -= 1
        return end

    def _drop_orphans(self, lines: list[str], before: list[tuple[int, list[str]]]) -> None:
        definitions = {index for _, _, index in self._footnotes}
        kept = [raw for index, raw in enumerate(lines) if index not in definitions]
        added = [line for _, block in before for line in block]
        cited = set(_LABELS.findall("\n".join((*kept, *added))))
        for label, _, index in self._footnotes:
            if label in self._freed and label not in cited and index >= self._body:
                lines[index] = ""

    def _foot(self) -> int:
        """Index behind the last footnote, before what nothing closes."""
        end = self._document.unclosed
        return self._trimmed(self._body, len(self._document.lines) if end is None else end)

    def _footnote_lines(self) -> list[str]:
        if not self._fresh:
            return []
        lines = [f"[^{label}]: {target}" for label, target in self._fresh.items()]
        has_rule = (
            self._body < len(self._document.lines)
            and self._document.lines[self._body].kind is Kind.RULE
        )
        behind = any(index >= self._body for _, _, index in self._footnotes)
        return lines if has_rule or behind else ["---", *lines]

    def _joined(self, lines: list[str], before: list[tuple[int, list[str]]]) -> bytes:
        out: list[str] = []
        blocks: dict[int, list[list[str]]] = {}
        for index, block in before:
            if block:
                blocks.setdefault(index, []).append(block)
        for index in range(len(lines) + 1):
            for block in blocks.get(index, ()):
                self._add(out, block)
            if index < len(lines) and lines[index]:
                if index in blocks and not _is_blank(lines[index]) and not _is_note(lines[index]):
                    out.append(self._end)
                out.append(lines[index])
        return "".join(out).encode("utf-8", "surrogateescape")

    def _add(self, out: list[str], block: list[str]) -> None:
        """Put lines behind ``out``, apart from other kinds of lines by a blank one."""
        for line in block:
            last = out[-1] if out else ""
            if last and not last.endswith("\n"):
                out.append(self._end)
            apart = last and not _is_blank(last) and not _goes_on(last, line)
            out.append((self._end if apart else "") + line + self._end)


def _goes_on(last: str, line: str) -> bool:
    """Tell whether a line may follow another one without a blank line between."""
    if line.startswith("[^"):
        return True
    return line.startswith("- ") and last.lstrip(_BOM + "\r\n").startswith(("- ", "  "))


def _is_blank(raw: str) -> bool:
    return not raw.strip()


def _is_note(raw: str) -> bool:
    return raw.startswith(("- ", "[^", "  "))


def _whole(line: Line) -> Entry | None:
    """The entry of a line with an intact mark."""
    return line.entry if line.entry is not None and line.entry.date is not None else None


def _with_sections(document: MemoryDocument) -> Iterator[tuple[Line, str]]:
    section = ""
    for line in document.lines:
        if line.kind is Kind.HEADING and line.level <= 2:
            section = line.text if line.level == 2 else ""
        yield line, section


def _footnotes(document: MemoryDocument) -> Iterator[tuple[str, str, int]]:
    """Yield (label, target, index of the line) of footnotes in our form; of a label the first."""
    seen: set[str] = set()
    for index, line in enumerate(document.lines):
        found = _FOOTNOTE.fullmatch(line.text) if line.kind is Kind.FOOTNOTE else None
        if found and found["label"] not in seen:
            yield found["label"], found["target"], index
        if line.kind is Kind.FOOTNOTE and (named := _LABELS.match(line.text)):
            seen.add(named[1])


def _body_end(document: MemoryDocument) -> int:
    """Like ``document.body_end``; a rule that ends the document is taken for that of footnotes."""
    end = body_end(document)
    last = end
    while last and document.lines[last - 1].kind is Kind.BLANK:
        last -= 1
    closing = last and document.lines[last - 1].kind is Kind.RULE
    return last - 1 if closing else end
