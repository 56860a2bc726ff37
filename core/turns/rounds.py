"""The loop's host in the house: corrections come in, and each round is kept for a restart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.context import InboundMessage, Text
from core.i18n import N_, words_for
from core.loop.host import LoopHost
from core.turns.lanes import Job

REWORDED = N_("(I have changed my question. It reads now:)")
"""Said to the model, in the learner's language, above the new text of a question."""


class TurnHost(LoopHost):
    """Serves the loop of one job. ``corrections`` takes what corrects it out of its lane."""

    def __init__(self, job: Job, corrections: Callable[[Job], Sequence[InboundMessage]]) -> None:
        self._job = job
        self._corrections = corrections
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
        for message in self._corrections(job):
            text = message.content.text if isinstance(message.content, Text) else ""
            self.said.append(text)
            joining.append(text)
        return joining
