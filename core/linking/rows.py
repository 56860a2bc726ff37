"""The rows of two learners become one's, and are told apart again.

Every function runs inside the caller's transaction. What stays at the other learner (messages and
turns of before, and the twin of a card that both had) is found there again when they part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict
from sqlmodel import Session, col, select
from ulid import ULID

from core.linking import studies
from core.linking.studies import Studies, give
from core.store.session import insert_new
from core.store.tables import (
    Account,
    Card,
    Inbound,
    Learner,
    Line,
    Link,
    PersonaChoice,
    Reminder,
    Review,
    Turn,
)

_A_MILLISECOND: Final = timedelta(milliseconds=1)
_ASIDE: Final = "\naside"


class Settings(BaseModel):
    """What the kept learner had of those settings that may be taken from the other."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reminders: bool
    reminders_from: datetime | None
    reminder_time: str
    home: str | None
    home_language: str | None


class Moved(BaseModel):
    """What went from one learner to the other, by the ids of the rows."""

    model_config = ConfigDict(extra="forbid")

    accounts: list[str] = []
    cards: list[str] = []
    twins: list[str] = []
    """Cards of the other learner that stay there: the kept learner's was reviewed more."""
    exchanged: list[tuple[str, str]] = []
    """The other learner's card that was reviewed more, and its twin that went there instead."""
    reminders: list[str] = []
    personas: list[str] = []
    """Conversations whose choice of a persona was copied."""
    studies: Studies = Studies()
    before: Settings | None = None


def join(session: Session, link: Link) -> None:
    """Move everything of the other learner's; what came late moves with the next call."""
    moved = Moved.model_validate_json(link.moved)
    kept = session.get_one(Learner, link.kept_id)
    other = session.get_one(Learner, link.other_id)
    for account in session.exec(select(Account).where(Account.learner_id == other.id)):
        account.learner_id = kept.id
        moved.accounts.append(account.id)
    if moved.before is None:
        moved.before = Settings.model_validate(kept, from_attributes=True)
        _settings(kept, other)
    other.merged_into = kept.id
    _cards(session, link, moved)
    studies.join(session, kept.id, other.id, moved.studies)
    waiting = select(Reminder).where(
        Reminder.learner_id == other.id, col(Reminder.sent_at).is_(None)
    )
    for reminder in session.exec(waiting):
        reminder.learner_id = kept.id
        moved.reminders.append(reminder.id)
    for choice in session.exec(select(PersonaChoice).where(PersonaChoice.learner_id == other.id)):
        copy = {**choice.model_dump(), "learner_id": kept.id}
        if insert_new(session, PersonaChoice, copy, "learner_id", "conversation_id"):
            moved.personas.append(choice.conversation_id)
    link.moved = moved.model_dump_json()


def part(session: Session, link: Link) -> Moved:
    """Move everything back, and what was done since on the other learner's accounts to them."""
    moved = Moved.model_validate_json(link.moved)
    kept = session.get_one(Learner, link.kept_id)
    other = session.get_one(Learner, link.other_id)
    since = Since.load(session, link)
    for account_id in moved.accounts:
        account = session.get(Account, account_id)
        if account is not None and account.learner_id == kept.id:
            account.learner_id = other.id
    other.merged_into = None
    other.seen_at = max(other.seen_at, kept.seen_at)
    if moved.before is not None:
        # The chat may be one of the other learner's; the rest was perhaps decided anew since.
        kept.home, kept.home_language = moved.before.home, moved.before.home_language
        if moved.before.reminders_from is None:
            kept.reminders, kept.reminders_from = moved.before.reminders, None
            kept.reminder_time = moved.before.reminder_time
    _cards_back(session, link, moved, since)
    studies.part(session, kept.id, other.id, moved.studies, link.at, since.theirs)
    for reminder in session.exec(select(Reminder).where(Reminder.learner_id == kept.id)):
        if reminder.id in moved.reminders or (
            reminder.created_at >= link.at and since.theirs(reminder.created_at)
        ):
            reminder.learner_id = other.id
    for conversation_id in moved.personas:
        copy = session.get(PersonaChoice, (kept.id, conversation_id))
        own = session.get(PersonaChoice, (other.id, conversation_id))
        if copy is not None and own is not None:
            own.persona_id = copy.persona_id
            session.delete(copy)
    for table, ids in ((Turn, since.turns), (Inbound, since.inbounds)):
        give(session, table, table.id, ids, other.id)
    give(session, Line, Line.turn_id, since.turns, other.id)
    return moved


