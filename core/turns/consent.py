"""A tool's question whether it may: asked with buttons, kept over a restart, gone after an hour.

The turn that asks ends with the question. The learner's decision is another event, whose answer is
the rest of the turn: the waiting calls are made once, or the model is told that they may not be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlmodel import Session, col, delete, select

from core.commands.request import Action, Answer, Reply, Request, Rerun
from core.context import ReplyTarget, Role
from core.document import Button, Document
from core.i18n import Words, words_for
from core.llm.port import ToolCall
from core.loop.host import Decision
from core.loop.saved import RoundDone
from core.outbox import post
from core.store.session import Store, insert_rows
from core.store.tables import Consent, ConsentState, Line, Turn
from core.turns.answers import CanEdit, answer_of, shown_as
from core.turns.regenerate import asked, once_more

PATIENCE: Final = timedelta(hours=1)
"""How long a question waits for its answer."""
KEPT: Final = timedelta(days=1)
"""How long a decided one is remembered, so that a second press hears what was decided."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a turn that waits leaves behind."""

    id: str
    message_id: str
    """Of the learner's question."""
    calls: tuple[ToolCall, ...]
    rounds: RoundDone
    sentences: tuple[str, ...]
    """What each call would do, as Markdown in the learner's language."""

    def keep(self, session: Session, turn_id: str, now: datetime) -> None:
        """Write it down with the turn that asks."""
        row = {
            "id": self.id,
            "turn_id": turn_id,
            "message_id": self.message_id,
            "calls": json.dumps([call.id for call in self.calls]),
            "rounds": json.dumps(self.rounds.to_json(), ensure_ascii=False),
            "state": ConsentState.OPEN,
            "expires_at": now + PATIENCE,
            "created_at": now,
        }
        insert_rows(session, Consent, row)

    def document(self, words: Words) -> Document:
        """Return the question, with a button for each answer."""
        lines = [f"- {sentence}" for sentence in self.sentences]
        buttons = (
            Button(label=words("Yes"), action=f"consent:yes:{self.id}"),
            Button(label=words("No"), action=f"consent:no:{self.id}"),
        )
        text = words("May I do this?")
        return Document(markdown="\n".join((text, "", *lines)), buttons=(buttons,))


def consent(store: Store, can_edit: CanEdit) -> Action:
    """The buttons under such a question; only the asker's count, and only the first press."""

    async def handle(request: Request) -> Answer:
        # Decided before the call is made: another press finds it so, whatever happens to the call.
        return await store.write(partial(_decide, request=request, can_edit=can_edit))

    return Action("consent", handle)


def _decide(session: Session, request: Request, can_edit: CanEdit) -> Reply | Rerun:
    words, press = request.words, request.message
    answer, _, consent_id = request.arguments.partition(":")
    row = session.get(Consent, consent_id)
    turn = session.get(Turn, row.turn_id) if row else None
    question = row and asked(session, press.target, row.message_id)
    if row is None or turn is None or not question or answer not in ("yes", "no"):
        return _say(words("This button is out of date. /help shows what I can do."))
    if question.message.sender.account != press.sender.account:
        return _say(words("Only the person who asked can decide this."))
    if row.state == ConsentState.OPEN and row.expires_at <= request.now:
        row.state = ConsentState.EXPIRED
    if row.state != ConsentState.OPEN and row.decided_by != press.message_id:
        return _say(_decided(words, row.state))
    row.state = ConsentState.ALLOWED if answer == "yes" else ConsentState.DENIED
    row.decided_by = press.message_id
    said = words("You said yes.") if answer == "yes" else words("You said no.")
    if can_edit(press.target):
        _mark(session, row, said, request.now, can_edit)
    decision = Decision.ALLOWED if answer == "yes" else Decision.DENIED
    again = once_more(session, request, question, can_edit)
    return replace(
        again,
        persona=turn.persona,
        capability=turn.capability,
        resume=RoundDone.from_json(json.loads(row.rounds)),
        decisions=dict.fromkeys(json.loads(row.calls), decision),
    )


def _decided(words: Words, state: ConsentState) -> str:
    match state:
        case ConsentState.ALLOWED:
            return words("You have said yes to that already.")
        case ConsentState.DENIED:
            return words("You have said no to that already.")
        case _:
            return words("That has run out. Ask me again, and I'll ask you anew.")


def _say(text: str) -> Reply:
    return Reply(Document(markdown=text))


def expire(session: Session, now: datetime, can_edit: CanEdit) -> int:
    """Let questions run out whose time is over, each with a note; return how many did."""
    waiting = select(Consent).where(
        Consent.state == ConsentState.OPEN, col(Consent.expires_at) <= now
    )
    count = 0
    for row in session.exec(waiting).all():
        row.state = ConsentState.EXPIRED
        count += _mark(session, row, None, now, can_edit)
    session.exec(
        delete(Consent).where(
            col(Consent.state) != ConsentState.OPEN, col(Consent.expires_at) < now - KEPT
        )
    )
    return count


def withdraw(session: Session, conversation_id: str, message_id: str) -> None:
    """Let nothing be decided any more of a question that was answered anew."""
    rows = session.exec(
        select(Consent)
        .join(Turn, col(Turn.id) == col(Consent.turn_id))
        .where(
            Consent.message_id == message_id,
            Turn.conversation_id == conversation_id,
            Consent.state == ConsentState.OPEN,
        )
    ).all()
    for row in rows:
        row.state = ConsentState.WITHDRAWN


def _mark(
    session: Session, row: Consent, said: str | None, now: datetime, can_edit: CanEdit
) -> bool:
    """Take the buttons off a question and say below it what became of it; None is its end.

    Where nothing can be replaced, the end is a message of its own.
    """
    turn = session.get_one(Turn, row.turn_id)
    sent = answer_of(session, turn)
    if sent is None:
        return False
    target = ReplyTarget.model_validate_json(sent.target)
    edits = shown_as(session, sent, target) if can_edit(target) else ()
    words = words_for(sent.language)
    text = said or words(
        "I waited an hour for your yes or no, and left it. Ask me again if you still want it."
    )
    before = Document.model_validate_json(sent.document).markdown
    if said is None:
        insert_rows(
            session,
            Line,
            {
                "conversation_id": turn.conversation_id,
                "turn_id": turn.id,
                "role": Role.TUTOR,
                "learner_id": turn.learner_id,
                "message_id": row.message_id,
                "text": text,
            },
        )
    return bool(
        post(
            session,
            key=f"consent:{row.id}",
            target=target,
            document=Document(markdown=f"{before}\n\n{text}" if edits else text),
            now=now,
            language=sent.language,
            conversation_id=sent.conversation_id,
            learner_id=sent.learner_id,
            edits=edits,
        )
    )
