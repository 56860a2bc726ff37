"""Which proposed operations hold: judged against the very files they were proposed for. Pure.

A batch is judged operation by operation; what does not hold is left out with a reason, and the rest
is applied. Nothing here asks whether a fact is true: it asks whether it rests on words of this
learner that exist, says one thing in one line, repeats and contradicts nothing in its batch, holds
no secret and no order to the tutor, and touches no line of a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from memory.characters import is_blank, printable
from memory.document import Audience
from memory.entries import Noted
from memory.ground import Change, Evidence, Ground, Judged, Refusal, Shelf
from memory.likeness import Likeness, alike, likeness
from memory.ops import Add, Delete, Edit, Merge, Operation, Parsed, touched
from memory.orders import claims_success, is_order, is_reported
from memory.redact import REDACTED, redact
from memory.redating import redate
from memory.sections import SAID, may_be_shared, section_of

LONGEST: Final = 240
"""Characters of an entry."""
MOST_SOURCES: Final = 8
"""What an entry cites at most: its first source and the newest."""
FEW: Final = 3
"""So many deletions in a batch are never too many."""

_MARKS: Final = re.compile(r"\[\^[^\]]*\]?")
_LEAD: Final = re.compile(r"^(?:[-*•]\s+)+")
_THOUGHT: Final = re.compile(
    r"</?(?:think|thinking|thought|thoughts|reasoning|reflection)\b|<\|"
    r"|^(?:okay|ok|hmm|alright|let me|let's|we need|i need|i should|i will|wait)[,.\s]"
    r"|^(?:好的|首先|让我|我需要|我应该|我来)[，,]?",
    re.IGNORECASE,
)
_WHERE: Final = (" (said in a group)", "（在群里说的）")
_CHINESE: Final = re.compile("[\u3400-\u9fff]")


def judge(parsed: Parsed, ground: Ground, today: date, new_id: Callable[[], str]) -> Judged:
    """Judge a batch. ``new_id`` gives the ULIDs of new entries, ``today`` dates what has no source
    of its own."""
    bench = _Bench(ground, today, new_id)
    if parsed.malformed:
        bench.refused[Refusal.MALFORMED] += parsed.malformed
    counted = Counter(name for one in parsed.operations for name in touched(one))
    too_many = bench.too_many(parsed.operations)
    for operation in parsed.operations:
        if type(operation) not in ground.allowed:
            bench.refused[Refusal.NOT_ASKED] += 1
        elif any(counted[name] > 1 for name in touched(operation)):
            bench.refused[Refusal.CONFLICT] += 1
        elif too_many and isinstance(operation, Delete):
            bench.refused[Refusal.TOO_MANY_DELETED] += 1
        else:
            bench.take(operation)
    return bench.judged()


def cleaned(text: str) -> str:
    """Return an entry's text as one line, without bullets and marks of citations."""
    line = " ".join(printable(text.replace("\n", " ")).split())
    return " ".join(_MARKS.sub(" ", _LEAD.sub("", line)).split())


def said_in_group(text: str) -> bool:
    """Tell whether an entry is marked as said where others read along."""
    return text.endswith(_WHERE)


class _Refused(Exception):
    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class _Work:
    """One document under way."""

    shelf: Shelf
    put: dict[str, Noted] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


