"""When memory is consolidated, for whom, and when to leave it for later.

By itself: some minutes after the last event, if there are a few; at once when there are many; and
from an hour of the night on, when the learner is quiet, all that is left, with age, size and, once
a week, an audit. By hand at any time. What has failed is tried again with growing pauses: for the
learner, and when nobody's memory could be consolidated, for all; so an hour of a broken model costs
a handful of calls, whatever the number of learners, and no data.

It runs beside the turns: learners one after the other, model calls awaited, files in threads.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col, func, select

from core.clock import Clock, standing
from core.llm.port import ChatModel
from core.logs import log_context
from core.loop.gates import Budget
from core.memory_tuning import Consolidating, MemoryTuning
from core.scheduling.memory_call import MemoryCall
from core.scheduling.memory_times import due, next_night, night_of, pause
from core.spending import Spending
from core.store.session import Store
from core.store.tables import Consolidation, ConsolidationOutcome, Learner, Link, LinkState
from memory.consolidate import backlog, tend
from memory.layers import LearnerFolder, MemoryBusy, MemoryElsewhere
from memory.tasks import Stage

log = logging.getLogger(__name__)

AT_ONCE: Final = 12
"""Calls for one learner in one go, so that others have their turn."""
LATELY: Final = timedelta(days=3)
"""Learners who were not seen for longer have nothing that waits; the first sweep looks at all."""
HOUSE_PAUSE: Final = timedelta(hours=1)
"""The longest pause for all."""
LONGEST_TURN: Final = timedelta(hours=1)
"""Within it something may still be written of what a learner was last seen with."""
BROKEN: Final = 3
"""Failures in a row, whoever's they are, after which all wait."""


class Held(StrEnum):
    """Why nothing (more) was done."""

    FAILED = "failed"
    """The model cannot be asked, or the files cannot be written."""
    UNREADABLE = "unreadable"
    """What it says cannot be used."""
    PAUSED = "paused"
    """It failed before, and the pause is not over."""
    LIMIT = "limit"
    """A limit of the day is reached."""
    CALLS = "calls"
    """So many calls were made for this learner within a day."""
    BUSY = "busy"
    """It is under way already."""
    MORE = "more"
    """Enough for one go; the rest comes with the next."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one go did for a learner."""

    calls: int = 0
    tokens: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """Kind of operation → how many hold; ``refused:REASON`` → how many do not; ``faded`` →
    entries that age, size or lost sources took away."""
    held: Held | None = None
    """None when nothing is left to do."""

    @property
    def refused(self) -> int:
        """Operations that did not hold."""
        return sum(n for name, n in self.counts.items() if name.startswith("refused:"))


@dataclass(frozen=True, slots=True)
class _Past:
    """What the rows say."""

    tries: int
    """Answers in a row that could not be used."""
    pause_until: datetime | None
    calls: int
    """Within 24 hours."""
    learned: bool
    """Something was learned within the last day."""
    limit: bool


