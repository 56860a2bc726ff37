"""What a chat shows besides messages: a bot at work, a button pressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE

if TYPE_CHECKING:
    from tests.servers.telegram.state import State


@dataclass(frozen=True, slots=True)
class Action:
    """One sendChatAction."""

    action: str
    thread: int | None


@dataclass(slots=True, eq=False)
class Press:
    """A button that was pressed, and what the bot answered."""

    state: State
    query_id: str
    update: dict[str, Any] | None
    stale: bool = False
    answer: dict[str, Any] | None = None
    """Parameters of answerCallbackQuery; None until it came."""

    def expire(self) -> None:
        """Let the platform forget the press: an answer is now too late."""
        self.stale = True

    async def wait_answered(self, within: float = PATIENCE) -> dict[str, Any]:
        """Return the parameters of the answer once it came."""
        await self.state.changes.wait_for(lambda: self.answer is not None, within, "no answer")
        return self.answer or {}

    def wait_answered_blocking(self, within: float = PATIENCE) -> dict[str, Any]:
        """Do the same, blocking the calling thread."""
        changes = self.state.changes
        changes.wait_for_blocking(lambda: self.answer is not None, within, "no answer")
        return self.answer or {}
