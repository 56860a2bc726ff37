"""Everything of a learner goes: rows, memory with its history and index, what joins kept.

What remains, and why:

- of an account that was let in, kept out or made an owner, its id with that decision, so that
  whoever was kept out stays out; one that nobody decided about leaves nothing;
- the platform's id of the newest event of a bot account, if this person sent it, without words and
  sender: what came before it is not answered a second time;
- a question that others answered in a group, which then belongs to one of them.

What the person said in a group and others quoted stays with those others. A copy of the data that
somebody made outside of this program is theirs to look after.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlmodel import Session, SQLModel, col, delete, func, select, update

from core.belongings.rows import Person, person, rows_of
from core.store.session import Store
from core.store.tables import (
    AccessState,
    Account,
    Conversation,
    Evidence,
    Inbound,
    InboundState,
    Item,
    Outgoing,
)
from memory.layers import LearnerFolder

_LOCK: Final = ".lock"


def forget(store: Store, memory: Path, learner_id: str, now: datetime) -> None:
    """Erase a learner; it blocks. ``memory`` is the folder of all learners' memory.

    Files go before the rows that lead to them, so what a killed process left is erased by the next
    call. Raises MemoryBusy when a lock stays taken, OSError, or what the database raises.
    """
    who = store.submit(partial(person, learner_id=learner_id)).result()
    _erase_files(memory, who)
    store.submit(partial(erase_rows, who=who, now=now)).result()
    _erase_files(memory, who)  # what a turn under way wrote meanwhile
    store.scrub()


def erase_rows(session: Session, who: Person, now: datetime) -> None:
    """Erase the rows, within the caller's transaction."""
    own = rows_of(who)
    conversations = session.exec(select(Conversation.id).where(own[Conversation])).all()
    _hand_over(session, who)
    _keep_places(session, who)
    # What was sent is known by what was received, so it goes first; then what refers to a row
    # before that row.
    outgoing = session.exec(select(Outgoing.id).where(own[Outgoing])).all()
    own = {
        **own,
        Conversation: col(Conversation.id).in_(conversations),
        Outgoing: col(Outgoing.id).in_(outgoing),
        Account: own[Account] & (col(Account.access) == AccessState.PENDING),
    }
    decided = {"learner_id": None, "language": None, "turned_away_at": None, "created_at": now}
    session.exec(
        update(Account)
        .where(col(Account.id).in_(who.accounts))
        .values(name=col(Account.id), **decided)
    )
    tables = {table.__table__: table for table in own}  # type: ignore[attr-defined]
    for table in reversed(SQLModel.metadata.sorted_tables):
        if table in tables:
            session.exec(delete(tables[table]).where(own[tables[table]]))


def _hand_over(session: Session, who: Person) -> None:
    """Let questions that others answered too be theirs: their evidence refers to them."""
    others = (
        select(Evidence.item_id, func.min(Evidence.learner_id))
        .join(Item, col(Item.id) == col(Evidence.item_id))
        .where(
            col(Item.learner_id).in_(who.learners), col(Evidence.learner_id).not_in(who.learners)
        )
        .group_by(col(Evidence.item_id))
    )
    for item_id, learner_id in session.exec(others).all():
        session.exec(update(Item).where(col(Item.id) == item_id).values(learner_id=learner_id))


def _keep_places(session: Session, who: Person) -> None:
    """Let the newest event of a bot account say nothing but that it came."""
    newest = select(func.max(Inbound.id)).group_by(col(Inbound.channel), col(Inbound.account))
    session.exec(
        update(Inbound)
        .where(rows_of(who)[Inbound], col(Inbound.id).in_(newest))
        .values(
            sender="",
            conversation_id=None,
            learner_id=None,
            message=None,
            state=InboundState.DONE,
            part_of=None,
            preview=None,
            rounds=None,
        )
    )


def _erase_files(memory: Path, who: Person) -> None:
    for learner_id in who.learners:
        folder = LearnerFolder(memory, learner_id)
        if not folder.path.is_dir():
            continue
        with folder.lock():
            for path in folder.path.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                elif path.name != _LOCK:
                    path.unlink()
        with suppress(OSError):  # somebody waits for the lock: it is an empty file
            (folder.path / _LOCK).unlink(missing_ok=True)
            folder.path.rmdir()
