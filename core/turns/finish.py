"""The end of a turn: one transaction that settles the event, its history and its answer.

The inbox row is marked done only together with the outbox row that answers it. A process killed
before this leaves a queued event, which is answered at the next start; killed after it, a pending
answer, which is sent then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter
from sqlmodel import Session, col, update

from core.commands.request import EndedTurn
from core.context import InboundMessage, Role, Text
from core.document import Document
from core.outbox import Parcel, post
from core.store.session import insert_rows, update_where
from core.store.tables import Inbound, InboundState, Line, Turn
from core.tools.registry import HandOver
from core.turns.consent import Asked, withdraw
from core.turns.joining import question_of
from core.turns.lanes import Job
from memory.journal import Event

EVENTS = TypeAdapter(tuple[Event, ...])
KEPT_QUOTE = 1_000
"""Characters of a quoted message that go into the history."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends."""

    reason: str
    """``core.loop.gates.StopReason`` of a chat turn; ``command`` for everything else."""
    document: Document | None
    """The answer; None for a turn that was stopped, whose stop is answered instead, and for a
    command that was not meant for us."""
    edits: tuple[str, ...] = ()
    """Platform ids of the messages that the answer replaces, part by part."""
    preview: str | None = None
    """Handle of the preview whose place the answer takes."""
    answers: str | None = None
    """``InboundMessage.message_id`` of the question; None for what is no conversation."""
    learner_words: str | None = None
    tutor_words: str | None = None
    attached: str = ""
    """What came with the learner's words, for the history."""
    """What goes into the history of the conversation. A question answered at the second try
    stands there already, so only the tutor's words are new."""
    events: tuple[Event, ...] = ()
    """What goes into the learner's journal."""
    ended: EndedTurn | None = None
    """Another turn that this one ended, whose events are still to be written."""
    language: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str | None = None
    """The model that answered; None where none was asked."""
    cost: float | None = None
    """Money, where a price is known."""
    persona: str | None = None
    """Id of the persona that was asked."""
    capability: str | None = None
    """Name of the capability that answered."""
    asked: Asked | None = None
    """The turn waits for the learner's decision."""
    hand_over: HandOver | None = None
    """A command that is still to give the answer."""
    started_at: datetime = field(kw_only=True)


def settle(session: Session, job: Job) -> bool:
    """Mark a job's event as done; False when it was done before: then nothing may follow.

    It comes first in the transaction, so that whatever the answer changes happens once.
    """
    equal = {"id": job.inbound_id, "state": InboundState.QUEUED}
    if update_where(session, Inbound, equal, {"state": InboundState.DONE, "rounds": None}) != 1:
        return False
    for part in job.inbound_ids[1:]:
        done = {"state": InboundState.DONE, "part_of": job.inbound_id}
        update_where(session, Inbound, {"id": part}, done)
    return True


def record(
    session: Session, job: Job, turn_id: str, ending: Ending, now: datetime
) -> Parcel | None:
    """Write how a settled job ended: the turn, its history, its answer."""
    insert_rows(
        session,
        Turn,
        {
            "id": turn_id,
            "inbound_id": job.inbound_id,
            "conversation_id": job.conversation_id,
            "learner_id": job.learner_id,
            "reason": ending.reason,
            "prompt_tokens": ending.prompt_tokens,
            "completion_tokens": ending.completion_tokens,
            "model": ending.model,
            "cost": ending.cost,
            "persona": ending.persona,
            "capability": ending.capability,
            "events": EVENTS.dump_json(ending.events).decode() if ending.events else None,
            "started_at": ending.started_at,
            "ended_at": now,
        },
    )
    if ending.tutor_words and ending.answers and ending.answers != job.message.message_id:
        _supersede(session, job.conversation_id, ending.answers, turn_id)
    if ending.asked is not None:
        ending.asked.keep(session, turn_id, now)
    lines = [
        {
            "conversation_id": job.conversation_id,
            "turn_id": turn_id,
            "role": role,
            "speaker": job.message.sender.name if role is Role.LEARNER else None,
            "learner_id": job.learner_id,
            "message_id": ending.answers,
            "text": text,
        }
        for role, text in (
            (Role.LEARNER, ending.learner_words and _by_now(session, job, ending)),
            (Role.TUTOR, ending.tutor_words),
        )
        if text
    ]
    if lines:
        insert_rows(session, Line, *lines)
    if ending.document is None:
        return None
    return post(
        session,
        key=f"inbound:{job.inbound_id}",
        target=job.message.target,
        document=ending.document,
        now=now,
        language=ending.language or job.language,
        conversation_id=job.conversation_id,
        learner_id=job.learner_id,
        edits=ending.edits,
        preview=ending.preview,
    )


def _supersede(session: Session, conversation_id: str, message_id: str, turn_id: str) -> None:
    """Let an earlier answer to a question be one that stands no more."""
    session.exec(
        update(Line)
        .where(
            col(Line.conversation_id) == conversation_id,
            col(Line.message_id) == message_id,
            col(Line.role) == Role.TUTOR,
            col(Line.superseded_by).is_(None),
        )
        .values(superseded_by=turn_id)
    )
    withdraw(session, conversation_id, message_id)


def _by_now(session: Session, job: Job, ending: Ending) -> str:
    """What the learner said, for the history: it may have been edited during the turn."""
    question = question_of(session, job.inbound_id)
    words = ending.learner_words or ""
    said = as_said(question, words) if question else words
    return f"{said}\n\n{ending.attached}" if ending.attached else said


def as_said(message: InboundMessage, wordless: str) -> str:
    """A learner's message as a line of history; ``wordless`` stands for one without own words.

    What it refers to of somebody else's is kept with it: later turns would not know what was
    talked about.
    """
    own = message.content.text if isinstance(message.content, Text) else ""
    words = own if own.strip() else wordless
    quote = message.quote
    if quote is None or quote.from_tutor:
        return words
    cut = quote.text if len(quote.text) <= KEPT_QUOTE else f"{quote.text[:KEPT_QUOTE]} …"
    return f"{words}\n\n(about this message by {quote.author}: {cut})"
