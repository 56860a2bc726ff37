"""When a turn must end, and with what: budgets, reasons, and the gates as pure functions.

The gates deadline, rounds and context keep room (seconds, a round, tokens) for the closing answer,
in which the model is told to answer from what it has and can call nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from core.llm.port import ChatMessage, ModelError, Usage


class StopReason(StrEnum):
    """Why a turn ended. Every turn has exactly one."""

    ANSWERED = "answered"
    DEADLINE = "deadline"
    """The time ran out."""
    ROUNDS = "rounds"
    """The model kept calling tools."""
    CONTEXT_FULL = "context_full"
    """No room for more in the model's window."""
    MALFORMED = "malformed"
    """Call after call could not be read."""
    EMPTY = "empty"
    """The model said nothing, twice."""
    CANCELLED = "cancelled"
    """Stopped by a person or by the end of the process; set by whoever cancels."""
    PROVIDER_ERROR = "provider_error"
    """The model could not be called; see ``Outcome.error``."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one turn may use."""

    max_rounds: int = 8
    """Model calls, the closing answer not counted."""
    deadline_seconds: float = 120.0
    context_tokens: int = 110_000
    """Gate on prompt and answer; a smaller window of the model wins."""
    reserve_tokens: int = 18_000
    """Kept below the gate for the closing answer, at most a quarter of the gate."""
    temperature: float | None = 0.2
    responding_max_tokens: int = 8_000
    answer_now_max_tokens: int = 8_000

    @property
    def closing_seconds(self) -> float:
        """Part of the deadline that is kept for the closing answer: a quarter, at most 20 s."""
        return min(20.0, self.deadline_seconds / 4)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended."""

    reason: StopReason
    text: str
    """The answer, free of thinking. May be empty unless ``answered``; after ``deadline`` without a
    closing answer it is as much as had arrived."""
    usage: Usage
    """Sum of what the provider reported over all rounds."""
    rounds: int
    """Model calls that were made."""
    closing_answered: bool
    """The closing answer was asked for and came."""
    error: ModelError | None = None
    """The last failure of the provider, where that ended the turn."""


def context_gate(budget: Budget, window: int | None) -> int:
    """Return the tokens that prompt and answer may have: the smaller of gate and window."""
    return budget.context_tokens if window is None else min(budget.context_tokens, window)


def reserve(budget: Budget, gate: int) -> int:
    """Return the tokens kept for the closing answer."""
    return min(budget.reserve_tokens, gate // 4)


def prompt_limit(budget: Budget, window: int | None) -> int:
    """Return the tokens a prompt may have so that the closing answer still fits."""
    gate = context_gate(budget, window)
    return gate - reserve(budget, gate)


def answer_limit(wanted: int, used: int, window: int | None) -> int:
    """Return ``max_tokens`` for a call whose prompt has ``used`` tokens.

    Where the window is known, prompt and answer fit it together; at least 256, as the count may
    be an estimate.
    """
    return wanted if window is None else min(wanted, max(window - used, 256))


def closed_gate(
    budget: Budget,
    *,
    window: int | None,
    round_number: int,
    used_tokens: int,
    seconds_left: float,
) -> StopReason | None:
    """Return the gate that makes round ``round_number`` (from 1) the closing one, if any.

    ``used_tokens`` is the size of the prompt to be sent.
    """
    if seconds_left <= budget.closing_seconds:
        return StopReason.DEADLINE
    if round_number > budget.max_rounds:
        return StopReason.ROUNDS
    if used_tokens > prompt_limit(budget, window):
        return StopReason.CONTEXT_FULL
    return None


ANSWER_NOW = (
    "Answer now, with what is known so far; no tool can be called any more. If something is "
    "missing, say so in one sentence. Keep to the language of the conversation."
)


def ordered_to_answer(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return ``messages`` ending in the order to answer now; what was given is untouched.

    The order joins a last message of the user; a tool's result stays as it is and the order
    follows it, for an order inside a result would be data.
    """
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return (*messages[:-1], replace(last, content=f"{last.content}\n\n{ANSWER_NOW}"))
    return (*messages, ChatMessage("user", ANSWER_NOW))
