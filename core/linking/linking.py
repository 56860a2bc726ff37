"""Two learners become one, for good after a day; until then they can be told apart again.

The rows go first and in one transaction, the files after it; to undo, the files go first. In
between a ``Link`` says how far it is, and whoever is killed is followed up: by the same event when
it is answered again, at the next start, with the next sweep.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from pathlib import Path
from typing import Final

from sqlalchemy import or_
from sqlmodel import Session, col, func, select

from core.ids import new_id
from core.linking import rows
from core.linking.codes import Refused, find
from core.store.session import Store
from core.store.tables import Account, Card, Learner, Link, LinkCode, LinkState
from memory import joined
from memory.joined import Join
from memory.layers import LearnerFolder, MemoryBusy, MemoryElsewhere

log = logging.getLogger(__name__)

UNDOABLE: Final = timedelta(days=1)

Announce = Callable[[Session, Link, LinkCode], None]
"""Tells the maker of a code, inside the transaction that joins."""
Follow = Callable[[Collection[str], str], None]
"""Told whose messages belong to which learner from now on: accounts, and the learner's id."""


class NotUndone(Enum):
    """Why nothing is undone."""

    NOTHING = auto()
    """There is no link of this learner, or it was undone."""
    TOO_LATE = auto()
    LATER_FIRST = auto()
    """Another one was joined since; that has to go first."""
    BUSY = auto()
    """The files cannot be written now; it is done as soon as they can."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two learners, as the other is asked about them."""

    account: str
    name: str
    cards: int


