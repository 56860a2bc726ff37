"""A chat that is closed to us: what was to be said there is given up, and said to be.

Who closes their own chat with the tutor, on purpose or not, gets no reminder and no answer there.
They are told so once, in the other place where they last spoke with the tutor, and never what was
to be said.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError
from sqlmodel import Session, col, func, select

from core import outbox
from core.context import InboundMessage, ReplyTarget
from core.document import Document
from core.i18n import words_for
from core.outbox import Parcel
from core.store.tables import Conversation, Inbound, Learner, Line
from core.turns.conversation import private_key
from core.turns.places import lately

RECENT: Final = timedelta(days=30)
"""Where somebody was longer ago they do not look for word from us."""


def close(session: Session, parcel: Parcel, now: datetime) -> Parcel | None:
    """Give up a parcel for a chat that is closed; return what its learner is told elsewhere.

    None where it was not their own chat, was told already since they last wrote there, or where
    there is no other place.
    """
    outbox.fail(session, parcel)
    learner = session.get(Learner, parcel.learner_id) if parcel.learner_id else None
    if learner is None or learner.home is None:
        return None
    home = ReplyTarget.model_validate_json(learner.home)
    if _chat(home) != _chat(parcel.target):
        return None
    place = _elsewhere(session, learner.id, home, now)
    if place is None:
        return None
    words = words_for(parcel.language)
    text = words(
        "I could not write to you in private. If you want to hear from me there, unblock me or "
        "allow direct messages from here, and then say hello to me in private."
    )
    return outbox.post(
        session,
        key=f"closed:{learner.id}:{home.chat}:{_last_word(session, home)}",
        target=place,
        document=Document(markdown=text),
        now=now,
        language=parcel.language,
        learner_id=learner.id,
    )


def _chat(target: ReplyTarget) -> tuple[str, str, str]:
    return target.channel, target.account, target.chat


def _last_word(session: Session, home: ReplyTarget) -> int:
    """Number the times that a private chat was open by what was last said there."""
    newest = session.exec(
        select(func.max(Line.id))
        .join(Conversation, col(Conversation.id) == col(Line.conversation_id))
        .where(Conversation.key == private_key(home))
    ).one()
    return newest or 0


def _elsewhere(
    session: Session, learner_id: str, home: ReplyTarget, now: datetime
) -> ReplyTarget | None:
    """The address of what a learner last said in any other chat, to be quoted there."""
    said = session.exec(
        select(col(Inbound.message))
        .where(
            col(Inbound.id) > lately(session),
            Inbound.learner_id == learner_id,
            Inbound.received_at >= now - RECENT,
        )
        .order_by(col(Inbound.id).desc())
    )
    for message in said:
        try:
            target = InboundMessage.model_validate_json(message or "").target
        except ValidationError:  # another version stored it
            continue
        if _chat(target) != _chat(home):
            return target
    return None
