"""The outbox: what is to be said is a row before it is sent, and each step of sending is recorded.

    pending ──claim──▶ sending ──receipt──▶ pending (next part) … ──▶ sent
                          │
                          ├─ surely not delivered ──▶ pending, later
                          ├─ perhaps delivered ─────▶ pending where a second send shows once,
                          │                           else unknown, and one short notice
                          └─ refused for good ──────▶ failed

Only transactions live here; ``delivery`` talks to the channels.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import ValidationError
from sqlmodel import Session, col, select

from core.context import ReplyTarget
from core.document import Button, Document
from core.i18n import words_for
from core.ids import new_id
from core.store.session import insert_new, insert_rows, update_where
from core.store.tables import Delivered, Outgoing, OutgoingState

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Parcel:
    """An outgoing row on its way: the part of it that sending needs."""

    id: str
    key: str
    target: ReplyTarget
    document: Document
    edits: tuple[str, ...]
    """Platform ids of the messages that the first parts replace, in their order."""
    preview: str | None
    part: int
    attempts: int
    language: str
    conversation_id: str | None
    learner_id: str | None
    tried_at: datetime | None = None
    """When the present part was first sent without a known outcome."""

    @property
    def is_notice(self) -> bool:
        """It says something about another parcel."""
        return self.key.startswith("notice:")

    @property
    def concludes(self) -> bool:
        """The present part takes the place of a preview."""
        return self.preview is not None and self.part == 0

    @property
    def replaces(self) -> str | None:
        """Platform id of the message that the present part replaces."""
        return self.edits[self.part] if self.part < len(self.edits) else None

    def repeatable(self, now: datetime, seconds: float) -> bool:
        """True while the part may be sent again: what replaces always, else in the key's life."""
        tried = self.tried_at or now
        # A clock that was set back tells no age: a small step is forgiven, as one forward is.
        replaces = self.replaces is not None or self.concludes
        return replaces or abs(now - tried) < timedelta(seconds=seconds)


def post(
    session: Session,
    *,
    key: str,
    target: ReplyTarget,
    document: Document,
    now: datetime,
    language: str,
    conversation_id: str | None = None,
    learner_id: str | None = None,
    edits: Sequence[str] = (),
    preview: str | None = None,
) -> Parcel | None:
    """Put a document into the outbox within the caller's transaction.

    None when this cause (``key``) has been answered before: nothing is written then.
    """
    parcel = Parcel(
        id=new_id(),
        key=key,
        target=target,
        document=document,
        edits=tuple(edits),
        preview=preview,
        part=0,
        attempts=0,
        language=language,
        conversation_id=conversation_id,
        learner_id=learner_id,
    )
    row = {
        "id": parcel.id,
        "key": key,
        "channel": target.channel,
        "account": target.account,
        "chat": target.chat,
        "target": target.model_dump_json(exclude_defaults=True),
        "document": document.model_dump_json(exclude_defaults=True),
        "conversation_id": conversation_id,
        "learner_id": learner_id,
        "language": language,
        "edits": edits[0] if edits else None,
        "more_edits": json.dumps(edits[1:]) if len(edits) > 1 else None,
        "preview": preview,
        "state": OutgoingState.PENDING,
        "part": 0,
        "attempts": 0,
        "not_before": now,
        "created_at": now,
    }
    return parcel if insert_new(session, Outgoing, row, "key") else None


def free_key(session: Session, cause: str, most: int, now: datetime) -> str | None:
    """The next of ``most`` keys that a cause has in an hour of the clock; None when all are taken.

    The last one ends in ``most - 1``. The outbox keeps its keys apart, so they are counted without
    looking at anything else in it: who keeps coming costs the same however much was ever said.
    """
    hour = int(now.timestamp()) // 3600
    keys = [f"{cause}:{hour}:{number}" for number in range(most)]
    taken = set(session.exec(select(Outgoing.key).where(col(Outgoing.key).in_(keys))))
    return next((key for key in keys if key not in taken), None)


def _open(row: Outgoing) -> Parcel | None:
    """Read a row back; None for one that cannot be read (another version wrote it)."""
    try:
        target = ReplyTarget.model_validate_json(row.target)
        document = Document.model_validate_json(row.document)
    except ValidationError:
        log.exception("the outbox row %s cannot be read", row.key)
        return None
    return Parcel(
        id=row.id,
        key=row.key,
        target=target,
        document=document,
        edits=(row.edits, *json.loads(row.more_edits or "[]")) if row.edits else (),
        preview=row.preview,
        part=row.part,
        attempts=row.attempts,
        language=row.language,
        conversation_id=row.conversation_id,
        learner_id=row.learner_id,
        tried_at=row.tried_at,
    )


class Addressee(NamedTuple):
    """Whom a delivered message was said to, and in which conversation."""

    learner_id: str | None
    conversation_id: str | None


def addressee_of(session: Session, target: ReplyTarget, message_id: str) -> Addressee | None:
    """Look up one of our own messages in the target's chat; None for any other."""
    found = session.exec(
        select(col(Outgoing.learner_id), col(Outgoing.conversation_id))
        .join(Delivered, col(Delivered.outgoing_id) == col(Outgoing.id))
        .where(
            Delivered.channel == target.channel,
            Delivered.account == target.account,
            Delivered.chat == target.chat,
            Delivered.message_id == message_id,
        )
    ).first()
    return Addressee(*found) if found else None