class Linking:
    """Joins and parts the learners of one house."""

    def __init__(self, store: Store, memory: Path, follow: Follow) -> None:
        """``memory`` is the folder of all learners' memory."""
        self._store = store
        self._memory = memory
        self._follow = follow

    async def join(
        self,
        code: str,
        learner_id: str,
        account_id: str,
        now: datetime,
        announce: Announce,
    ) -> Link | Refused:
        """Join the learner of an account to that of a code's maker, whose settings hold.

        Asked again with the same code, it says the same and does nothing more.
        """

        def begin(session: Session) -> Link | Refused:
            known = session.exec(select(Link).where(Link.code == code)).first()
            if known is not None:
                joined_now = known.state != LinkState.UNDONE
                ours = joined_now and learner_id in (known.kept_id, known.other_id)
                return known if ours else Refused.USED
            found = find(session, code, learner_id, account_id, now)
            if isinstance(found, Refused):
                return found
            found.used_at = now
            link = Link(
                id=new_id(now),
                code=code,
                kept_id=found.learner_id,
                other_id=learner_id,
                moved=rows.Moved().model_dump_json(),
                at=now,
            )
            session.add(link)
            session.flush()
            rows.join(session, link)
            announce(session, link, found)
            return link

        link = await self._store.write(begin, durable=True)
        if isinstance(link, Link) and link.state == LinkState.JOINING:
            self._tell(link, link.kept_id)
            await self._unite(link)
        return link

    async def undo(
        self, learner_id: str, link_id: str | None, cause: str, now: datetime
    ) -> Link | NotUndone:
        """Part what was joined; None means the latest link of this learner.

        ``cause`` names the event that asks, so that it asks once.
        """

        def begin(session: Session) -> Link | NotUndone:
            link = session.exec(
                select(Link).where(or_(col(Link.undo_cause) == cause, col(Link.id) == link_id))
            ).first()
            parting = link is not None and link.state in (LinkState.UNDOING, LinkState.UNDONE)
            if link is not None and parting and learner_id in (link.kept_id, link.other_id):
                return link
            found = self._undoable(session, learner_id, link_id, now)
            if isinstance(found, Link):
                found.state, found.undo_cause = LinkState.UNDOING, cause
            return found

        link = await self._store.write(begin, durable=True)
        if not isinstance(link, Link):
            return link
        return link if await self._part(link) else NotUndone.BUSY

    async def settle(self, now: datetime) -> None:
        """Finish what was interrupted, take over what came late, close what is older than a day."""
        for link, alone in await self._store.read(_open):
            if not alone:
                # Its learner was joined as well: all that can still be done is to close it.
                if now - link.at > UNDOABLE and link.state == LinkState.JOINED:
                    await self._close(link)
            elif link.state == LinkState.UNDOING:
                await self._part(link)
            elif link.state == LinkState.JOINING:
                await self._unite(link)
            elif now - link.at > UNDOABLE:
                await self._close(link)
            else:
                await self._take_late(link)

    async def _unite(self, link: Link) -> None:
        if not await self._files(lambda: joined.unite(self._folders(link))):
            return
        await self._advance(link, LinkState.JOINING, LinkState.JOINED)

    async def _part(self, link: Link) -> bool:
        since = await self._store.read(lambda session: rows.Since.load(session, link))
        if not await self._files(lambda: joined.part(self._folders(link), since.event)):
            return False

        def end(session: Session) -> rows.Moved | None:
            current = session.get_one(Link, link.id)
            if current.state != LinkState.UNDOING:
                return None
            current.state = LinkState.UNDONE
            return rows.part(session, current)

        moved = await self._store.insist(end)
        if moved is not None:
            self._follow(moved.accounts, link.other_id)
        return True

    async def _take_late(self, link: Link) -> None:
        """Take over what a turn that was under way then has written for the other learner."""
        folders = self._folders(link)

        def late(session: Session) -> bool:
            moved = rows.Moved.model_validate_json(link.moved)
            staying = len(moved.twins) + len(moved.exchanged)
            theirs = select(func.count()).where(Card.learner_id == link.other_id)
            return session.exec(theirs).one() > staying

        if await self._store.read(late):

            def take(session: Session) -> None:
                current = session.get_one(Link, link.id)
                if current.state == LinkState.JOINED:
                    rows.join(session, current)

            await self._store.write(take)
        if await asyncio.to_thread(joined.has_more, folders.other):
            await self._files(lambda: joined.unite(folders))

    async def _close(self, link: Link) -> None:
        if await self._files(lambda: joined.settle(self._folders(link))):
            await self._advance(link, LinkState.JOINED, LinkState.FINAL)

    async def _advance(self, link: Link, before: LinkState, after: LinkState) -> None:
        def work(session: Session) -> None:
            current = session.get_one(Link, link.id)
            if current.state == before:
                current.state = after

        await self._store.insist(work)

    async def _files(self, work: Callable[[], None]) -> bool:
        """Do something with files; False when the next sweep has to do it."""
        try:
            await asyncio.to_thread(work)
        except (OSError, MemoryBusy, MemoryElsewhere) as error:
            log.error("joined memory cannot be written now, it will be later: %s", error)
            return False
        return True

    def _folders(self, link: Link) -> Join:
        kept, other = (LearnerFolder(self._memory, one) for one in (link.kept_id, link.other_id))
        return Join(kept, other, link.id)

    def _tell(self, link: Link, learner_id: str) -> None:
        self._follow(rows.Moved.model_validate_json(link.moved).accounts, learner_id)

    def _undoable(
        self, session: Session, learner_id: str, link_id: str | None, now: datetime
    ) -> Link | NotUndone:
        links = session.exec(
            select(Link)
            .where(
                Link.kept_id == learner_id,
                col(Link.state).in_((LinkState.JOINING, LinkState.JOINED, LinkState.FINAL)),
            )
            .order_by(col(Link.at).desc(), col(Link.id).desc())
        ).all()
        wanted = [link for link in links if link_id in (None, link.id)]
        if not wanted:
            return NotUndone.NOTHING
        link = wanted[0]
        if link.state == LinkState.FINAL or now - link.at > UNDOABLE:
            return NotUndone.TOO_LATE
        if link is not links[0]:
            return NotUndone.LATER_FIRST
        return link


def sides(session: Session, code: LinkCode, account_id: str, learner_id: str) -> tuple[Side, Side]:
    """The one who writes a code, and the one who made it."""
    return (
        _side(session, account_id, learner_id),
        _side(session, code.account_id, code.learner_id),
    )


def current_learner(session: Session, learner_id: str) -> str:
    """The learner that a learner was joined with, or the same."""
    learner = session.get(Learner, learner_id)
    while learner is not None and learner.merged_into is not None:
        learner_id = learner.merged_into
        learner = session.get(Learner, learner_id)
    return learner_id


def _side(session: Session, account_id: str, learner_id: str) -> Side:
    account = session.get_one(Account, account_id)
    cards = select(func.count()).where(Card.learner_id == learner_id)
    return Side(account_id, account.name, session.exec(cards).one())


def _open(session: Session) -> list[tuple[Link, bool]]:
    """Links that something is still to be done about, and whether their learner is nobody's."""
    states = (LinkState.JOINING, LinkState.JOINED, LinkState.UNDOING)
    found = session.exec(
        select(Link, Learner.merged_into)
        .join(Learner, col(Learner.id) == col(Link.kept_id))
        .where(col(Link.state).in_(states))
        .order_by(col(Link.id))
    ).all()
    return [(link, merged_into is None) for link, merged_into in found]
