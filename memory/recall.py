"""What is known about a learner, for a prompt (``view``) and for the learner (``overview``).

Both read the third layer as it stands on disk. A bad file never breaks a turn: what can be read
is used, the rest is a warning in the log that names the file and nothing of what is in it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from pathlib import Path

from memory.characters import printable, visible
from memory.document import Audience, Kind, Line, MemoryDocument, parse
from memory.layers import LearnerFolder, Profile
from memory.words import fitness

MAX_FILE_BYTES = 1_000_000
"""Of a larger file only this much is read, up to a whole line."""

ORDER = (Profile.PROFILE, Profile.PREFERENCES, Profile.KNOWLEDGE, Profile.RECENT)
"""Documents of the third layer, the most lasting first."""

_MISCONCEPTIONS = "misconceptions"
"""Heading in the file of knowledge, folded."""
_RELATED = 0.25
"""How well an item must fit beside the one that fits best; below this it shares small words."""

_log = logging.getLogger(__name__)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_ABOVE_LATIN = re.compile("[\u0250-\u2e7f]")
_WIDE = re.compile("[\u2e80-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing known: a bullet, a paragraph or a block of code."""

    lines: tuple[str, ...]
    """Markdown as people read it: no bullet, id, comment or footnote, at least one line."""
    own: bool
    """A person wrote it; what the machine knows gives way to it."""
    audience: Audience
    id: str = ""
    """ULID of the machine's entry; empty for a person's words."""
    day: date | None = None
    """When the machine's entry was last confirmed."""

    @property
    def text(self) -> str:
        """All lines, joined by line feeds."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """Items of one document under one heading, in file order; at least one."""

    document: Profile
    heading: str
    """Words of the heading above; empty for the head of the document."""
    items: tuple[Item, ...]


def overview(folder: LearnerFolder) -> tuple[Section, ...]:
    """Return all that the third layer says, for the learner alone: notes and entries."""
    return tuple(section for document in ORDER for section in _sections(folder, document))


def view(folder: LearnerFolder, audience: Audience, budget: int, about: str = "") -> str:
    """Return the notes about a learner for a prompt, at most ``budget`` estimated tokens.

    For ``Audience.GROUP`` only entries marked shareable, without any heading (a heading may be a
    person's words); nothing that is damaged or unmarked. Only the third layer is read, whose size
    has its limit, so the time does not grow with what was ever said. Profile, preferences,
    knowledge, recent in this order; where the budget is short, what is left out is told by
    ``_Rank`` from ``about``, what the learner wrote. Cuts fall between lines. Empty when nothing
    is known.
    """
    known = overview(folder)
    sections = [_for(audience, section) for section in known]
    room = _Room(4 * budget)
    kept: dict[tuple[int, int], tuple[str, ...]] = {}
    opened: set[str] = set()
    later: list[tuple[int, int]] = []
    lasting = room.left // 2
    for rank, s, i in _ranked(known, sections, about):
        if rank is _Rank.LASTING and room.left < lasting:
            later.append((s, i))
        elif lines := room.take(_titles(sections[s]), sections[s].items[i], opened):
            kept[s, i] = lines
    for s, i in later:
        if lines := room.take(_titles(sections[s]), sections[s].items[i], opened):
            kept[s, i] = lines
    out: list[str] = []
    shown: set[str] = set()
    for s, i in sorted(kept):
        fresh = [title for title in _titles(sections[s]) if title not in shown]
        shown.update(fresh)
        out += [*(title.rpartition("\n")[2] for title in fresh), *kept[s, i]]
    return "\n".join(out)


class _Rank(IntEnum):
    """Who goes in first where not all can."""

    OWN = 0
    """A person's lines about who they are and how they like to learn."""
    OWN_RELATED = 1
    LASTING = 2
    """What the machine knows of the same, up to half of the room; the rest of it comes last."""
    RELATED = 3
    """Has to do with what the learner wrote."""
    OWN_OTHER = 4
    MISCONCEPTION = 5
    OTHER = 6


def _ranked(
    known: Sequence[Section], shown: Sequence[Section], about: str
) -> list[tuple[_Rank, int, int]]:
    """Return the rank of each shown item with its section and place, in the order to take them.

    Within a rank what fits better goes first, then what was confirmed later. ``known`` has the
    headings of what is ``shown``.
    """
    places = [(s, i) for s, section in enumerate(shown) for i in range(len(section.items))]
    items = [shown[s].items[i] for s, i in places]
    fits = fitness(about, (item.text for item in items))
    related = _RELATED * max(fits, default=0.0)
    order = []
    for (s, i), item, fit in zip(places, items, fits, strict=True):
        lasting = known[s].document in (Profile.PROFILE, Profile.PREFERENCES)
        if lasting:
            rank = _Rank.OWN if item.own else _Rank.LASTING
        elif fit > 0 and fit >= related:
            rank = _Rank.OWN_RELATED if item.own else _Rank.RELATED
        elif item.own:
            rank = _Rank.OWN_OTHER
        else:
            mistaken = known[s].heading.casefold() == _MISCONCEPTIONS
            rank = _Rank.MISCONCEPTION if mistaken else _Rank.OTHER
        newness = item.day.toordinal() if item.day else 0
        order.append((rank, -fit, -newness, s, i))
    return [(rank, s, i) for rank, _, _, s, i in sorted(order)]


def estimate_tokens(text: str) -> int:
    """Estimate tokens: four Latin characters each, two of other alphabets, one of CJK or emoji."""
    return -(-_quarters(text) // 4)


def _quarters(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text) + len(_ABOVE_LATIN.findall(text)) + 3 * len(_WIDE.findall(text))


@dataclass(slots=True)
class _Room:
    """Budget under way, in quarters of a token."""

    left: int

    def take(self, titles: tuple[str, ...], item: Item, opened: set[str]) -> tuple[str, ...]:
        """Return the leading lines of the item that fit with its unopened titles, and book them."""
        lines = [("- " if not n else "  ") + line for n, line in enumerate(item.lines)]
        fresh = [title for title in titles if title not in opened]
        cost = sum(_cost(title.rpartition("\n")[2]) for title in fresh)
        fitting: list[str] = []
        for line in lines:
            if cost + _cost(line) > self.left:
                break
            cost += _cost(line)
            fitting.append(line)
        if fitting:
            self.left -= cost
            opened.update(fresh)
        return tuple(fitting)


def _cost(line: str) -> int:
    return _quarters(line) + 1  # the line feed


def _titles(section: Section) -> tuple[str, ...]:
    """Titles above a section's items; of each only what follows its last line feed is shown.

    What stands before makes equal headings of two documents different.
    """
    name = f"# {section.document.capitalize()}"
    return (name, f"{name}\n## {section.heading}") if section.heading else (name,)


def _for(audience: Audience, section: Section) -> Section:
    if audience is Audience.PRIVATE:
        return section
    shareable = tuple(item for item in section.items if item.audience is Audience.GROUP)
    return Section(section.document, "", shareable)


def _sections(folder: LearnerFolder, document: Profile) -> Iterator[Section]:
    heading = ""
    items: list[Item] = []
    for line in grouped(load(folder, folder.profile(document))):
        if isinstance(line, Item):
            items.append(line)
            continue
        if items:
            yield Section(document, heading, tuple(items))
            items = []
        title = _bare(line.text)
        heading = "" if line.level == 1 and title.casefold() == document else title
    if items:
        yield Section(document, heading, tuple(items))


def grouped(document: MemoryDocument) -> Iterator[Item | Line]:
    """Yield headings as lines and everything else as items, in file order."""
    group: list[Line] = []  # a person's lines that make one item
    gap = False  # a blank line came since
    for line in document.lines:
        if line.kind is Kind.BLANK:
            gap = True
            continue
        if group and not _joins(group[-1], line, gap):
            yield from _person(group)
            group = []
        gap = False
        if line.kind in (Kind.TEXT, Kind.CODE):
            group.append(line)
        elif line.entry is not None:
            shown = (printable(line.entry.text),)
            entry = line.entry
            yield Item(shown, own=False, audience=entry.audience, id=entry.id, day=entry.date)
        elif line.kind is Kind.HEADING:
            yield line
    yield from _person(group)


def _joins(previous: Line, line: Line, gap: bool) -> bool:
    """Tell whether a line goes on with the item before it, as Markdown reads it."""
    if line.kind is not previous.kind:
        return False
    if line.kind is Kind.TEXT and line.text.startswith(("  ", "\t")):
        return True
    return not gap and (line.kind is Kind.CODE or not _BULLET.match(line.text))


def _person(group: list[Line]) -> Iterator[Item]:
    if group and group[0].kind is Kind.CODE:
        lines = [printable(line.text) for line in group]
    else:
        lines = [_bare(line.text).removeprefix("  ") for line in group]
        if lines and (bullet := _BULLET.match(lines[0])):
            lines[0] = lines[0][bullet.end() :]
        lines = [line for line in lines if line.strip()]
    if lines:
        yield Item(tuple(lines), own=True, audience=Audience.PRIVATE)


def _bare(line: str) -> str:
    return visible(_COMMENT.sub("", line)).rstrip()


def load(folder: LearnerFolder, path: Path) -> MemoryDocument:
    """Read a document of the second or third layer, as much of it as can be read."""
    try:
        with folder.contained(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        data = b""
    except (OSError, ValueError) as error:
        reason = type(error).__name__
        _log.warning("cannot read %s of learner %s (%s)", path.name, folder.learner, reason)
        data = b""
    if len(data) > MAX_FILE_BYTES:
        _log.warning(
            "%s of learner %s is too large, its end is not read", path.name, folder.learner
        )
        data = data[: data.rfind(b"\n", 0, MAX_FILE_BYTES) + 1]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        _log.warning("%s of learner %s is not valid UTF-8", path.name, folder.learner)
    return parse(data)
