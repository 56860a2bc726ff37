"""From turns to the learner's journal (the first memory layer), exactly once.

A turn's events are committed with its answer and written to the day file right after it. Those
that a killed process left are written at the next start, those that the disk refused when it takes
them again: the journal knows an event by its id.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from sqlmodel import Session, col, select, update

from core.context import ChatKind
from core.store.session import Store
from core.store.tables import Turn
from core.turns.finish import EVENTS
from memory.journal import Event, append
from memory.layers import LearnerFolder, MemoryBusy, MemoryElsewhere
from memory.sources import IN_GROUP

log = logging.getLogger(__name__)


def as_asked(text: str, kind: ChatKind) -> str:
    """Return what the journal says of a question; one that others heard says so.

    What is learned from it then carries where it was said (``memory.sources``).
    """
    return f"{'asked' if kind is ChatKind.PRIVATE else IN_GROUP}: {text}"


class Journal:
    """Writes the events of turns to the learners' files under ``root``."""

    def __init__(self, store: Store, root: Path) -> None:
        self._store = store
        self._root = root
        self._written: list[str] = []
        self._behind = False

    async def write(self, turn_id: str, learner_id: str, events: tuple[Event, ...]) -> None:
        """Append a turn's events; when the disk refuses, ``catch_up`` tries again."""
        if events and await self._append(learner_id, events, recovering=False):
            self._written.append(turn_id)

    async def settle(self) -> None:
        """Mark what was written, in one transaction for all turns since the last call."""
        written, self._written = self._written, []
        if written:
            await self._store.write(lambda session: _mark(session, written))

    async def recover(self) -> None:
        """Write what was committed and is not known to be written, whichever process did."""
        rows = await self._store.read(_unwritten)
        for turn_id, learner_id, unwritten in rows:
            parsed = EVENTS.validate_json(unwritten)
            if await self._append(learner_id, parsed, recovering=True):
                self._written.append(turn_id)
        await self.settle()

    async def catch_up(self) -> None:
        """Write what could not be written when it happened."""
        if self._behind:
            self._behind = False
            await self.recover()

    async def _append(
        self, learner_id: str, events: tuple[Event, ...], *, recovering: bool
    ) -> bool:
        folder = LearnerFolder(self._root, learner_id)
        try:
            await asyncio.to_thread(append, folder, *events, recovering=recovering)
        except (OSError, MemoryBusy, MemoryElsewhere) as error:
            log.error("the journal cannot be written now, it will be later: %s", error)
            self._behind = True
            return False
        return True


def _mark(session: Session, turn_ids: list[str]) -> None:
    session.exec(update(Turn).where(col(Turn.id).in_(turn_ids)).values(events=None))


def _unwritten(session: Session) -> list[tuple[str, str, str]]:
    unwritten = select(Turn).where(col(Turn.events).is_not(None)).order_by(col(Turn.id))
    return [(turn.id, turn.learner_id, turn.events or "[]") for turn in session.exec(unwritten)]
