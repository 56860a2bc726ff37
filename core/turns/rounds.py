"""The loop's host in the house: corrections come in, and each round is kept for a restart."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Self

from core.context import InboundMessage, Text
from core.i18n import N_, words_for
from core.llm.port import Usage
from core.loop.host import LoopHost
from core.loop.saved import RoundDone
from core.store.session import Store, update_where
from core.store.tables import Inbound
from core.turns.lanes import Job
from core.turns.metered import Tally

log = logging.getLogger(__name__)

REWORDED = N_("(I have changed my question. It reads now:)")
"""Said to the model, in the learner's language, above the new text of a question."""

Corrections = Callable[[Job, Collection[int]], Sequence[tuple[int, InboundMessage]]]
"""See ``Lanes.corrections``."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How far the turn of an event has come: its rounds, and what they took."""

    rounds: RoundDone
    joined: tuple[int, ...]
    """Ids of the events that had joined it by then; what they say is in the rounds."""
    tally: Tally
    capability: str
    """Name of the one that answers."""

    def to_json(self) -> str:
        """Return it as it is stored."""
        usage = self.tally.usage
        return json.dumps(
            {
                "rounds": self.rounds.to_json(),
                "joined": self.joined,
                "usage": [usage.prompt_tokens, usage.completion_tokens],
                "cost": self.tally.cost,
                "model": self.tally.model,
                "capability": self.capability,
            },
            ensure_ascii=False,
        )

    @classmethod
    def of(cls, stored: str | None) -> Self | None:
        """Undo ``to_json``; None for a turn that begins, and for what another version stored."""
        if stored is None:
            return None
        try:
            data = json.loads(stored)
            prompt, completion = data["usage"]
            tally = Tally(Usage(prompt, completion), data["cost"], data["model"])
            return cls(
                RoundDone.from_json(data["rounds"]),
                tuple(data["joined"]),
                tally,
                data["capability"],
            )
        except (ValueError, KeyError, TypeError) as error:
            log.error("a turn that was under way begins anew: %r", error)
            return None


class TurnHost(LoopHost):
    """Serves the loop of one job. ``corrections`` takes what corrects it out of its lane."""

    def __init__(self, job: Job, corrections: Corrections, store: Store) -> None:
        self._job = job
        self._corrections = corrections
        self._store = store
        self.kept = Kept.of(job.rounds)
        """Where an earlier process left the turn."""
        if self.kept is not None:
            job.tally = self.kept.tally
        self.done = self.kept.rounds if self.kept is not None else None
        """How far the turn has come."""
        self.capability = ""
        """Name of the one that answers, once it is chosen."""
        self.said: list[str] = []
        """What the learner wrote since the turn began, as it joined it."""

    async def before_round(self, number: int) -> Sequence[str]:
        """Let join what corrects the question."""
        joining: list[str] = []
        job = self._job
        if job.reworded is not None:
            self.said.append(job.reworded)
            joining.append(f"{words_for(job.language)(REWORDED)}\n{job.reworded}")
            job.reworded = None
        known = self.kept.joined if self.kept else ()
        for inbound_id, message in self._corrections(job, known):
            text = message.content.text if isinstance(message.content, Text) else ""
            self.said.append(text)
            if inbound_id not in known:
                joining.append(text)
        return joining

    async def on_round(self, done: RoundDone) -> None:
        """Keep the round with the event, until its turn has ended."""
        self.done = done
        job = self._job
        rounds = Kept(done, job.inbound_ids[1:], job.tally, self.capability).to_json()
        await self._store.insist(
            lambda session: update_where(
                session, Inbound, {"id": job.inbound_id}, {"rounds": rounds}
            )
        )
