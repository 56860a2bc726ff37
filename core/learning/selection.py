"""Which cards to ask, and in what order: pure, for a nudge and for ``/review`` alike.

What is known least comes first; new cards follow in the order they were made. Siblings never meet,
leeches are never asked, and a large backlog pauses new cards instead of growing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from core.learning.cards import is_leech
from core.learning.spacing import Memory, retrievability

NEW_SEATS = 2
"""Prompts kept for new cards when reviews alone would fill the digest: without them a new card
would never come while a backlog below the pause lasts."""


@dataclass(frozen=True, slots=True)
class DueCard:
    """A card as the choice sees it; due or not."""

    card_id: str
    """ULID, so that the order of ids is the order in which cards were made."""
    sibling: str
    """``core.learning.cards.sibling_key``."""
    created_day: date
    """Study day on which it was made."""
    memory: Memory | None
    """None for a card never answered."""

    @property
    def due_day(self) -> date:
        """First study day on which a nudge may ask it; a new card waits for the next one."""
        return self.created_day + timedelta(days=1) if self.memory is None else self.memory.due_day

    @property
    def leech(self) -> bool:
        """Forgotten too often to be asked again."""
        return self.memory is not None and is_leech(self.memory.lapses)


@dataclass(frozen=True, slots=True)
class Done:
    """What a learner has already answered on a study day."""

    new: int = 0
    """Cards answered for the first time."""
    reviews: int = 0
    """Cards known from earlier days."""
    siblings: frozenset[str] = frozenset()
    """Sibling keys of them all: their siblings wait for another day."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked."""

    prompts: int
    """In one go."""
    new: int = 5
    """First answers in a study day."""
    reviews: int = 20
    """Other answers in a study day."""


DIGEST_LIMITS = Limits(prompts=10)
SESSION_LIMITS = Limits(prompts=25, new=20)
"""For ``/review``: who asks for questions gets the new cards at once."""


def due(cards: Iterable[DueCard], day: date, *, new_at_once: bool = False) -> list[DueCard]:
    """Return all cards to be asked on a study day, least known first, then new ones.

    ``new_at_once`` counts cards made on that very day as due, which ``/review`` does and a nudge
    does not. Leeches are left out; no limit is applied.
    """
    ready = [
        card
        for card in cards
        if not card.leech and (card.due_day <= day or (new_at_once and card.memory is None))
    ]
    return sorted(ready, key=lambda card: (_chance(card, day), card.card_id))


def queue(
    cards: Sequence[DueCard],
    day: date,
    *,
    done: Done | None = None,
    limits: Limits = DIGEST_LIMITS,
    new_at_once: bool = False,
) -> list[DueCard]:
    """Return the cards to ask now, in order, within the limits and without siblings.

    ``done`` is what was answered on ``day``; without it, it is read off ``cards``, which then are
    all of the learner's. New cards pause while more than twice a day's reviews are waiting.
    """
    done = done_on(cards, day) if done is None else done
    ready = due(cards, day, new_at_once=new_at_once)
    known = [card for card in ready if card.memory is not None]
    fresh = [card for card in ready if card.memory is None]
    if len(known) > 2 * limits.reviews:
        fresh = []
    reviews = _apart(known, done.siblings)[: max(0, limits.reviews - done.reviews)]
    met = done.siblings | {card.sibling for card in reviews}
    new = _apart(fresh, met)[: max(0, limits.new - done.new)]
    new = new[: max(limits.prompts - len(reviews), min(NEW_SEATS, limits.prompts // 2))]
    return [*reviews[: limits.prompts - len(new)], *new]


def done_on(cards: Iterable[DueCard], day: date) -> Done:
    """Tell from the cards alone what was answered on a study day."""
    answered = [
        (card.memory, card.sibling) for card in cards if card.memory and card.memory.last_day == day
    ]
    new = sum(memory.reps == 1 for memory, _ in answered)
    return Done(new, len(answered) - new, frozenset(sibling for _, sibling in answered))


def _chance(card: DueCard, day: date) -> float:
    # New cards have no chance of recall yet; 2 puts them behind all that have.
    return 2.0 if card.memory is None else retrievability(card.memory, day)


def _apart(cards: Sequence[DueCard], met: frozenset[str]) -> list[DueCard]:
    """Keep the first card of each family that was not met yet."""
    first: dict[str, DueCard] = {}
    for card in cards:
        if card.sibling not in met:
            first.setdefault(card.sibling, card)
    return list(first.values())