@dataclass(frozen=True, slots=True)
class Since:
    """The turns since a link: who was talking at which moment."""

    spans: Sequence[tuple[datetime, datetime, bool]]
    """Begin, end, and True where it was an account of the other learner's."""
    turns: Sequence[str] = ()
    """Ids of the other learner's."""
    inbounds: Sequence[int] = ()

    @classmethod
    def load(cls, session: Session, link: Link) -> Since:
        """Read them."""
        accounts = set(Moved.model_validate_json(link.moved).accounts)
        rows = session.exec(
            select(Turn, Inbound.sender)
            .join(Inbound, col(Inbound.id) == col(Turn.inbound_id))
            .where(Turn.learner_id == link.kept_id, Turn.ended_at >= link.at)
        ).all()
        theirs = [turn for turn, sender in rows if sender in accounts]
        return cls(
            [(turn.started_at, turn.ended_at, sender in accounts) for turn, sender in rows],
            [turn.id for turn in theirs],
            [turn.inbound_id for turn in theirs],
        )

    def theirs(self, at: datetime) -> bool:
        """True where only the other learner's accounts were talking at a moment."""
        talking = [
            theirs for begin, end, theirs in self.spans if begin - _A_MILLISECOND <= at <= end
        ]
        return bool(talking) and all(talking)

    def event(self, event_id: str) -> bool:
        """The same of an event of the journal, whose id tells when it was, to the millisecond."""
        at = datetime.fromtimestamp(ULID.from_str(event_id).milliseconds / 1000, UTC)
        return self.theirs(at)


def _settings(kept: Learner, other: Learner) -> None:
    """Those of the maker of the code hold; what they never decided is the other's."""
    if kept.reminders_from is None and other.reminders_from is not None:
        kept.reminders, kept.reminders_from = other.reminders, other.reminders_from
        kept.reminder_time = other.reminder_time
    if kept.home is None:
        kept.home, kept.home_language = other.home, other.home_language
    kept.seen_at = max(kept.seen_at, other.seen_at)


def _cards(session: Session, link: Link, moved: Moved) -> None:
    staying = {*moved.twins, *(twin for _, twin in moved.exchanged)}
    mine = {
        card.normal: card
        for card in session.exec(select(Card).where(Card.learner_id == link.kept_id))
    }
    for card in session.exec(select(Card).where(Card.learner_id == link.other_id)).all():
        if card.id in staying:
            continue
        twin = mine.get(card.normal)
        if twin is None:
            _own(session, card, link.kept_id)
            moved.cards.append(card.id)
        elif card.reps > twin.reps:
            _exchange(session, card, link.kept_id, twin, link.other_id)
            moved.exchanged.append((card.id, twin.id))
        else:
            moved.twins.append(card.id)


def _cards_back(session: Session, link: Link, moved: Moved, since: Since) -> None:
    for card_id, twin_id in moved.exchanged:
        card, twin = session.get(Card, card_id), session.get(Card, twin_id)
        if card is not None and twin is not None and card.learner_id == link.kept_id:
            _exchange(session, card, link.other_id, twin, link.kept_id)
        elif card is None and twin is not None:
            _own(session, twin, link.kept_id)
    for card_id in moved.cards:
        card = session.get(Card, card_id)
        if card is not None and card.learner_id == link.kept_id:
            _own(session, card, link.other_id)
    known = {*moved.cards, *(card for card, _ in moved.exchanged)}
    theirs = set(session.exec(select(Card.normal).where(Card.learner_id == link.other_id)))
    made = select(Card).where(Card.learner_id == link.kept_id, Card.created_at >= link.at)
    for card in session.exec(made).all():
        if card.id not in known and card.normal not in theirs and since.theirs(card.created_at):
            _own(session, card, link.other_id)


def _exchange(session: Session, card: Card, to: str, twin: Card, back: str) -> None:
    """Change two cards that say the same between two learners, who can have only one of them."""
    normal, card.normal = card.normal, card.normal + _ASIDE
    session.flush()
    _own(session, twin, back)
    _own(session, card, to)
    card.normal = normal
    session.flush()


def _own(session: Session, card: Card, learner_id: str) -> None:
    """Give a card with its reviews to a learner.

    One that was changed since may say what another of theirs says: then both stay.
    """
    twin = select(Card.id).where(
        Card.learner_id == learner_id, Card.normal == card.normal, Card.id != card.id
    )
    if session.exec(twin).first() is not None:
        card.normal = f"{card.normal}{_ASIDE}{card.id}"
    card.learner_id = learner_id
    session.flush()
    give(session, Review, Review.card_id, [card.id], learner_id)
