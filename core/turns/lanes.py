"""One lane a conversation: its jobs run in order; lanes run side by side.

Messages that belong together become one job: those that wait already when their turn comes, and
those that the rest of is on its way (an album, a cut text), for which the job waits a moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import timedelta

from core.context import InboundMessage, LearnerId, Text
from core.events import Growing
from core.turns.correction import corrects
from core.turns.joining import MOST, belongs_to, expects_more, joined
from core.turns.metered import Tally

log = logging.getLogger(__name__)


PATIENCE = 0.8
"""Seconds to wait for the rest of an album or of a cut text, anew after each piece."""


@dataclass(slots=True, eq=False)
class Job:
    """A committed inbound event on its way to an answer, with those that belong to it."""

    inbound_id: int
    message: InboundMessage
    """What the event says, together with those that joined it."""
    learner_id: LearnerId
    language: str
    zone: str
    owner: bool
    conversation_id: str
    shared: bool
    stopped: bool = False
    """A person stopped it: its end is recorded by the stop, not by the turn itself."""
    preview: str | None = None
    """Handle of the preview that stands where the answer will be."""
    again: bool = False
    """An earlier process may have begun to answer it."""
    rounds: str | None = None
    """How far an earlier process had come with it (``core.turns.rounds.Kept``)."""
    busy: bool = False
    """It is for a conversation where nothing is under way, and came while something was."""
    said: Growing = field(default_factory=Growing)
    """As much of the answer as was shown."""
    tally: Tally = field(default_factory=Tally)
    """What the model's calls for it took."""
    reworded: str | None = None
    """Its text as it was edited while it is being answered; None once the model knows."""
    _parts: dict[int, InboundMessage] = field(default_factory=dict)

    @property
    def inbound_ids(self) -> tuple[int, ...]:
        """Ids of the events in it; ``inbound_id`` comes first."""
        return tuple(self._parts) or (self.inbound_id,)

    @property
    def messages(self) -> tuple[InboundMessage, ...]:
        """The events in it, in the same order."""
        return tuple(self._parts.values()) or (self.message,)

    def join(self, other: Job) -> None:
        """Take in another job that belongs to this one."""
        self._parts = self._parts or {self.inbound_id: self.message}
        self._parts[other.inbound_id] = other.message
        self._reread()

    def edit(self, inbound_id: int, message: InboundMessage) -> None:
        """Replace one of its events by a new version."""
        self._parts = self._parts or {self.inbound_id: self.message}
        # What a platform tells of an edit need not repeat what came with the message.
        kept = self._parts[inbound_id]
        self._parts[inbound_id] = message.model_copy(
            update={"attachments": message.attachments or kept.attachments, "album": kept.album}
        )
        self._reread()

    def _reread(self) -> None:
        if isinstance(self.message.content, Text):  # a button stays what was pressed
            self.message = joined(list(self._parts.values()))

    @property
    def last(self) -> InboundMessage:
        """The newest of its events."""
        return next(reversed(self._parts.values()), self.message)


@dataclass(slots=True)
class _Lane:
    waiting: deque[Job] = field(default_factory=deque)
    job: Job | None = None
    task: asyncio.Task[None] | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)


