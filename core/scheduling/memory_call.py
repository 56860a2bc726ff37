"""One call of a model about a learner's memory, from the request to the row that says what it cost.

Whatever goes wrong (no answer, nonsense, half an answer, files that changed meanwhile) the files
stay as they were, and the row says so; when to try again is decided from these rows
(``core.scheduling.consolidation``), so it survives a restart.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import Clock, standing
from core.ids import new_id
from core.llm.port import ChatMessage, ChatModel
from core.loop.gates import Budget
from core.loop.single import Unanswered, single
from core.memory_tuning import MemoryTuning
from core.store.session import Store, insert_rows
from core.store.tables import Consolidation, ConsolidationOutcome
from core.turns.metered import Metered, Tally
from memory.consolidate import conclude
from memory.history import Drifted
from memory.layers import LearnerFolder, MemoryBusy, MemoryElsewhere
from memory.ops import Unreadable
from memory.tasks import Task, next_task

log = logging.getLogger(__name__)

TIMES: Final = 3
"""Requests for one step when the files keep changing under it."""
WINDOW_SHARE: Final = 0.7
"""Of what a model's window leaves beside the answer: token counts are estimates."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one step."""

    outcome: ConsolidationOutcome
    counts: Mapping[str, int] = field(default_factory=dict)
    """Kind of operation → how many hold; ``refused:REASON`` → how many do not."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """Asks a model about memory."""

    store: Store
    clock: Clock
    memory: Path
    """Folder of all learners' memory."""
    model: ChatModel
    budget: Budget
    """Has the prices."""
    tuning: MemoryTuning

    async def step(
        self, learner_id: str, zone: str, *, night: date | None, tries: int
    ) -> Step | None:
        """Make the next step for a learner; None when nothing is left.

        ``night`` and ``tries`` are those of ``memory.tasks.next_task``. Raises MemoryBusy,
        MemoryElsewhere or OSError when the files cannot be read.
        """
        folder = LearnerFolder(self.memory, learner_id)
        total = 0
        step: Step | None = None
        for _ in range(TIMES):
            task = await asyncio.to_thread(
                next_task, folder, self._tokens(), night=night, tries=tries
            )
            if task is None:
                return step
            step = await self._made(folder, task, zone)
            total += step.tokens
            if step.outcome is not ConsolidationOutcome.DRIFTED:
                break
        return step and Step(step.outcome, step.counts, total)

    def _tokens(self) -> int:
        window = self.model.window
        if window is None:
            return self.tuning.request_tokens
        left = int(WINDOW_SHARE * (window - self.tuning.answer_tokens))
        return max(1_000, min(self.tuning.request_tokens, left))

    async def _made(self, folder: LearnerFolder, task: Task, zone: str) -> Step:
        started = self.clock.now()
        tally = Tally()
        counts: Counter[str] = Counter()
        outcome, answer = await self._ask(task, tally)
        if answer is not None:
            today = started.astimezone(ZoneInfo(standing(zone))).date()
            try:
                done = await asyncio.to_thread(conclude, folder, task, answer, today, new_id)
            except Unreadable as error:
                log.warning("a model's answer about memory cannot be used: %s", error)
                outcome = ConsolidationOutcome.UNREADABLE
            except Drifted:
                log.info("memory changed while a model was asked about it")
                outcome = ConsolidationOutcome.DRIFTED
            except (MemoryBusy, MemoryElsewhere, OSError) as error:
                log.warning("memory cannot be written now, it will be later: %s", error)
                outcome = ConsolidationOutcome.FAILED
            else:
                counts.update(done.done)
                counts.update({f"refused:{why}": n for why, n in done.refused.items()})
        row = self._row(folder.learner, task, outcome, tally, counts, started)
        await self.store.insist(lambda session: _keep(session, row))
        log.info("memory: %s %s, %s", task.stage, outcome, dict(counts))
        usage = tally.usage
        return Step(outcome, counts, usage.prompt_tokens + usage.completion_tokens)

    async def _ask(self, task: Task, tally: Tally) -> tuple[ConsolidationOutcome, str | None]:
        """Return the answer, or None with the reason why there is none."""
        messages = (ChatMessage("system", task.system), ChatMessage("user", task.user))
        try:
            answer = await single(
                Metered(self.model, self.budget, tally),
                messages,
                max_tokens=self.tuning.answer_tokens,
                seconds=self.tuning.deadline_seconds,
                json_object=True,
                whole=True,
            )
        except Unanswered as error:
            log.warning("the model cannot be asked about memory: %s", error)
            if error.of_request:
                return ConsolidationOutcome.UNREADABLE, None
            return ConsolidationOutcome.FAILED, None
        return ConsolidationOutcome.DONE, answer

    def _row(
        self,
        learner_id: str,
        task: Task,
        outcome: ConsolidationOutcome,
        tally: Tally,
        counts: Mapping[str, int],
        started: datetime,
    ) -> dict[str, object]:
        return {
            "id": new_id(),
            "learner_id": learner_id,
            "stage": task.stage.value,
            "outcome": outcome,
            "model": tally.model,
            "prompt_tokens": tally.usage.prompt_tokens,
            "completion_tokens": tally.usage.completion_tokens,
            "cost": tally.cost,
            "counts": json.dumps(counts, sort_keys=True),
            "started_at": started,
            "ended_at": self.clock.now(),
        }


def _keep(session: Session, row: Mapping[str, object]) -> None:
    insert_rows(session, Consolidation, row)
