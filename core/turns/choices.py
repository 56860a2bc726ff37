"""Answers to tap below a question of the tutor's: a press is what the learner says next.

A button names its turn and the number of the answer; what it says stands in the message that the
turn sent. A question that something was said after is not open any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from sqlmodel import Session, col, select

from core.commands.request import Action, Answer, Reply, Request, Rerun
from core.context import Press, Text
from core.document import Button, Document, plain
from core.outbox import post
from core.store.session import Store
from core.store.tables import Conversation, Line, Turn
from core.turns.answers import CanEdit, answer_of, shown_as

_NAME: Final = "pick"
_LABEL: Final = 32
"""Characters of a button."""
_ROW: Final = 30
"""Characters of the labels that share a row."""


def offered(markdown: str, choices: Sequence[str], turn_id: str) -> Document:
    """Return a question with its answers as buttons, by letters where one is too long for that."""
    labels = list(choices)
    if any(len(choice) > _LABEL for choice in choices):
        labels = [chr(ord("A") + n) for n in range(len(choices))]
        listed = [f"**{label}** {plain(each)}" for label, each in zip(labels, choices, strict=True)]
        markdown = "\n\n".join((markdown, *listed))
    buttons = [
        Button(label=label, action=f"{_NAME}:{turn_id}:{n}") for n, label in enumerate(labels)
    ]
    if sum(map(len, labels)) <= _ROW:
        return Document(markdown=markdown, buttons=(tuple(buttons),))
    return Document(markdown=markdown, buttons=tuple((button,) for button in buttons))


def remembered(text: str, choices: Sequence[str]) -> str:
    """Return the question as the history keeps it, with the answers that were offered."""
    return "\n".join((text, "", *(f"- {choice}" for choice in choices))) if choices else text


def picked(session: Session, action: str) -> str | None:
    """Return what a press said; None for what is no such button, or whose question is gone."""
    name, _, rest = action.partition(":")
    turn = session.get(Turn, rest.partition(":")[0]) if name == _NAME else None
    sent = answer_of(session, turn) if turn else None
    if sent is None:
        return None
    rows = Document.model_validate_json(sent.document).buttons
    return next((one.label for row in rows for one in row if one.action == action), None)


def pick(store: Store, can_edit: CanEdit) -> Action:
    """The buttons under such a question; only those of the one who was asked."""

    async def handle(request: Request) -> Answer:
        return await store.write(partial(_pick, request=request, can_edit=can_edit))

    return Action(_NAME, handle)


def _pick(session: Session, request: Request, can_edit: CanEdit) -> Reply | Rerun:
    words, message = request.words, request.message
    assert isinstance(message.content, Press)
    turn = session.get(Turn, request.arguments.partition(":")[0])
    label = picked(session, message.content.action)
    if label is None or turn is None:
        return _say(words("This button is out of date. /help shows what I can do."))
    if turn.learner_id != request.learner_id:
        return _say(words("Only the person I asked can answer with these buttons."))
    conversation = session.get_one(Conversation, turn.conversation_id)
    last = session.exec(
        select(Line.turn_id)
        .where(Line.conversation_id == conversation.id, col(Line.id) > conversation.history_from)
        .order_by(col(Line.id).desc())
    ).first()
    if last != turn.id or turn.conversation_id != request.conversation_id:
        return _say(words("We have gone on since. Write your answer, and I take it up."))
    _mark(session, turn, label, request, can_edit)
    content = Text(text=label)
    said = message.model_copy(update={"content": content})
    return Rerun(said, persona=turn.persona, capability=turn.capability)


def _mark(session: Session, turn: Turn, label: str, request: Request, can_edit: CanEdit) -> None:
    """Let the question show what was chosen, without its buttons, where that can be."""
    sent = answer_of(session, turn)
    target = request.message.target
    edits = shown_as(session, sent, target) if sent and can_edit(target) else ()
    if sent is None or not edits:
        return
    before = Document.model_validate_json(sent.document)
    post(
        session,
        key=f"{_NAME}:{turn.id}",
        target=target,
        document=Document(markdown=f"{before.markdown}\n\n✓ {plain(label)}"),
        now=request.now,
        language=sent.language,
        conversation_id=sent.conversation_id,
        learner_id=sent.learner_id,
        edits=edits,
    )


def _say(text: str) -> Reply:
    return Reply(Document(markdown=text))