class Lanes:
    """Runs ``work(job)`` for every job; ``work`` handles its own errors."""

    def __init__(
        self, work: Callable[[Job], Awaitable[None]], *, within: timedelta = timedelta(0)
    ) -> None:
        """Waiting messages are one job when no more than ``within`` lies between them."""
        self._work = work
        self._within = within
        self._lanes: dict[str, _Lane] = {}
        self._drivers: set[asyncio.Task[None]] = set()
        self._closing = False

    def put(self, job: Job) -> None:
        """Queue a job behind the others of its conversation."""
        if self._closing:
            return  # it is committed: the next start takes it up
        lane = self._lanes.get(job.conversation_id)
        if lane:
            lane.waiting.append(job)
            lane.arrived.set()
            return
        lane = self._lanes[job.conversation_id] = _Lane(deque([job]))
        driver = asyncio.create_task(self._drive(job.conversation_id, lane))
        self._drivers.add(driver)
        driver.add_done_callback(self._drivers.discard)

    def running(self, conversation_id: str) -> Job | None:
        """The job under way in a conversation."""
        lane = self._lanes.get(conversation_id)
        return lane.job if lane else None

    def corrections(self, job: Job, known: Collection[int]) -> list[tuple[int, InboundMessage]]:
        """Take what waits and corrects the job under way into that job; return it in order.

        What stands behind something else of the same person may mean that instead, and waits.
        ``known`` are events that had joined it before a restart.
        """
        lane = self._lanes.get(job.conversation_id)
        taken: list[tuple[int, InboundMessage]] = []
        if lane is None or lane.job is not job:
            return taken
        account = job.message.sender.account
        waits = False
        for other in [one for one in lane.waiting if one.message.sender.account == account]:
            waits = waits or len(job.inbound_ids) >= MOST
            waits = waits or not corrects(other.message, job.messages)
            if not waits or other.inbound_id in known:
                lane.waiting.remove(other)
                job.join(other)
                taken.append((other.inbound_id, other.message))
        return taken

    def edit(self, inbound_id: int, conversation_id: str, message: InboundMessage) -> None:
        """Replace the message of a job that waits or runs; a turn under way is told of it."""
        lane = self._lanes.get(conversation_id)
        if lane is None:
            return
        for job in (*lane.waiting, lane.job):
            if job and inbound_id in job.inbound_ids:
                job.edit(inbound_id, message)
                whole = job.message.content if job is lane.job else None
                if isinstance(whole, Text):
                    job.reworded = whole.text

    def follow(self, accounts: Collection[str], learner_id: LearnerId) -> None:
        """Let what waits and runs of some accounts be another learner's from now on."""
        for lane in self._lanes.values():
            for job in (*lane.waiting, lane.job):
                if job and job.message.sender.account in accounts:
                    job.learner_id = learner_id

    def engaged(self, conversation_id: str) -> bool:
        """Tell whether something runs or waits in a conversation."""
        return conversation_id in self._lanes

    async def stop(self, conversation_id: str) -> Job | None:
        """Cancel the job under way and wait for its end; the next one follows by itself."""
        lane = self._lanes.get(conversation_id)
        if not lane or not lane.job or not lane.task:
            return None
        job, task = lane.job, lane.task
        job.stopped = True
        task.cancel()
        await asyncio.wait([task])
        return job

    @property
    def busy(self) -> bool:
        """Something runs or waits."""
        return bool(self._drivers)

    async def idle(self) -> None:
        """Wait until every lane is empty."""
        while self._drivers:
            await asyncio.wait(self._drivers)

    async def drain(self, seconds: float) -> None:
        """Take no new jobs, give those under way some seconds, then cancel them.

        What is cancelled or still waits stays in the inbox for the next start.
        """
        self._closing = True
        for lane in self._lanes.values():
            lane.waiting.clear()
        if self._drivers:
            await asyncio.wait(self._drivers, timeout=seconds)
        for lane in self._lanes.values():
            if lane.task:
                lane.task.cancel()
        if self._drivers:
            await asyncio.wait(self._drivers)

    async def _drive(self, conversation_id: str, lane: _Lane) -> None:
        while lane.waiting:
            lane.job = lane.waiting.popleft()
            lane.task = asyncio.ensure_future(self._begin(lane, lane.job))
            await asyncio.wait([lane.task])
            if not lane.task.cancelled() and (error := lane.task.exception()):
                log.error("a turn broke its own guard", exc_info=error)
        del self._lanes[conversation_id]

    async def _begin(self, lane: _Lane, job: Job) -> None:
        while len(job.inbound_ids) < MOST:
            lane.arrived.clear()
            if lane.waiting:
                if not belongs_to(job.last, lane.waiting[0].message, self._within):
                    break
                job.join(lane.waiting.popleft())
            elif expects_more(job.last) and not self._closing:
                try:
                    await asyncio.wait_for(lane.arrived.wait(), PATIENCE)
                except TimeoutError:
                    break
            else:
                break
        await self._work(job)