class _Bench:
    def __init__(self, ground: Ground, today: date, new_id: Callable[[], str]) -> None:
        self._ground = ground
        self._today = today
        self._new_id = new_id
        self._work = {name: _Work(shelf) for name, shelf in ground.shelves.items()}
        self._where = {
            entry.id: (name, entry)
            for name, shelf in ground.shelves.items()
            for entry in shelf.entries
        }
        self._texts: dict[str, Likeness] = {
            id_: likeness(entry.text) for id_, (_, entry) in self._where.items()
        }
        self._own = [
            likeness(line) for shelf in ground.shelves.values() for line in shelf.own if line
        ]
        self._moved: dict[str, str] = {}
        self._done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def too_many(self, operations: Iterable[Operation]) -> bool:
        """Whether a batch would delete more than a quarter of all there is.

        Deletions that rest on nothing new are fewer, and never take all.
        """
        deleted = sum(isinstance(one, Delete) for one in operations)
        total = len(self._where)
        if self._ground.needs_citation:
            return deleted > max(FEW, total // 4)
        return deleted > max(1, total // 4) or 0 < total == deleted

    def take(self, operation: Operation) -> None:
        """Judge one operation and take it in."""
        try:
            match operation:
                case Add():
                    self._add(operation)
                case Edit():
                    self._edit(operation)
                case Delete():
                    self._delete(operation)
                case Merge():
                    self._merge(operation)
        except _Refused as refused:
            self.refused[refused.reason] += 1
        else:
            self._done[type(operation).__name__.lower()] += 1

    def judged(self) -> Judged:
        """Return what holds."""
        changes = {
            name: Change(tuple(work.put.values()), tuple(work.gone))
            for name, work in self._work.items()
            if work.put or work.gone
        }
        return Judged(changes, self._moved, dict(self._done), dict(self.refused))

    def _add(self, add: Add) -> None:
        name = add.document
        if not name and len(self._work) == 1:
            (name,) = self._work
        if name not in self._work:
            raise _Refused(Refusal.UNKNOWN_DOCUMENT)
        section = section_of(name, add.section)
        if section is None:
            raise _Refused(Refusal.UNKNOWN_SECTION)
        cited = self._cited(add.citations, needed=True)
        text = self._text(add.text, cited, section)
        shared = add.shareable and may_be_shared(name, section)
        entry = Noted(
            self._new_id(),
            text,
            max(one.day for one in cited),
            Audience.GROUP if shared and all(e.shareable for e in cited) else Audience.PRIVATE,
            section,
            tuple(one.target for one in cited)[:MOST_SOURCES],
        )
        self._put(name, entry, instead_of=())

    def _edit(self, edit: Edit) -> None:
        name, entry = self._entry(edit.entry)
        cited = self._cited(edit.citations, needed=self._ground.needs_citation)
        text = self._text(edit.text, cited, entry.section, had=[entry.text])
        shared = entry.audience is Audience.GROUP and all(one.shareable for one in cited)
        edited = replace(
            entry,
            text=text,
            day=max((one.day for one in cited), default=entry.day),
            audience=Audience.GROUP if shared else Audience.PRIVATE,
            sources=_joined(entry.sources, (one.target for one in cited)),
        )
        self._put(name, edited, instead_of=(entry.id,))

    def _delete(self, delete: Delete) -> None:
        name, entry = self._entry(delete.entry)
        cited = self._cited(delete.citations, needed=self._ground.needs_citation)
        if any(one.order for one in cited):
            raise _Refused(Refusal.ORDER)
        self._take_away(name, entry.id)

    def _merge(self, merge: Merge) -> None:
        found = [self._entry(name) for name in merge.entries]
        names = {name for name, _ in found}
        sections = {entry.section for _, entry in found}
        if len(names) > 1 or (SAID in sections and len(sections) > 1):
            raise _Refused(Refusal.UNKNOWN_SECTION)
        (name,) = names
        entries = sorted((entry for _, entry in found), key=lambda entry: entry.id)
        first = entries[0]
        text = self._text(merge.text, (), first.section, had=[e.text for e in entries])
        merged = replace(
            first,
            text=text,
            day=max(entry.day for entry in entries),
            audience=Audience.GROUP
            if all(entry.audience is Audience.GROUP for entry in entries)
            else Audience.PRIVATE,
            sources=_joined((), (s for entry in entries for s in entry.sources)),
        )
        self._put(name, merged, instead_of=tuple(entry.id for entry in entries))
        for entry in entries[1:]:
            self._take_away(name, entry.id)
            self._moved[entry.id] = first.id

    def _entry(self, short: str) -> tuple[str, Noted]:
        id_ = self._ground.entries.get(short)
        if id_ is None or id_ not in self._where:
            raise _Refused(Refusal.UNKNOWN_ENTRY)
        return self._where[id_]

    def _cited(self, names: tuple[str, ...], *, needed: bool) -> tuple[Evidence, ...]:
        if not all(name in self._ground.evidence for name in names):
            raise _Refused(Refusal.UNKNOWN_CITATION)
        found = tuple(self._ground.evidence[name] for name in names)
        if not needed and not found:
            return found
        if not found:
            raise _Refused(Refusal.NO_CITATION)
        if not any(one.learners for one in found):
            raise _Refused(Refusal.NOT_THE_LEARNERS)
        if needed and not any(one.fresh for one in found):
            raise _Refused(Refusal.NOTHING_NEW)
        return found

    def _text(
        self, raw: str, cited: tuple[Evidence, ...], section: str, had: Iterable[str] = ()
    ) -> str:
        """Return the words of an entry, dated; ``had`` are entries that they put together."""
        text = cleaned(raw)
        if is_blank(text):
            raise _Refused(Refusal.EMPTY)
        if _THOUGHT.search(text):
            raise _Refused(Refusal.THINKING)
        if redact(text) != text or REDACTED in text:
            raise _Refused(Refusal.SECRET)
        if is_order(text):
            raise _Refused(Refusal.ORDER)
        reported = is_reported(text)
        if any(one.order for one in cited) and (
            self._ground.raised or section != SAID or not reported
        ):
            raise _Refused(Refusal.ORDER)
        if section == SAID and not reported:
            raise _Refused(Refusal.CLAIM)
        proved = any(one.graded for one in cited) or any(
            claims_success(one) and not is_reported(one) for one in had
        )
        if claims_success(text) and not reported and not proved:
            raise _Refused(Refusal.CLAIM)
        text = redate(text, max((one.day for one in cited), default=self._today))
        mine = [one for one in cited if one.learners]
        if mine and all(one.in_group for one in mine) and not said_in_group(text):
            text += _WHERE[1] if _CHINESE.search(text) else _WHERE[0]
        if len(text) > LONGEST:
            raise _Refused(Refusal.TOO_LONG)
        return text

    def _put(self, name: str, entry: Noted, instead_of: tuple[str, ...]) -> None:
        mine = likeness(entry.text)
        others = (like for id_, like in self._texts.items() if id_ not in instead_of)
        if any(alike(mine, one) for one in (*others, *self._own)):
            raise _Refused(Refusal.REPEATED)
        self._work[name].put[entry.id] = entry
        self._texts[entry.id] = mine

    def _take_away(self, name: str, id_: str) -> None:
        self._work[name].gone.append(id_)
        self._work[name].put.pop(id_, None)
        self._texts.pop(id_, None)


def _joined(sources: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    """Put sources together: the first one stays, then the newest."""
    all_ = list(dict.fromkeys((*sources, *more)))
    return tuple(all_ if len(all_) <= MOST_SOURCES else [all_[0], *all_[1 - MOST_SOURCES :]])
