"""Where a channel's talk goes on: what a door needs to ask its platform for what it missed."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session, col, func, select

from core.channel import Known
from core.store.tables import Conversation, Inbound
from core.turns.conversation import chat_in

MOST_CHATS: Final = 50
LATELY: Final = 20_000
"""Newest events, of all accounts, that are looked through: the whole inbox may be long."""


def lately(session: Session) -> int:
    """Return the number of an event; those after it came lately."""
    return (session.exec(select(func.max(Inbound.id))).one() or 0) - LATELY


def known(session: Session, channel: str, account: str) -> Known | None:
    """Return how far an account's events are known, None where none came lately.

    Only chats in which somebody may learn count: nothing is read where only strangers wrote.
    """
    own = (
        col(Inbound.id) > lately(session),
        Inbound.channel == channel,
        Inbound.account == account,
    )
    newest = session.exec(
        select(col(Inbound.message_id)).where(*own).order_by(col(Inbound.id).desc()).limit(1)
    ).first()
    if newest is None:
        return None
    keys = session.exec(
        select(col(Conversation.key))
        .join(Inbound, col(Inbound.conversation_id) == col(Conversation.id))
        .where(*own)
        .order_by(col(Inbound.id).desc())
    )
    chats = dict.fromkeys(map(chat_in, keys))
    return Known(newest, tuple(chats)[:MOST_CHATS])
