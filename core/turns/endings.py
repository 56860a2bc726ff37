"""How a turn that the model was asked for ends: what is said, kept as history, and remembered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from core.commands.request import Rerun
from core.context import InboundMessage, Text, UnifiedContext
from core.document import Document
from core.i18n import N_, Words, words_for
from core.ids import new_id
from core.limits import Scope
from core.loop.gates import Outcome, StopReason
from core.turns.attachments import Gathered, above
from core.turns.choices import offered, remembered
from core.turns.consent import Asked
from core.turns.finish import Ending
from core.turns.journal import as_asked
from core.turns.lanes import Job
from core.turns.promises import Promise, with_truth
from core.turns.wording import failure, out_of_budget, stays, too_long
from memory.journal import Event
from memory.layers import Surface
from personas.persona import Persona

LIMIT: Final = "limit"
"""Reason of a turn for which nothing may be spent today."""
FORWARDED: Final = N_("(forwarded this message without a word of their own)")
"""Stands for the text of a message that is nothing but a quote."""
UNSPOKEN: Final = N_(
    "(sent this without a word of their own: what is it, and what can be done with it?)"
)
"""Stands for the text of a message that is nothing but attachments. Both are said to the model, in
the learner's language, since it answers in the one that it reads."""
KEPT_ANSWER: Final = 2_000
"""Characters of an answer that go into the journal."""


@dataclass(frozen=True, slots=True)
class Endings:
    """The endings of one turn."""

    job: Job
    turn_id: str
    started: datetime
    again: Rerun
    """The question, and how it is run where that is not for the first time."""

    @property
    def question(self) -> InboundMessage:
        """What is answered: the job's own message, or an earlier one."""
        return self.again.question

    @property
    def words(self) -> Words:
        """The words of the learner's language."""
        return words_for(self.job.language)

    @property
    def written(self) -> str:
        """What the learner wrote; may be empty."""
        content = self.question.content
        return content.text if isinstance(content, Text) else ""

    @property
    def wordless(self) -> str:
        """What stands for a question without own words."""
        return self.words(UNSPOKEN if self.question.attachments else FORWARDED)

    def too_long(self, limit: int) -> Ending:
        """The question is longer than ``limit`` tokens."""
        return Ending(
            reason=StopReason.CONTEXT_FULL,
            document=Document(markdown=too_long(self.words, self.written, limit)),
            started_at=self.started,
        )

    def too_dear(self, scope: Scope, from_then: datetime) -> Ending:
        """Nothing may be spent on it before that moment."""
        asked = self.question.message_id
        return Ending(
            reason=LIMIT,
            document=out_of_budget(
                self.words, scope, self.started, from_then, self.job.zone, asked
            ),
            answers=asked,
            learner_words=(self.written.strip() or self.wordless) if self._first else None,
            started_at=self.started,
        )

    def unread(self, came: Gathered) -> Ending:
        """Nothing came that the model could be asked about: the learner hears why."""
        event = came.event(self.started, self._at)
        said = above(came.notices, "")
        return Ending(
            reason=StopReason.ANSWERED,
            document=Document(markdown=said),
            answers=self.question.message_id,
            learner_words=self.wordless if self._first else None,
            tutor_words=None if self.again.answered else said,
            attached=came.attached("") if self._first else "",
            events=(event,) if event and self._first else (),
            started_at=self.started,
        )

    def of(
        self,
        outcome: Outcome,
        context: UnifiedContext,
        persona: Persona,
        capability: str,
        came: Gathered,
        since: Sequence[str],
        consent: Sequence[str],
        kept: Collection[Promise],
    ) -> Ending:
        """The model was asked.

        ``since`` is what the learner wrote during the turn; ``consent`` says what the calls would
        do that wait for it; ``kept`` are the promises that a tool kept.
        """
        words, tally = self.words, self.job.tally
        said = outcome.text.strip()
        told = with_truth(said, kept, words)
        asked: Asked | None = None
        document: Document | None
        if outcome.saved is not None:
            asked = Asked(
                new_id(), self.question.message_id, outcome.pending, outcome.saved, tuple(consent)
            )
            said = told = ""  # what it has said is a part of the answer that follows
            document = asked.document(words)
        elif outcome.hand_over is not None:
            said = told = ""  # the command's answer is the answer
            document = None
        elif self.again.answered and not _whole(outcome):
            said = told = ""
            document = stays(words, self.turn_id)
        elif said:
            document = offered(above(came.notices, told), outcome.choices, self.turn_id)
            told = remembered(told, outcome.choices)
        else:
            failed = failure(words, persona, outcome.reason, self.turn_id, self.question.message_id)
            document = failed.model_copy(update={"markdown": above(came.notices, failed.markdown)})
        return Ending(
            reason=outcome.reason,
            document=document,
            answers=self.question.message_id,
            learner_words=context.text if self._first else "\n".join(since) or None,
            tutor_words=told or None,
            attached=came.attached(self.written) if self._first else "",
            events=self._events(context.text, said, came, since),
            prompt_tokens=tally.usage.prompt_tokens,
            completion_tokens=tally.usage.completion_tokens,
            model=tally.model,
            cost=tally.cost,
            persona=persona.id,
            capability=capability,
            asked=asked,
            hand_over=outcome.hand_over,
            started_at=self.started,
        )

    def _events(
        self, text: str, said: str, came: Gathered, since: Sequence[str]
    ) -> tuple[Event, ...]:
        """What the journal says of the turn: once what was asked, once what was answered."""
        events = []
        if self._first and (sent := came.event(self.started, self._at)) is not None:
            events.append(sent)
        own = [text] if self._first and text != self.words(UNSPOKEN) else []
        if own := [*own, *since]:
            events.append(self._event(as_asked("\n".join(own), self.question.chat_kind)))
        if said and not self.again.answered:
            kept = said if len(said) <= KEPT_ANSWER else f"{said[:KEPT_ANSWER]} …"
            events.append(self._event(f"answered: {kept}"))
        return tuple(events)

    def _event(self, text: str) -> Event:
        return Event(new_id(self.started), self._at, Surface.CHAT, text)

    @property
    def _first(self) -> bool:
        """The question is the job's own; else it stands in the history already."""
        return self.question.message_id == self.job.message.message_id

    @property
    def _at(self) -> datetime:
        return self.started.astimezone(ZoneInfo(self.job.zone))


def _whole(outcome: Outcome) -> bool:
    """An answer that may take the place of another one."""
    answered = outcome.reason is StopReason.ANSWERED or outcome.closing_answered
    return answered and bool(outcome.text.strip())
