"""A turn that the model answers: gathers its context, runs the capability, words its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.capabilities.answer import answer
from core.capabilities.capability import Capability
from core.capabilities.choose import choose
from core.capabilities.registry import capability, of_persona
from core.clock import study_date
from core.commands.request import Rerun
from core.context import (
    Attachment,
    ChatKind,
    HistoryLine,
    InboundMessage,
    Text,
    UnifiedContext,
)
from core.events import TurnEvent
from core.learning.deck import due_count
from core.learning.quiz import note as quiz_note
from core.limits import Scope
from core.llm.port import ChatModel
from core.loop.gates import Budget, prompt_limit
from core.partners import Partners
from core.persona import chosen_persona, resolve, tuned
from core.reading.reader import Fetch, Reader
from core.spending import Spending
from core.store.session import Store
from core.tools.registry import ToolRegistry
from core.turns.attachments import (
    ATTACHED,
    EXCHANGES,
    gather,
    newest_picture,
)
from core.turns.endings import Endings
from core.turns.finish import Ending
from core.turns.history import history
from core.turns.lanes import Job
from core.turns.metered import Metered
from core.turns.promises import receipts
from core.turns.rounds import Corrections, TurnHost
from memory.document import Audience
from memory.layers import LearnerFolder
from memory.recall import estimate_tokens, view
from personas.persona import Persona, PersonaLibrary

VIEW_TOKENS, SMALL_VIEW_TOKENS = 1_500, 100
"""Budget of the memory view, for real models and for small ones."""
PROMPT_TOKENS = 1_500
"""Room kept for everything around the learner's own text when its length is judged."""
_ABOUT_CHARACTERS = 4_000
"""Of a long message the beginning tells what it is about."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    history: tuple[HistoryLine, ...]
    limit: Scope | None
    """Whose limit of the day is reached."""
    picture: Attachment | None
    """The picture that the talk may still be about."""
    persona: Persona
    notes: str


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """Answers questions with the model."""

    store: Store
    personas: PersonaLibrary
    partners: Partners
    model: ChatModel
    tools: ToolRegistry
    budgets: Mapping[str, Budget]
    """By the name of the capability; one that is not there has its built-in budget."""
    reader: Reader
    spending: Spending
    memory: Path
    """Folder of all learners' memory."""
    corrections: Corrections
    """Takes what corrects a job under way into it."""

    async def run(
        self,
        job: Job,
        turn_id: str,
        started: datetime,
        emit: Callable[[TurnEvent], None],
        fetch: Fetch,
        again: Rerun,
    ) -> Ending:
        """Answer a question. Every failure of the model is an ending, in words.

        ``fetch`` gets attachments from the channel that the question came by; ``again`` has the
        question, and says how it is run where it is not for the first time.
        """
        question = again.question
        end = Endings(job, turn_id, started, again)
        text = end.written
        loaded = await self.store.read(lambda session: self._load(session, job, started, again))
        ways = self._ways(loaded.persona, again)
        limit = prompt_limit(self._budget(ways[0]), self.model.window) - PROMPT_TOKENS
        if estimate_tokens(text) > limit:
            return end.too_long(limit)
        if loaded.limit is not None:
            if loaded.limit is Scope.TOTAL:
                await self.store.write(
                    lambda session: self.spending.tell_owners(session, started, but=job.learner_id)
                )
            return end.too_dear(loaded.limit, self.spending.starts_again(started))
        model = self.model
        if loaded.persona.model.name is not None:
            model = model.named(loaded.persona.model.name)
        came = await gather(
            question,
            self.reader,
            fetch,
            end.words,
            sees=model.sees_images,
            earlier=loaded.picture,
        )
        text = "\n\n".join(part for part in (text, came.spoken) if part.strip())
        about = text or came.readable or (question.quote and question.quote.text.strip())
        if came.notices and not about:
            return end.unread(came)
        # A group reads the answer, whoever shares the conversation.
        private = question.chat_kind is ChatKind.PRIVATE
        context = UnifiedContext(
            turn_id=turn_id,
            learner_id=job.learner_id,
            language=job.language,
            zone=job.zone,
            now=started,
            conversation_id=job.conversation_id,
            chat_kind=question.chat_kind,
            shared=job.shared,
            speaker=question.sender.name,
            text=text or end.wordless,
            quote=question.quote,
            materials=came.materials,
            history=loaded.history,
            memory_view=loaded.notes,
            persona_id=loaded.persona.id,
            target=question.target,
        )
        host = TurnHost(job, self.corrections, self.store)
        metered = Metered(self.model, self._budget(ways[0]), job.tally)
        chosen = capability(host.kept.capability) if host.kept else None
        if chosen is None:
            named = loaded.persona.model.name
            asked = metered.named(named) if named is not None else metered
            chosen = await choose(asked, context.text, ways)
        host.capability = chosen.name
        budget = self._budget(chosen)
        outcome = await answer(
            chosen,
            context=context,
            persona=loaded.persona,
            model=metered,
            tools=self.tools.select(chosen.allows(loaded.persona.tools), private=private),
            budget=tuned(budget, loaded.persona, small=self.model.small),
            emit=emit,
            host=host,
            resume=host.kept.rounds if host.kept else again.resume,
            decisions=again.decisions,
        )
        consent = [self.tools.question(call, end.words) for call in outcome.pending]
        rounds = host.done or again.resume
        kept = receipts(rounds.history if rounds else ())
        return end.of(outcome, context, loaded.persona, chosen.name, came, host.said, consent, kept)

    def _ways(self, persona: Persona, again: Rerun) -> tuple[Capability, ...]:
        """The capabilities that may answer, the likeliest first."""
        wanted = capability(again.capability or "")
        if wanted is not None and wanted.name in persona.capabilities:
            return (wanted,)
        ways = of_persona(persona.capabilities)
        return ways if persona.routing == "classifier" and not self.model.small else ways[:1]

    def _budget(self, way: Capability) -> Budget:
        return self.budgets.get(way.name, way.budget)

    def _load(self, session: Session, job: Job, now: datetime, again: Rerun) -> _Loaded:
        question = again.question
        persona = chosen_persona(
            session,
            self.personas,
            job.learner_id,
            job.conversation_id,
            self.partners.of(question.target).persona,
        )
        persona = resolve(self.personas, again.persona, persona.id)
        if again.model is not None:
            overrides = persona.model.model_copy(update={"name": again.model})
            persona = persona.model_copy(update={"model": overrides})
        budget = self._budget(self._ways(persona, again)[0])
        talk = history(
            session,
            job.conversation_id,
            question.message_id,
            prompt_limit(budget, self.model.window) // 2,
            shared=job.shared,
        )
        recent = any(ATTACHED in line.text for line in talk[-2 * EXCHANGES :])
        return _Loaded(
            talk,
            self.spending.reached(session, now, job.learner_id),
            newest_picture(session, job.conversation_id, question.target) if recent else None,
            persona,
            self._notes(session, job, question, study_date(now, ZoneInfo(job.zone))),
        )

    def _notes(self, session: Session, job: Job, question: InboundMessage, today: date) -> str:
        """What is known about the learner; the files are read in the store's thread as well."""
        folder = LearnerFolder(self.memory, job.learner_id)
        private = question.chat_kind is ChatKind.PRIVATE
        audience = Audience.PRIVATE if private else Audience.GROUP
        said = question.content.text if isinstance(question.content, Text) else ""
        about = f"{said}\n{question.quote.text}" if question.quote else said
        budget = SMALL_VIEW_TOKENS if self.model.small else VIEW_TOKENS
        notes = view(folder, audience, budget, about[:_ABOUT_CHARACTERS])
        if not private:
            return notes
        due = due_count(session, job.learner_id, today)
        lines = [notes, f"- Cards due for review today: {due}" if due else ""]
        lines.append(quiz_note(session, job.conversation_id, job.learner_id))
        return "\n".join(filter(None, lines))
