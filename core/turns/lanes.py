"""One lane a conversation: its jobs run in order; lanes run side by side."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from core.context import InboundMessage, LearnerId

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Job:
    """A committed inbound event on its way to an answer."""

    inbound_id: int
    message: InboundMessage
    learner_id: LearnerId
    language: str
    zone: str
    owner: bool
    conversation_id: str
    shared: bool
    stopped: bool = False
    """A person stopped it: its end is recorded by the stop, not by the turn itself."""


@dataclass(slots=True)
class _Lane:
    waiting: deque[Job] = field(default_factory=deque)
    job: Job | None = None
    task: asyncio.Task[None] | None = None


class Lanes:
    """Runs ``work(job)`` for every job; ``work`` handles its own errors."""

    def __init__(self, work: Callable[[Job], Awaitable[None]]) -> None:
        self._work = work
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
            return
        lane = self._lanes[job.conversation_id] = _Lane(deque([job]))
        driver = asyncio.create_task(self._drive(job.conversation_id, lane))
        self._drivers.add(driver)
        driver.add_done_callback(self._drivers.discard)

    def running(self, conversation_id: str) -> Job | None:
        """The job under way in a conversation."""
        lane = self._lanes.get(conversation_id)
        return lane.job if lane else None

    def edit(self, inbound_id: int, conversation_id: str, message: InboundMessage) -> None:
        """Replace the message of a job that waits or runs; a running turn keeps it as history."""
        lane = self._lanes.get(conversation_id)
        for job in (*lane.waiting, lane.job) if lane else ():
            if job and job.inbound_id == inbound_id:
                job.message = message

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
            lane.task = asyncio.ensure_future(self._work(lane.job))
            await asyncio.wait([lane.task])
            if not lane.task.cancelled() and (error := lane.task.exception()):
                log.error("a turn broke its own guard", exc_info=error)
        del self._lanes[conversation_id]
