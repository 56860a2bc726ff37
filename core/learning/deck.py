"""A learner's cards in the database: adding, choosing, reviewing. The rules are in their own rooms.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from enum import Enum, auto
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, or_
from sqlmodel import Session, col, delete, func, select

from core.clock import standing
from core.ids import new_id
from core.learning import spacing
from core.learning.cards import LEECH_LAPSES, CardText, duplicate_key, sibling_key
from core.learning.digest import LearnerTime
from core.learning.selection import SESSION_LIMITS, DueCard, queue
from core.learning.spacing import RETENTION, Memory, Rating, Reviewed, State
from core.store.session import insert_new
from core.store.tables import Card, Learner, Review

_SIGN = 6
"""Characters at the end of a card's id, which are random: two of a thousand cards share them once
in two thousand learners."""


class Rated(Enum):
    """Why a rating was not applied."""

    NO_CARD = auto()
    """It is gone, or another learner's."""
    ALREADY = auto()
    """This very question was rated before (a second tap, an old message)."""


def load(session: Session, learner_id: str) -> tuple[DueCard, ...]:
    """All cards of a learner, as the rules see them."""
    rows = session.exec(select(Card).where(Card.learner_id == learner_id))
    return tuple(
        DueCard(row.id, sibling_key(row.front, row.back), row.created_day, memory_of(row))
        for row in rows
    )


def memory_of(card: Card) -> Memory | None:
    """The card's place on the forgetting curve; None for one never asked."""
    if card.stability is None or card.difficulty is None or card.last_day is None:
        return None
    return Memory(
        stability=card.stability,
        difficulty=card.difficulty,
        due_day=card.due_day,
        last_day=card.last_day,
        reps=card.reps,
        lapses=card.lapses,
        state=State(card.state or State.REVIEW),
    )


_DUE = (
    select(func.count())
    .select_from(Card)
    .where(
        Card.learner_id == bindparam("learner"),
        or_(Card.due_day <= bindparam("day"), col(Card.stability).is_(None)),
        Card.lapses < LEECH_LAPSES,
    )
)


def due_count(session: Session, learner_id: str, day: date) -> int:
    """How many cards ``/review`` has on a study day, new ones at once, before any limit."""
    return session.exec(_DUE, params={"learner": learner_id, "day": day}).one()


def add(session: Session, learner_id: str, text: CardText, day: date, now: datetime) -> Card | None:
    """Save a card; None when the learner has the same one already."""
    card = Card(
        id=new_id(),
        learner_id=learner_id,
        front=text.front,
        back=text.back,
        normal=duplicate_key(text.front, text.back),
        created_day=day,
        due_day=day + timedelta(days=1),
        created_at=now,
    )
    added = insert_new(session, Card, card.model_dump(), "learner_id", "normal")
    return card if added else None


def session_queue(session: Session, learner_id: str, day: date) -> list[Card]:
    """The cards of a ``/review`` now, in order, new ones at once."""
    cards = load(session, learner_id)
    chosen = queue(cards, day, limits=SESSION_LIMITS, new_at_once=True)
    ids = [card.card_id for card in chosen]
    rows = {row.id: row for row in session.exec(select(Card).where(col(Card.id).in_(ids)))}
    return [rows[card_id] for card_id in ids]


def own(session: Session, learner_id: str, card_id: str) -> Card | None:
    """A card of this learner; None for one that is gone or somebody else's."""
    card = session.get(Card, card_id)
    return card if card and card.learner_id == learner_id else None


def newest(session: Session, learner_id: str, wanted: str = "") -> list[Card]:
    """The learner's cards, newest first; those that have ``wanted`` on either side, in any case."""
    chosen = select(Card).where(Card.learner_id == learner_id).order_by(col(Card.id).desc())
    rows = session.exec(chosen).all()
    sought = wanted.casefold()
    return [card for card in rows if sought in f"{card.front}\n{card.back}".casefold()]


def sign(card: Card) -> str:
    """What people write to name a card: six letters and digits, of which two never look alike."""
    return card.id[-_SIGN:]


def signed(session: Session, learner_id: str, word: str) -> Card | None:
    """The learner's card with this sign, in any case; None for none, or for more than one."""
    if len(word) != _SIGN or not word.isascii() or not word.isalnum():
        return None
    chosen = select(Card).where(
        Card.learner_id == learner_id, col(Card.id).endswith(word.upper(), autoescape=True)
    )
    found = session.exec(chosen).all()
    return found[0] if len(found) == 1 else None


def change(session: Session, card: Card, text: CardText) -> bool:
    """Let a card say something else, in its place on the forgetting curve.

    False, and nothing changes, when the learner has another one that says the same.
    """
    normal = duplicate_key(text.front, text.back)
    same = select(Card.id).where(
        Card.learner_id == card.learner_id, Card.normal == normal, Card.id != card.id
    )
    if session.exec(same).first() is not None:
        return False
    card.front, card.back, card.normal = text.front, text.back, normal
    return True


def drop(session: Session, card: Card) -> None:
    """Delete a card with its reviews."""
    session.exec(delete(Review).where(col(Review.card_id) == card.id))
    session.delete(card)


def rate(
    session: Session,
    learner_id: str,
    card_id: str,
    nth: int,
    rating: Rating,
    day: date,
    now: datetime,
) -> tuple[Card, Reviewed] | Rated:
    """Apply a rating of the card's ``nth`` presentation (its ``reps`` at that time), once."""
    card = own(session, learner_id, card_id)
    if card is None:
        return Rated.NO_CARD
    if card.reps != nth:
        return Rated.ALREADY
    # A zone change westwards can make today an earlier day than the last review's.
    day = max(day, card.last_day or day)
    reviewed = spacing.review(memory_of(card), rating, day, seed=card.id)
    session.add(
        Review(
            card_id=card.id,
            nth=nth,
            learner_id=learner_id,
            rating=rating,
            retention=RETENTION,
            study_day=day,
            at=now,
        )
    )
    after = reviewed.memory
    card.stability, card.difficulty, card.state = after.stability, after.difficulty, after.state
    card.due_day, card.last_day = after.due_day, after.last_day
    card.reps, card.lapses = after.reps, after.lapses
    return card, reviewed


def learner_time(learner: Learner) -> LearnerTime:
    """A learner's habits as the planning rules take them."""
    return LearnerTime(
        zone=ZoneInfo(standing(learner.zone)),
        hour=time.fromisoformat(learner.reminder_time),
        enabled=learner.reminders,
        consent_at=learner.reminders_from,
        last_active=learner.seen_at,
        days=frozenset(map(int, learner.reminder_days)),
        cards=learner.reminder_cards,
        snoozed_until=learner.snoozed_until,
    )
