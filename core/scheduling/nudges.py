"""Review nudges: a sweep plans what is due and writes it down, once.

What to do for a learner is decided by the pure rules in ``core.learning.digest``. A nudge is a row,
unique on learner, slot and local date, written in one transaction with the outbox row that carries
it; two sweeps at the same instant, in two processes, write one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial

from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col, select

from core.commands.cards import question
from core.context import ReplyTarget
from core.document import Button, Document
from core.i18n import N_, Language, Words, language_from, words_for
from core.learning import deck
from core.learning.digest import Kind, NotYet, PastNudge, Plan, plan
from core.logs import log_context
from core.outbox import post
from core.scheduling.reminders import send_due
from core.store.session import Store, insert_new
from core.store.tables import Card, Learner, Nudge

log = logging.getLogger(__name__)

OPENINGS = (
    N_("Good to see you. Time for a question?"),
    N_("A question from your cards:"),
    N_("Before you forget it:"),
    N_("Do you still know this one?"),
    N_("Two minutes for your cards?"),
    N_("Here is something you once knew:"),
)
"""Opening lines; one is taken after the other, so that none repeats for days."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep came to."""

    sent: int
    """Nudges and reminders written to the outbox."""
    looked_at: int
    """Learners with something due."""


async def sweep(store: Store, as_of: datetime, now: datetime, language: Language) -> Swept:
    """Plan the nudges due at ``as_of`` (UTC) and write them to the outbox.

    ``now`` is the real moment, for the rows' own times; ``language`` is that of learners whose
    app tells none. Quiet hours are judged at ``as_of``.
    """
    learners = await store.read(lambda session: _candidates(session, as_of))
    sent = 0
    for learner_id in learners:
        nudge = partial(_nudge, learner_id=learner_id, as_of=as_of, now=now, language=language)
        try:
            sent += await store.write(nudge)
        except SQLAlchemyError:
            raise  # the database's trouble is everybody's
        except Exception:  # the one guard of a learner's nudge: it holds up nobody else's
            with log_context(learner=learner_id):
                log.exception("a nudge could not be planned; the next sweep tries again")
    return Swept(sent + await send_due(store, as_of, now, language), len(learners))


def _candidates(session: Session, as_of: datetime) -> list[str]:
    """Learners with reminders, an own chat and a card due by the latest date on earth."""
    latest = (as_of + timedelta(hours=14)).date()
    due = select(Card.learner_id).where(Card.due_day <= latest)
    return list(
        session.exec(
            select(Learner.id)
            .where(
                col(Learner.reminders).is_(True),
                col(Learner.reminders_from).is_not(None),
                col(Learner.merged_into).is_(None),
                col(Learner.home).is_not(None),
                col(Learner.id).in_(due),
            )
            .order_by(Learner.id)
        ).all()
    )


def _nudge(
    session: Session, learner_id: str, as_of: datetime, now: datetime, language: Language
) -> bool:
    learner = session.get_one(Learner, learner_id)
    cards = deck.load(session, learner_id)
    outcome = plan(as_of, deck.learner_time(learner), cards, past_nudges(session, learner))
    if isinstance(outcome, NotYet):
        log.debug("no nudge: %s", outcome.reason)
        return False
    row = {
        "learner_id": learner_id,
        "slot": outcome.slot,
        "local_date": outcome.day,
        "kind": outcome.kind,
        "planned_at": as_of,
        "created_at": now,
    }
    if insert_new(session, Nudge, row, "learner_id", "slot", "local_date") is None:
        return False
    words = words_for(learner.language or language_from(learner.home_language, language))
    target = ReplyTarget.model_validate_json(learner.home or "")
    post(
        session,
        key=f"nudge:{learner_id}:{outcome.slot}:{outcome.day}",
        target=target,
        document=_document(session, words, outcome),
        now=now,
        language=words.language,
        learner_id=learner_id,
    )
    log.info("nudge planned: %s of %s", outcome.kind, outcome.day)
    return True


def past_nudges(session: Session, learner: Learner) -> list[PastNudge]:
    """Return the nudges since the learner was last seen, and the latest one in any case.

    A row written before the learner's last word was not ignored, whenever it was planned for.
    """
    rows = session.exec(
        select(Nudge)
        .where(Nudge.learner_id == learner.id)
        .order_by(col(Nudge.local_date).desc())
        .limit(60)
    ).all()
    return [
        PastNudge(
            day=row.local_date,
            at=row.planned_at,
            kind=Kind(row.kind),
            slot=row.slot,
            answered=row.created_at <= learner.seen_at,
        )
        for row in reversed(rows)
    ]


def _document(session: Session, words: Words, outcome: Plan) -> Document:
    if outcome.kind is Kind.GOODBYE:
        text = words(
            "My reminders don't seem to help at the moment, so I'll stop them. Your cards stay; "
            "write to me whenever you like."
        )
        return Document(markdown=text)
    first = session.get_one(Card, outcome.cards[0])
    text, show = question(words, first, 0, len(outcome.cards))
    lines = [words(OPENINGS[outcome.day.toordinal() % len(OPENINGS)]), text]
    if outcome.next_due_day is not None:
        lines.append(_small(words, outcome.next_due_day, outcome.day))
    later = Button(label=words("In an hour"), action="snooze:1h")
    change = Button(label=words("Change time"), action="reminder:change")
    off = Button(label=words("No reminders"), action="reminder:off")
    return Document(markdown="\n\n".join(lines), buttons=((show,), (later, change, off)))


def _small(words: Words, following: date, today: date) -> str:
    return "*" + words("The next reminder comes {day}.", day=words.day(following, today)) + "*"
