"""From the bytes of a persona file to plain data with line numbers; decides nothing about meaning.

The front matter is read from the YAML parser's events, not through a constructor, so that

* every scalar stays the text that was written (``no`` is a language, not false; ``1.0`` a name),
* anchors, aliases and tags, which no persona needs and which can be made to explode, are refused,
* depth is bounded before anything recurses, and
* each key keeps its line.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import yaml

MAX_BYTES = 64 * 1024
"""Largest persona file that is read, in bytes; the packaged ones have about a tenth."""
MAX_DEPTH = 4
"""Deepest nesting in the front matter; ``errors.deadline.en`` needs two."""

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"
"""A value of the front matter; an empty one, ``~`` and ``null`` are None."""
KeyPath: TypeAlias = tuple[str | int, ...]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"#[ \t]+(.*?)[ \t]*#*[ \t]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class SourceError(Exception):
    """The file cannot be read as a persona at all; fields as in ``Problem``."""

    def __init__(self, key: str, line: int | None, message: str, fix: str) -> None:
        super().__init__(message)
        self.key = key
        self.line = line
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the body under one level-one heading."""

    heading: str
    """Text of the heading; empty for what stands before the first one."""
    line: int
    text: str
    """Markdown below the heading, without blank lines around it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A persona file taken apart."""

    front: dict[str, Plain]
    sections: tuple[Section, ...]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    """Line of each key and list item, counted from 1."""

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest enclosing one that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(path: Path) -> Source:
    """Read the file at ``path`` (a link to a file counts as one).

    Raises ``SourceError`` when it is no readable UTF-8 file of at most ``MAX_BYTES`` or has no
    well-formed front matter.
    """
    try:
        # Asked before opening: opening a pipe would wait for a writer that never comes.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(
                "file", None, "is not a file", "Give the folder or device another name."
            )
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceError(
            "file",
            None,
            f"cannot be read ({reason})",
            "Check that it exists, that its link leads somewhere and that you may read it.",
        ) from error
    return parse(data)


def parse(data: bytes) -> Source:
    """Take a file's bytes apart. A byte order mark and any kind of line end are accepted.

    Raises ``SourceError`` as ``read`` does.
    """
    lines = _decode(data).split("\n")
    if lines[0].rstrip() != "---":
        raise SourceError(
            "front matter",
            1,
            "is missing",
            "Begin the file with a line `---`, the keys, and another line `---`.",
        )
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise SourceError(
            "front matter", 1, "is not closed", "Put a line `---` between the keys and the text."
        )
    # A blank first line stands for the opening `---`, so that YAML counts lines as the file does.
    reader = _FrontMatter("\n".join(["", *lines[1:end], ""]))
    front = reader.read()
    return Source(front, tuple(_sections(lines[end + 1 :], end + 2)), reader.lines)


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise SourceError(
            "file",
            None,
            f"is larger than {MAX_BYTES // 1024} KiB",
            "Shorten it; a teaching manner fits on a page or two.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            "file",
            data.count(b"\n", 0, error.start) + 1,
            "is not UTF-8 text",
            "Save it again with the encoding UTF-8.",
        ) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    control = _CONTROL.search(text)
    if control:
        raise SourceError(
            "file",
            text.count("\n", 0, control.start()) + 1,
            f"has a control character (U+{ord(control[0]):04X})",
            "Delete it.",
        )
    return text


class _FrontMatter:
    """Builds plain data from the events of one YAML document."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text

    def read(self) -> dict[str, Plain]:
        events: Iterator[yaml.Event] = yaml.parse(self._text, Loader=yaml.SafeLoader)
        try:
            value = self._document(events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = error.problem or "cannot be understood"
            if "end of stream" in what:
                mark = error.context_mark or mark  # where the quote or bracket was opened
            fix = "Indent with spaces and put texts with `: `, `#` or quotes into double quotes."
            if "'\\t'" in what:
                fix = "Indent with spaces; YAML allows no tabs there."
            raise SourceError(
                "front matter", mark.line + 1 if mark else 1, f"is not valid YAML: {what}", fix
            ) from error
        except yaml.YAMLError as error:
            raise SourceError(
                "front matter",
                1,
                "has a character that YAML forbids",
                "Delete unusual invisible characters.",
            ) from error
        if not isinstance(value, dict):
            raise SourceError(
                "front matter", 1, "has no keys", "Write lines such as `id: my-tutor` there."
            )
        return value

    def _document(self, events: Iterator[yaml.Event]) -> Plain:
        value: Plain = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and self.lines:
                raise self._refuse(event, "has more than one document", "Keep one.")
            if isinstance(event, yaml.NodeEvent):
                value = self._value(event, events, ())
        return value

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], path: KeyPath) -> Plain:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise self._refuse(
                event, "uses an anchor or alias (`&`, `*`)", "Write the text out, in double quotes."
            )
        if getattr(event, "tag", None) is not None:
            raise self._refuse(event, "uses a tag (`!`)", "Write the text in double quotes.")
        if len(path) > MAX_DEPTH:
            raise self._refuse(event, "is nested too deeply", "See the form in docs/personas.md.")
        if isinstance(event, yaml.ScalarEvent):
            empty = event.implicit[0] and event.value in ("", "~", "null")
            return None if empty else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Plain] = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                here = (*path, len(items))
                self.lines[here] = _line(item)
                items.append(self._value(item, events, here))
            return items
        return self._mapping(events, path)

    def _mapping(self, events: Iterator[yaml.Event], path: KeyPath) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._value(event, events, path)
            if not isinstance(key, str):
                raise self._refuse(event, "has a key that is no word", "Use the documented keys.")
            here = (*path, key)
            if key in found:
                raise SourceError(
                    dotted(here),
                    _line(event),
                    f"is given twice, first on line {self.lines[here]}",
                    "Keep one of the two.",
                )
            self.lines[here] = _line(event)
            found[key] = self._value(next(events), events, here)
        return found

    @staticmethod
    def _refuse(event: yaml.Event, message: str, fix: str) -> SourceError:
        return SourceError("front matter", _line(event), message, fix)


def dotted(path: KeyPath) -> str:
    """Return a key path as people write it: ``greeting.zh``, ``tools.0``."""
    return ".".join(map(str, path))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _sections(lines: list[str], first: int) -> Iterator[Section]:
    """Cut the body at its level-one headings, leaving fenced code alone."""
    heading, start, held, fence = "", first, list[str](), ""
    for number, line in enumerate(lines, first):
        mark = _FENCE.fullmatch(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        title = None if fence else _HEADING.fullmatch(line)
        if title is None:
            held.append(line)
            continue
        yield Section(heading, start, "\n".join(held).strip())
        heading, start, held = title[1], number, []
    yield Section(heading, start, "\n".join(held).strip())
