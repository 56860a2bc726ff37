"""How often previews may change in one chat, however many grow there at once.

The platform counts sends and edits of a chat together, and the library lets calls wait for their
turn: too many previews would make final answers wait behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from core.channel import Throttled

_SWEEP: Final = 500


class PreviewPace:
    """One account's chats, each with the moment from which a preview may change there."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """``clock`` measures seconds."""
        self._seconds = seconds
        self._clock = clock
        self._free_at: dict[str, float] = {}

    def take(self, chat: str) -> None:
        """Use the chat's turn. Raises Throttled until it has one."""
        now = self._clock()
        wait = self._free_at.get(chat, now) - now
        if wait > 0:
            raise Throttled(wait)
        if len(self._free_at) >= _SWEEP:
            self._free_at = {one: at for one, at in self._free_at.items() if at > now}
        self._free_at[chat] = now + self._seconds
