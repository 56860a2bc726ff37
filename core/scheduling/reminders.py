"""What a learner asked to be reminded of: said once, at the wall-clock time they meant.

The wall-clock time is the truth; the instant is computed from it with the learner's zone, anew when
they move. A sweep that comes late says so. Every function but ``send_due`` runs inside the caller's
transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session, col, select

from core.clock import local_instant, standing
from core.context import ReplyTarget
from core.document import Document, plain
from core.i18n import Language, Words, language_from, words_for
from core.ids import new_id
from core.outbox import post
from core.store.session import Store
from core.store.tables import Learner, Reminder

log = logging.getLogger(__name__)

MOST: Final = 50
"""Reminders a learner can have waiting."""
LONGEST: Final = 500
"""Characters of what is to be said."""
FARTHEST: Final = timedelta(days=2 * 366)
LATE: Final = timedelta(minutes=10)
"""A reminder that comes later than this names the time it was meant for."""
_A_SWEEP: Final = 500


class Refused(Enum):
    """Why a reminder is not taken."""

    PAST = auto()
    TOO_FAR = auto()
    TOO_MANY = auto()
    NOWHERE = auto()
    """The learner has no chat of their own in which they could be reminded."""


def remind(
    session: Session, learner: Learner, text: str, wall: datetime, now: datetime
) -> Reminder | Refused:
    """Keep a reminder for ``wall``, a naive time on the learner's clock.

    One that waits already, with the same words for the same time, is kept once.
    """
    at = _instant(wall, learner)
    if at <= now:
        return Refused.PAST
    if at > now + FARTHEST:
        return Refused.TOO_FAR
    if learner.home is None:
        return Refused.NOWHERE
    before = waiting(session, learner.id)
    same = next((one for one in before if (one.due_at, one.text) == (at, text[:LONGEST])), None)
    if same is not None:
        return same
    if len(before) >= MOST:
        return Refused.TOO_MANY
    reminder = Reminder(
        id=new_id(now),
        learner_id=learner.id,
        text=text[:LONGEST],
        wall=wall.isoformat(timespec="minutes"),
        due_at=at,
        created_at=now,
    )
    session.add(reminder)
    return reminder


def waiting(session: Session, learner_id: str) -> Sequence[Reminder]:
    """Return what a learner will be reminded of, the next one first."""
    return session.exec(
        select(Reminder)
        .where(Reminder.learner_id == learner_id, col(Reminder.sent_at).is_(None))
        .order_by(col(Reminder.due_at))
    ).all()


def cancel(session: Session, learner_id: str, reminder_id: str) -> bool:
    """Take a reminder back; False when it is not there, or was said already."""
    reminder = session.get(Reminder, reminder_id)
    if reminder is None or reminder.learner_id != learner_id or reminder.sent_at is not None:
        return False
    session.delete(reminder)
    return True


def move(session: Session, learner: Learner) -> None:
    """Compute the instants anew: the learner's clock shows another time now."""
    for reminder in waiting(session, learner.id):
        reminder.due_at = _instant(datetime.fromisoformat(reminder.wall), learner)


async def send_due(store: Store, as_of: datetime, now: datetime, language: Language) -> int:
    """Say what is due at ``as_of``, each once, whoever else looks; return how many.

    ``language`` is that of learners whose app tells none.
    """
    return await store.write(partial(_send, as_of=as_of, now=now, language=language))


def _send(session: Session, as_of: datetime, now: datetime, language: Language) -> int:
    due = session.exec(
        select(Reminder, Learner)
        .join(Learner, col(Learner.id) == col(Reminder.learner_id))
        .where(
            col(Reminder.sent_at).is_(None),
            col(Reminder.due_at) <= as_of,
            col(Learner.home).is_not(None),
        )
        .order_by(col(Reminder.due_at))
        .limit(_A_SWEEP)
    ).all()
    sent = 0
    for reminder, learner in due:
        words = words_for(learner.language or language_from(learner.home_language, language))
        parcel = post(
            session,
            key=f"reminder:{reminder.id}",
            target=ReplyTarget.model_validate_json(learner.home or ""),
            document=Document(markdown=_said(words, reminder, learner, as_of)),
            now=now,
            language=words.language,
            learner_id=learner.id,
        )
        reminder.sent_at = now
        sent += parcel is not None
    return sent


def _said(words: Words, reminder: Reminder, learner: Learner, as_of: datetime) -> str:
    text = words("You asked me to remind you: {text}", text=plain(reminder.text))
    if as_of - reminder.due_at <= LATE:
        return text
    zone = ZoneInfo(standing(learner.zone))
    day = words.day(reminder.due_at.astimezone(zone).date(), as_of.astimezone(zone).date())
    late = words(
        "(This was meant for {day} at {time}; I could not write earlier.)",
        day=day,
        time=words.time(reminder.due_at, zone.key),
    )
    return "\n\n".join((text, f"*{late}*"))


def _instant(wall: datetime, learner: Learner) -> datetime:
    return local_instant(wall.date(), wall.time(), ZoneInfo(standing(learner.zone)))
