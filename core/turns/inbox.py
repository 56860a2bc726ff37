"""The rows of the inbox: an event, whose conversation it belongs to, and what an edit changes.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError
from sqlalchemy import bindparam
from sqlmodel import Session, col, insert, select, update

from core.context import InboundMessage, Press, Role, Text
from core.ids import new_id
from core.outbox import addressee_of
from core.store.session import insert_new
from core.store.tables import Account, Conversation, Inbound, InboundState, Learner, Line
from core.turns.conversation import Whose, conversation_key, whose
from core.turns.finish import as_said
from core.turns.joining import question_of

log = logging.getLogger(__name__)


class EditedJob(NamedTuple):
    """A new version of a message that may still be waiting."""

    inbound_id: int
    conversation_id: str
    message: InboundMessage


_KNOWN = (
    select(Account, Learner)
    .join(Learner, col(Learner.id) == col(Account.learner_id), isouter=True)
    .where(col(Account.id).in_(bindparam("accounts", expanding=True)))
)
_CONVERSATION = select(col(Conversation.id)).where(Conversation.key == bindparam("key"))


def known(session: Session, accounts: Iterable[str]) -> dict[str, tuple[Account, Learner | None]]:
    """Return the accounts that wrote before, by their ids, with the learner behind each."""
    rows = session.exec(_KNOWN, params={"accounts": list(accounts)}).all()
    return {account.id: (account, learner) for account, learner in rows}


def insert_event(
    session: Session,
    message: InboundMessage,
    learner_id: str | None,
    conversation_id: str | None,
    now: datetime,
) -> int | None:
    """Insert an event; None when it is there already. Without a learner it is wordless."""
    row = {
        "channel": message.target.channel,
        "account": message.target.account,
        "message_id": message.message_id,
        "sender": message.sender.account,
        "conversation_id": conversation_id,
        "learner_id": learner_id,
        "message": _stored(message) if learner_id else None,
        "state": InboundState.QUEUED if learner_id else InboundState.REFUSED,
        "received_at": now,
    }
    written = insert_new(session, Inbound, row, "channel", "account", "message_id")
    return written[0] if written else None


def _stored(message: InboundMessage) -> str:
    # Defaults are written out: the kind of a content is one, and it cannot be read back without.
    return message.model_dump_json(exclude_none=True)


def read_event(row: Inbound) -> InboundMessage | None:
    """Return a stored message; None for one that cannot be read (another version wrote it)."""
    try:
        return InboundMessage.model_validate_json(row.message or "")
    except ValidationError as error:  # its text would show what was written
        log.error("stored event %s cannot be read: %s", row.id, error.title)
        return None


def conversation_of(
    session: Session, message: InboundMessage, learner_id: str, now: datetime
) -> tuple[str, bool]:
    """Id of the message's conversation, made when new, and whether several people share it."""
    sharing = whose(message)
    if sharing is Whose.ASKER:
        joined = _joined(session, message, learner_id)
        if joined:
            return joined, True
    shared = sharing is not Whose.LEARNER
    key = conversation_key(message)
    found = session.exec(_CONVERSATION, params={"key": key}).first()
    if found:
        return found, shared
    made = new_id()
    session.exec(
        insert(Conversation).values(id=made, key=key, shared=shared, history_from=0, created_at=now)
    )
    return made, shared


def _joined(session: Session, message: InboundMessage, learner_id: str) -> str | None:
    """The conversation of the tutor's message that this one replies to, or whose button it is.

    A button said to somebody else is pressed for oneself, so it joins nothing.
    """
    quote, content = message.quote, message.content
    if isinstance(content, Press):
        said = addressee_of(session, message.target, content.origin)
        return said.conversation_id if said and said.learner_id == learner_id else None
    if quote is None or not quote.from_tutor or quote.message_id is None:
        return None
    said = addressee_of(session, message.target, quote.message_id)
    return said.conversation_id if said else None


def put_edit(session: Session, message: InboundMessage) -> list[EditedJob]:
    """Put an edit where it belongs: the queued message, or the history. It never runs anything."""
    row = session.exec(
        select(Inbound).where(
            Inbound.channel == message.target.channel,
            Inbound.account == message.target.account,
            Inbound.message_id == message.message_id,
        )
    ).first()
    if row is None or row.message is None or row.sender != message.sender.account:
        return []
    before = InboundMessage.model_validate_json(row.message)
    if not isinstance(before.content, Text) or not isinstance(message.content, Text):
        return []  # a command or a button is not rewritten by an edit
    row.message = _stored(message)
    if row.state == InboundState.QUEUED:
        return [EditedJob(row.id or 0, row.conversation_id or "", message)]
    session.flush()
    question = question_of(session, row.id or 0)
    if question is not None:
        session.exec(
            update(Line)
            .where(
                col(Line.conversation_id) == row.conversation_id,
                col(Line.message_id) == question.message_id,
                col(Line.role) == Role.LEARNER,
            )
            .values(text=as_said(question, message.content.text))
        )
    return []