class Consolidator:
    """Consolidates the memory of the learners of one house."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        memory: Path,
        model: ChatModel,
        budget: Budget,
        spending: Spending,
        tuning: MemoryTuning,
    ) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._tuning = tuning
        self._spending = spending
        self._call = MemoryCall(store, clock, memory, model, budget, tuning)
        self._small = model.small
        self._under_way: set[str] = set()
        self._sweeping: asyncio.Task[None] | None = None
        self._all = True  # the first sweep looks at everybody
        self._later: dict[str, tuple[datetime, datetime]] = {}  # learner → (seen, look again)

    @property
    def by_itself(self) -> bool:
        """Whether it happens without being asked for."""
        return self._tuning.consolidate is Consolidating.ON or (
            self._tuning.consolidate is Consolidating.AUTO and not self._small
        )

    def look(self) -> None:
        """Begin to consolidate what is due, unless that is under way. Returns at once."""
        if self.by_itself and (self._sweeping is None or self._sweeping.done()):
            self._sweeping = asyncio.create_task(self._guarded())

    async def settled(self) -> None:
        """Wait for what ``look`` began."""
        if self._sweeping is not None:
            await asyncio.gather(self._sweeping, return_exceptions=True)

    async def close(self) -> None:
        """End what is under way; what was not concluded is done at another time."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await self.settled()

    async def refresh(self, learner_id: str) -> Report:
        """Consolidate all that waits for a learner, now: they asked for it.

        Pauses after failures are not waited for, limits hold. Raises LookupError for a learner
        that does not exist.
        """
        zone = await self._store.read(lambda session: _zone(session, learner_id))
        if zone is None:
            raise LookupError(learner_id)
        return await self._go(learner_id, zone, night=None, asked=True)

    async def _guarded(self) -> None:
        """The one guard at the top: the next sweep comes in any case."""
        try:
            await self._sweep()
        except Exception:
            log.exception("memory could not be looked after; the next sweep tries again")

    async def _sweep(self) -> None:
        """One after the other; the one guard of a learner's consolidation is here."""
        now = self._clock.now()
        since = None if self._all else now - LATELY
        learners = await self._store.read(lambda session: _candidates(session, since))
        for learner_id, zone, seen_at in learners:
            if self._waits(learner_id, seen_at):
                continue
            with log_context(learner=learner_id):
                try:
                    await self._look_at(learner_id, zone, seen_at)
                except SQLAlchemyError:
                    raise  # the database's trouble is everybody's
                except Exception:
                    log.exception("memory could not be consolidated; the next sweep tries again")
        self._all = False

    def _waits(self, learner_id: str, seen_at: datetime) -> bool:
        seen, again = self._later.get(learner_id, (None, None))
        return seen == seen_at and again is not None and self._clock.now() < again

    async def _look_at(self, learner_id: str, zone: str, seen_at: datetime) -> None:
        folder = LearnerFolder(self._memory, learner_id)
        if not await asyncio.to_thread(folder.events.is_dir):
            return
        waiting = await asyncio.to_thread(backlog, folder)
        wall = self._clock.now().astimezone(ZoneInfo(standing(zone))).replace(tzinfo=None)
        night = night_of(wall, self._tuning)
        if not due(waiting, wall, self._tuning):
            soon = timedelta(minutes=self._tuning.idle_minutes) / 4
            quiet = not waiting.events and self._clock.now() - seen_at > LONGEST_TURN
            again = next_night(wall, self._tuning) - wall if quiet else soon
            self._later[learner_id] = (seen_at, self._clock.now() + again)
            return
        tonight = night if waiting.tended is None or waiting.tended < night else None
        await self._go(learner_id, zone, night=tonight, asked=False)

    async def _go(self, learner_id: str, zone: str, *, night: date | None, asked: bool) -> Report:
        if learner_id in self._under_way:
            return Report(held=Held.BUSY)
        self._under_way.add(learner_id)
        try:
            return await self._steps(learner_id, zone, night=night, asked=asked)
        finally:
            self._under_way.discard(learner_id)

    async def _steps(
        self, learner_id: str, zone: str, *, night: date | None, asked: bool
    ) -> Report:
        counts: Counter[str] = Counter()
        tokens = calls = 0
        held: Held | None = None
        while True:
            now = self._clock.now()
            past = await self._store.read(partial(self._past, learner_id=learner_id, now=now))
            if (held := self._holds(past, now, calls, asked=asked)) is not None:
                break
            audit = night if past.learned else None
            try:
                step = await self._call.step(learner_id, zone, night=audit, tries=past.tries)
            except (MemoryBusy, MemoryElsewhere, OSError) as error:
                log.warning("memory cannot be read now, it will be later: %s", error)
                held = Held.FAILED
                break
            if step is None:
                break
            calls += 1
            tokens += step.tokens
            counts.update(step.counts)
            if step.outcome is not ConsolidationOutcome.DONE:
                unreadable = step.outcome is ConsolidationOutcome.UNREADABLE
                held = Held.UNREADABLE if unreadable else Held.FAILED
                break
        if night is not None and held is None:
            counts["faded"] += await self._tend(learner_id, night)
        return Report(calls, tokens, counts, held)

    def _holds(self, past: _Past, now: datetime, calls: int, *, asked: bool) -> Held | None:
        if past.limit:
            return Held.LIMIT
        if past.calls >= self._tuning.calls_per_day:
            return Held.CALLS
        if not asked and past.pause_until is not None and now < past.pause_until:
            return Held.PAUSED
        return Held.MORE if calls >= AT_ONCE and not asked else None

    async def _tend(self, learner_id: str, night: date) -> int:
        try:
            return await asyncio.to_thread(tend, LearnerFolder(self._memory, learner_id), night)
        except (MemoryBusy, MemoryElsewhere, OSError) as error:
            log.warning("memory cannot be tended now, it will be later: %s", error)
            return 0

    def _past(self, session: Session, learner_id: str, now: datetime) -> _Past:
        mine = select(Consolidation).where(Consolidation.learner_id == learner_id)
        newest = (col(Consolidation.ended_at).desc(), col(Consolidation.id).desc())
        last = session.exec(mine.order_by(*newest).limit(20)).all()
        failures = _failures([row.outcome for row in last])
        unreadable = [row.outcome == ConsolidationOutcome.UNREADABLE for row in last[:failures]]
        everyone = session.exec(
            select(Consolidation.outcome, Consolidation.ended_at).order_by(*newest).limit(20)
        ).all()
        broken = _failures([outcome for outcome, _ in everyone])
        pauses = [last[0].ended_at + pause(failures)] if failures else []
        if broken >= BROKEN:
            pauses.append(everyone[0][1] + min(HOUSE_PAUSE, pause(broken - BROKEN + 1)))
        day = now - timedelta(hours=24)
        calls = session.exec(
            select(func.count())
            .select_from(Consolidation)
            .where(Consolidation.learner_id == learner_id, col(Consolidation.ended_at) > day)
        ).one()
        taught = (Stage.LEARN, Stage.RAISE)
        return _Past(
            tries=sum(unreadable),
            pause_until=max(pauses, default=None),
            calls=calls,
            learned=any(
                row.stage in taught
                and row.outcome == ConsolidationOutcome.DONE
                and row.ended_at > day - timedelta(hours=2)
                for row in last
            ),
            limit=self._spending.reached(session, now, learner_id) is not None,
        )


def _failures(outcomes: Sequence[str]) -> int:
    """How many stand before the last success, newest first."""
    for number, outcome in enumerate(outcomes):
        if outcome == ConsolidationOutcome.DONE:
            return number
    return len(outcomes)


def _candidates(session: Session, since: datetime | None) -> list[tuple[str, str, datetime]]:
    """Learners of their own, not about to be joined or parted: (id, zone, last seen)."""
    moving = (LinkState.JOINING, LinkState.UNDOING)
    linking = select(Link).where(col(Link.state).in_(moving))
    away = {id_ for link in session.exec(linking) for id_ in (link.kept_id, link.other_id)}
    wanted = select(Learner.id, Learner.zone, Learner.seen_at).where(
        col(Learner.merged_into).is_(None)
    )
    if since is not None:
        wanted = wanted.where(col(Learner.seen_at) >= since)
    rows = session.exec(wanted.order_by(col(Learner.seen_at), Learner.id)).all()
    return [(id_, zone, seen) for id_, zone, seen in rows if id_ not in away]


def _zone(session: Session, learner_id: str) -> str | None:
    learner = session.get(Learner, learner_id)
    return None if learner is None or learner.merged_into else learner.zone
