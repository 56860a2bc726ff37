"""Everything of a learner as files that a person can read: Markdown as it is, rows as CSV.

Only what is theirs: answers that others gave in a learner's group quiz are those others'.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlmodel import Session, SQLModel, col, select

from core.belongings.rows import Person, person, rows_of
from core.i18n import Words
from core.store.session import Store
from core.store.tables import (
    AccessRequest,
    Account,
    Card,
    Consent,
    Consolidation,
    Conversation,
    Delivered,
    Evidence,
    Inbound,
    Item,
    Learner,
    Line,
    Link,
    LinkCode,
    LinkGuess,
    Nudge,
    Outgoing,
    PersonaChoice,
    Quiz,
    QuizAnswer,
    Reminder,
    Review,
    Turn,
)
from memory.index import NAME as INDEX
from memory.layers import LearnerFolder

TABLES: Final[Mapping[type[SQLModel], str]] = {
    Card: "cards",
    Review: "reviews",
    Item: "questions",
    Evidence: "evidence",
    Quiz: "quizzes",
    QuizAnswer: "quiz-answers",
    Line: "conversations",
    Reminder: "reminders",
    PersonaChoice: "personas",
    Inbound: "more/messages-received",
    Outgoing: "more/messages-sent",
    Turn: "more/turns",
    Consent: "more/consents",
    Nudge: "more/review-reminders",
    Consolidation: "more/memory-calls",
}
"""Table → file. ``Learner`` and ``Account`` are in ``settings.json``."""
LEFT_OUT: Final[frozenset[type[SQLModel]]] = frozenset(
    {Conversation, Delivered, AccessRequest, Link, LinkCode, LinkGuess}
)
"""Platform ids, codes that are used up, and what it takes to undo a join (of two people)."""
_NOT_TOLD: Final = frozenset({"learner_id", "normal", "rounds", "preview"})
"""Columns that only the program reads."""


@dataclass(frozen=True, slots=True)
class Belongings:
    """All that is kept of a learner, by file name; to be written with ``packed``."""

    files: Mapping[str, bytes]


def collect(store: Store, memory: Path, learner_id: str, words: Words) -> Belongings:
    """Read everything; it blocks. ``words`` are for the page that explains the files.

    Raises MemoryBusy when a lock stays taken, OSError, or what the database raises.
    """
    who = store.submit(partial(person, learner_id=learner_id)).result()
    files = store.submit(partial(rows, who=who)).result()
    for learner in who.learners:
        prefix = "memory" if learner == learner_id else f"memory-of-{learner}"
        files |= {f"{prefix}/{name}": data for name, data in _memory(memory, learner)}
    return Belongings({"README.txt": _readme(words).encode(), **files})


def rows(session: Session, who: Person) -> dict[str, bytes]:
    """Return the rows as files, within the caller's transaction."""
    own = dict(rows_of(who))
    own[QuizAnswer] = col(QuizAnswer.learner_id).in_(who.learners)
    files = {}
    for table, name in TABLES.items():
        found = session.exec(select(table).where(own[table])).all()
        if found:
            files[f"{name}.csv"] = _csv(table, found)
    learners = session.exec(select(Learner).where(own[Learner]).order_by(Learner.id))
    accounts = session.exec(select(Account).where(own[Account]).order_by(Account.id))
    settings = {"learners": [*map(_told, learners)], "accounts": [*map(_told, accounts)]}
    files["settings.json"] = json.dumps(settings, ensure_ascii=False, indent=2).encode()
    return files


def packed(belongings: Belongings, now: datetime) -> bytes:
    """Return a zip archive; ``now`` is the time its files bear."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in belongings.files.items():
            entry = zipfile.ZipInfo(name, now.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            file.writestr(entry, data)
    return archive.getvalue()


def _csv(table: type[SQLModel], found: Iterable[SQLModel]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(name for name in table.model_fields if name not in _NOT_TOLD)
    writer.writerows(_told(row).values() for row in found)
    return text.getvalue().encode("utf-8-sig")  # without the mark spreadsheets take it for Latin


def _told(row: SQLModel) -> dict[str, object]:
    """A row by the names of its columns, in their order."""
    names = (name for name in type(row).model_fields if name not in _NOT_TOLD)
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, (date, datetime)) else value


def _memory(root: Path, learner_id: str) -> Iterator[tuple[str, bytes]]:
    folder = LearnerFolder(root, learner_id)
    if not folder.path.is_dir():
        return
    with folder.lock():
        for path in sorted(folder.path.rglob("*")):
            derived = path.name == ".lock" or path.name.startswith(INDEX)
            if path.is_file() and not path.is_symlink() and not derived:
                name = path.relative_to(folder.path).as_posix()
                yield name, folder.contained(path).read_bytes()


def _readme(words: Words) -> str:
    lines = (
        words("This is everything that is kept about you here."),
        words("memory/: your notes and what was said, as Markdown. Any text editor opens it."),
        words(
            "cards.csv, reviews.csv, evidence.csv, questions.csv and quizzes.csv: what you learn, "
            "and each of your answers. Any spreadsheet opens them."
        ),
        words("conversations.csv: what you and the tutor said to each other."),
        words("settings.json: your settings and accounts."),
        words("more/: what the program keeps beside that. Times are in UTC."),
    )
    return "\n\n".join(lines) + "\n"