class Waiting(NamedTuple):
    """What a channel may send now."""

    parcels: list[Parcel]
    """Oldest first."""
    unreadable: list[str]
    """Ids of rows that cannot be read, to be given up."""


def waiting(session: Session, channel: str, account: str, now: datetime) -> Waiting:
    """Look for what a channel may send now."""
    rows = session.exec(
        select(Outgoing)
        .where(
            Outgoing.state == OutgoingState.PENDING,
            Outgoing.channel == channel,
            Outgoing.account == account,
            Outgoing.not_before <= now,
        )
        .order_by(col(Outgoing.id))
        .limit(500)
    ).all()
    opened = [(row.id, _open(row)) for row in rows]
    return Waiting(
        [parcel for _, parcel in opened if parcel], [row_id for row_id, p in opened if p is None]
    )


def give_up(session: Session, ids: list[str]) -> None:
    """Put aside rows that cannot be read, so that they hold no other."""
    for row_id in ids:
        update_where(session, Outgoing, {"id": row_id}, {"state": OutgoingState.FAILED})


def claim(session: Session, parcel: Parcel, now: datetime) -> bool:
    """Mark the next part as being sent; False when the row is not ours to send any more."""
    parcel.tried_at = parcel.tried_at or now
    pending, sending = OutgoingState.PENDING, OutgoingState.SENDING
    return _move(session, parcel, pending, sending, tried_at=parcel.tried_at)


def receipt(
    session: Session, parcel: Parcel, chat: str, message_id: str, now: datetime, *, last: bool
) -> None:
    """Record one delivered part; ``parcel`` then stands at the next one."""
    insert_rows(
        session,
        Delivered,
        {
            "outgoing_id": parcel.id,
            "part": parcel.part,
            "channel": parcel.target.channel,
            "account": parcel.target.account,
            "chat": chat,
            "message_id": message_id,
            "at": now,
        },
    )
    after = OutgoingState.SENT if last else OutgoingState.PENDING
    _move(session, parcel, OutgoingState.SENDING, after, part=parcel.part + 1, tried_at=None)
    parcel.tried_at = None


def put_back(session: Session, parcel: Parcel, not_before: datetime) -> None:
    """Send again, not before that moment; the caller has settled ``attempts`` and ``tried_at``."""
    _move(
        session,
        parcel,
        OutgoingState.SENDING,
        OutgoingState.PENDING,
        not_before=not_before,
        attempts=parcel.attempts,
        tried_at=parcel.tried_at,
    )


def as_new_message(session: Session, parcel: Parcel) -> None:
    """The message to replace cannot be edited any more: say it anew."""
    parcel.edits, parcel.preview = (), None
    sending, pending = OutgoingState.SENDING, OutgoingState.PENDING
    _move(session, parcel, sending, pending, edits=None, more_edits=None, preview=None)


def done(session: Session, parcel: Parcel) -> None:
    """Leave out the rest, which is no part of the document."""
    _move(session, parcel, OutgoingState.SENDING, OutgoingState.SENT)


def fail(session: Session, parcel: Parcel) -> None:
    """Give up: the chat is closed to us, or the platform refuses the content."""
    _move(session, parcel, OutgoingState.SENDING, OutgoingState.FAILED)


def lose(session: Session, parcel: Parcel, now: datetime) -> Parcel | None:
    """The outcome of a send is unknown and a second one could show twice.

    The learner gets one short notice with a way to see the answer again; a lost notice gets none.
    """
    lost = _move(session, parcel, OutgoingState.SENDING, OutgoingState.UNKNOWN)
    if not lost or parcel.is_notice:
        return None
    words = words_for(parcel.language)
    document = Document(
        markdown=words("I'm not sure my last message reached you."),
        buttons=((Button(label=words("Show again"), action=f"show:{parcel.id}"),),),
    )
    return notice(session, parcel, document, now)


def notice(session: Session, parcel: Parcel, document: Document, now: datetime) -> Parcel | None:
    """Say something about a parcel, in its place, at most once."""
    return post(
        session,
        key=f"notice:{parcel.id}",
        target=parcel.target,
        document=document,
        now=now,
        language=parcel.language,
        conversation_id=parcel.conversation_id,
        learner_id=parcel.learner_id,
    )


def recover(
    session: Session, channel: str, account: str, now: datetime, *, repeatable_for: float
) -> int:
    """Settle what a killed process left in the state sending; return how many were lost.

    Only the process that holds the channel may call this, before it sends anything.
    """
    rows = session.exec(
        select(Outgoing).where(
            Outgoing.state == OutgoingState.SENDING,
            Outgoing.channel == channel,
            Outgoing.account == account,
        )
    ).all()
    lost = 0
    for row in rows:
        parcel = _open(row)
        if parcel is None:
            give_up(session, [row.id])
            continue
        if parcel.repeatable(now, repeatable_for):
            put_back(session, parcel, now)
        else:
            lose(session, parcel, now)
            lost += 1
    return lost


def _move(
    session: Session, parcel: Parcel, before: OutgoingState, after: OutgoingState, **values: object
) -> bool:
    equal = {"id": parcel.id, "state": before, "part": parcel.part}
    return update_where(session, Outgoing, equal, {"state": after, **values}) == 1
