"""One rising sequence a card: every change of a streamed card carries a higher number (F083).

Numbers follow the clock, so that those of a later process are higher than those of this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final
from weakref import WeakValueDictionary

from core.clock import Clock

_FROM: Final = datetime(2026, 1, 1, tzinfo=UTC)
_A_SECOND: Final = 5
"""Numbers a second: they stay below the platform's 2^31 for thirteen years."""


class _Card:
    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.last = 0


class Sequences:
    """The sequences of the cards that stream now."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cards: WeakValueDictionary[str, _Card] = WeakValueDictionary()
        self._recent: list[_Card] = []

    @asynccontextmanager
    async def next(self, card_id: str) -> AsyncIterator[int]:
        """Give a card's next number to one caller at a time."""
        card = self._cards.get(card_id)
        if card is None:
            card = self._cards[card_id] = _Card()
            self._recent = [*self._recent[-999:], card]
        async with card.turn:
            since = int((self._clock.now() - _FROM).total_seconds() * _A_SECOND)
            card.last = max(card.last + 1, since)
            yield card.last
