"""The consent to reminders: the first saved card says when one will come, and how to decline."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import standing
from core.document import Button, Document, plain
from core.i18n import Words
from core.learning import deck
from core.learning.digest import next_reminder
from core.store.tables import Learner


def reminders_begin(
    session: Session, learner: Learner, words: Words, now: datetime
) -> Document | None:
    """Note that reminders begin with the card just saved; return what tells the learner.

    None when they were told before, or when there is no chat to remind them in.
    """
    if learner.reminders_from is not None:
        return None
    learner.reminders_from = now
    zone = ZoneInfo(standing(learner.zone))
    first = next_reminder(now, deck.learner_time(learner), deck.load(session, learner.id))
    if first is None or learner.home is None:
        return None
    text = words(
        "I'll ask you {day} at {time} ({zone} time).",
        day=words.day(first.astimezone(zone).date(), now.astimezone(zone).date()),
        time=words.time(first, zone.key),
        zone=plain(zone.key),
    )
    change = Button(label=words("Change time"), action="reminder:change")
    decline = Button(label=words("No reminders"), action="reminder:off")
    return Document(markdown=text, buttons=((change, decline),))
