"""What a turn said, and the messages that show it."""

from __future__ import annotations

from collections.abc import Callable

from sqlmodel import Session, col, select

from core.context import ReplyTarget
from core.store.tables import Delivered, Outgoing, Turn

CanEdit = Callable[[ReplyTarget], bool]
"""Tells of an address whether messages can be replaced there."""


def answer_of(session: Session, turn: Turn) -> Outgoing | None:
    """Return what a turn said."""
    return session.exec(
        select(Outgoing).where(Outgoing.key == f"inbound:{turn.inbound_id}")
    ).first()


def shown_as(session: Session, sent: Outgoing, target: ReplyTarget) -> tuple[str, ...]:
    """Return the messages of something said, in order, that can be replaced from ``target``.

    None where it was said in another chat.
    """
    parts = session.exec(
        select(Delivered).where(Delivered.outgoing_id == sent.id).order_by(col(Delivered.part))
    ).all()
    here = all(
        (one.channel, one.account, one.chat) == (target.channel, target.account, target.chat)
        for one in parts
    )
    return tuple(one.message_id for one in parts) if here else ()
