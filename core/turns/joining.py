"""Messages that are one question: an album, a paste the app cut up, thoughts sent in a row.

Which messages belong together, and what they are together, are pure rules. Each message keeps its
own inbox row, so none is lost or answered twice whatever happens in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import chain, pairwise
from typing import Final

from sqlmodel import Session, col, or_, select

from core.context import InboundMessage, Text
from core.store.tables import Inbound

MOST: Final = 20
"""Messages of one question; whoever sends more gets more answers."""


def expects_more(message: InboundMessage) -> bool:
    """Tell whether the rest of this message may be on its way in a message of its own."""
    return isinstance(message.content, Text) and (message.cut or message.album is not None)


def belongs_to(before: InboundMessage, message: InboundMessage, within: timedelta) -> bool:
    """Tell whether ``message``, the next one of its conversation, goes on with ``before``.

    Two messages sent in a row do when no more than ``within`` lies between them.
    """
    if not (isinstance(before.content, Text) and isinstance(message.content, Text)):
        return False
    if before.sender.account != message.sender.account:
        return False
    if before.album is not None or message.album is not None:
        return before.album == message.album
    if message.quote is not None:
        return False  # it speaks of something else
    return before.cut or abs(message.received_at - before.received_at) < within


def joined(messages: Sequence[InboundMessage]) -> InboundMessage:
    """Return messages that belong together as one.

    It has the id of the first, and the address of the last, so that an answer stands below all of
    them. Where the app cut a text nothing is put between its pieces.
    """
    if len(messages) == 1:
        return messages[0]
    first, last = messages[0], messages[-1]
    return first.model_copy(
        update={
            "content": Text(text=_text(messages)),
            "target": last.target,
            "cut": last.cut,
            "attachments": tuple(chain.from_iterable(one.attachments for one in messages)),
            "quote": next((one.quote for one in messages if one.quote is not None), None),
        }
    )


def question_of(session: Session, inbound_id: int) -> InboundMessage | None:
    """Return the question that a stored message is a part of, as it stands now.

    None for a message that is not stored. Raises pydantic's ValidationError for one that a later
    version stored.
    """
    row = session.get(Inbound, inbound_id, populate_existing=True)
    if row is None:
        return None
    head = row.part_of or inbound_id
    stored = session.exec(
        select(col(Inbound.message))
        .where(or_(col(Inbound.id) == head, col(Inbound.part_of) == head))
        .order_by(col(Inbound.id))
    ).all()
    parts = [InboundMessage.model_validate_json(message) for message in stored if message]
    return joined(parts) if parts else None


def _text(messages: Sequence[InboundMessage]) -> str:
    pieces = [_own(messages[0])]
    for before, message in pairwise(messages):
        own = _own(message)
        if own and pieces[-1] and not before.cut:
            pieces.append("\n")
        pieces.append(own)
    return "".join(pieces)


def _own(message: InboundMessage) -> str:
    return message.content.text if isinstance(message.content, Text) else ""
