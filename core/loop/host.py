"""What a turn asks of the one who runs it, and what a person may decide about a call."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from core.llm.port import ToolCall
from core.loop.gates import Outcome
from core.loop.saved import RoundDone
from core.tools.registry import ToolResult


class LoopHost:
    """Hooks of one turn, each of which does nothing; subclass for those that you need.

    The loop waits for them. What they raise ends the turn and reaches the caller.
    """

    async def before_round(self, number: int) -> Sequence[str]:
        """Return what the learner has said since, to join the conversation now.

        ``number`` counts the model calls of the turn from 1. What comes after the last round is
        never asked for: it is the next turn's.
        """
        return ()

    async def on_tool_result(self, call: ToolCall, result: ToolResult) -> None:
        """Hear of a result, in the order of the calls."""

    async def on_round(self, done: RoundDone) -> None:
        """Keep where the turn stands.

        Called after each round of calls, and before calls that change something are made, so that
        a restart does not make them again. The turn goes on when this returns.
        """

    async def on_finish(self, outcome: Outcome) -> None:
        """Hear how the turn ended; not called when it was cancelled."""


class Decision(StrEnum):
    """What became of a call that needed consent."""

    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody decided in time."""
