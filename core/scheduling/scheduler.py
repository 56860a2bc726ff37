"""APScheduler as the clockwork of a serving process: a sweep a minute, in UTC."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

log = logging.getLogger(__name__)

SWEEP_SECONDS = 60


class Scheduler:
    """Runs the sweep from ``start`` to ``stop``. A missed run is made up for once."""

    def __init__(self, sweep: Callable[[], Awaitable[object]]) -> None:
        self._sweep = sweep
        self._clockwork = AsyncIOScheduler(timezone=UTC)

    def start(self) -> None:
        """Start; the first sweep runs after one interval."""
        self._clockwork.add_job(
            self._guarded,
            IntervalTrigger(seconds=SWEEP_SECONDS, timezone=UTC),
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
        self._clockwork.start()

    def stop(self) -> None:
        """Stop; a sweep under way is not waited for (its rows are whole or absent)."""
        if self._clockwork.running:
            self._clockwork.shutdown(wait=False)

    async def _guarded(self) -> None:
        """The one guard at the top of a sweep: the next one comes in any case."""
        try:
            await self._sweep()
        except Exception:
            log.exception("a sweep failed; the next one tries again")
