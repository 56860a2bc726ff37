"""What happens during a turn, for those who watch it: previews, status, the log.

Events are news, not the result: whoever misses them still gets everything from the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.llm.port import Usage


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning. Never part of an answer, never sent to a learner."""

    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of the answer, free of thinking tags.

    A higher ``attempt`` replaces everything shown for the lower ones: what a model says before it
    calls a tool, or before its stream breaks, is not the answer.
    """

    text: str
    attempt: int


@dataclass(slots=True)
class Growing:
    """An answer as far as it has come: the pieces of the latest attempt, put together."""

    text: str = ""
    _attempt: int = 0

    def take(self, event: Content) -> None:
        """Add a piece, or begin anew with the first one of a new attempt."""
        self.text = self.text + event.text if event.attempt == self._attempt else event.text
        self._attempt = event.attempt


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asks for a tool."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool's result is known. ``ok`` is False for errors the model has been told of."""

    call_id: str
    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the watcher should know: ``retrying`` or ``closing`` (answering early)."""

    code: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The loop is done; the last event of every turn that was not cancelled."""

    reason: str
    """Value of ``core.loop.gates.StopReason``."""
    usage: Usage


TurnEvent = Thinking | Content | ToolCalled | ToolReturned | Notice | Stopped
