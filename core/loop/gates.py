"""When a turn must end, and with what: budgets, reasons, and the gates as pure functions.

Every gate keeps room (seconds, a round, tokens, money) for the closing answer, in which the model
is told to answer from what it has and can call nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from core.llm.port import ChatMessage, ModelError, ToolCall, Usage
from core.loop.saved import RoundDone
from core.tools.registry import HandOver

LEAST_ANSWER: Final = 256
"""Tokens that an answer may have in any case, as counts are estimates."""


class StopReason(StrEnum):
    """Why a turn ended. Every turn has exactly one."""

    ANSWERED = "answered"
    DEADLINE = "deadline"
    """The time ran out."""
    ROUNDS = "rounds"
    """The model kept calling tools."""
    CONTEXT_FULL = "context_full"
    """No room for more in the model's window."""
    COST = "cost"
    """The money for this turn is spent."""
    TOOL_CALLS = "tool_calls"
    """The calls of this turn are used up."""
    MALFORMED = "malformed"
    """What the model said, or called, could not be read, again and again."""
    EMPTY = "empty"
    """The model said nothing, twice."""
    CONSENT = "consent"
    """A call waits for the learner's permission; see ``Outcome.pending``."""
    CANCELLED = "cancelled"
    """Stopped by a person or by the end of the process; set by whoever cancels."""
    PROVIDER_ERROR = "provider_error"
    """The model could not be called; see ``Outcome.error``."""


class LoopProtocol(StrEnum):
    """How the loop and the model talk about calls."""

    AUTO = "auto"
    """By tool calls of the provider where the model has them, by labels in the text where not."""
    NATIVE = "native"
    """Never by labels: a model without tool calls has no tools."""
    LABELLED = "labelled"
    """Always by labels."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in any currency, for a million tokens."""

    model: str
    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return what these tokens cost."""
        return (
            usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What one turn may use, and how it talks to the model."""

    max_rounds: int = 8
    """Model calls, the closing answer not counted."""
    max_tool_calls: int = 24
    """Calls of tools over all rounds."""
    deadline_seconds: float = 120.0
    context_tokens: int = 110_000
    """Gate on prompt and answer; a smaller window of the model wins."""
    reserve_tokens: int = 18_000
    """Kept below the gate for the closing answer, at most a quarter of the gate."""
    cost_limit: float = 0.0
    """Money for one turn, in the currency of ``prices``; 0 is no limit."""
    temperature: float | None = 0.2
    exploring_max_tokens: int = 1_600
    """For thoughts and calls of a labelled round, before its answer begins."""
    responding_max_tokens: int = 8_000
    answer_now_max_tokens: int = 8_000
    protocol: LoopProtocol = LoopProtocol.AUTO
    prices: tuple[Price, ...] = ()
    """A model without a price has no gate on its cost."""

    @property
    def closing_seconds(self) -> float:
        """Part of the deadline that is kept for the closing answer: a quarter, at most 20 s."""
        return min(20.0, self.deadline_seconds / 4)

    def price(self, model: str) -> Price | None:
        """Return the price of a model, found by its name whatever the case."""
        name = model.lower()
        return next((price for price in self.prices if price.model.lower() == name), None)


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
    asked: bool = False
    """The answer is a question to the learner, by a label that may ask or by a tool."""
    choices: tuple[str, ...] = ()
    """With ``asked``: answers to choose from."""
    cost: float | None = None
    """What the turn cost, in the currency of the prices; None where no price is known."""
    pending: tuple[ToolCall, ...] = ()
    """With ``consent``: the calls that wait, the only ones not made yet."""
    saved: RoundDone | None = None
    """With ``consent``: where the turn goes on once it is decided."""
    hand_over: HandOver | None = None
    """The command that answers in the model's place."""


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

    Where the window is known, prompt and answer fit it together; at least ``LEAST_ANSWER``, as the
    count may be an estimate.
    """
    return wanted if window is None else min(wanted, max(window - used, LEAST_ANSWER))


@dataclass(frozen=True, slots=True)
class Purse:
    """The money of one turn. Without a limit or a price it is never empty."""

    limit: float
    price: Price | None
    closing_tokens: int
    """Length of the closing answer that is to be paid for."""

    def reserve(self, used: int) -> float:
        """Return the money kept for a closing answer to ``used`` tokens: a quarter at most."""
        if self.price is None:
            return 0.0
        return min(self.price.of(Usage(used, self.closing_tokens)), self.limit / 4)

    def affords(self, wanted: int, used: int, spent: float, *, closing: bool) -> int | None:
        """Return the tokens an answer to ``used`` tokens may have; None when it has no room.

        The closing answer has the reserve, and always room.
        """
        if self.price is None or self.limit <= 0:
            return wanted
        left = self.limit - spent - self.price.of(Usage(used, 0))
        if not closing:
            left -= self.reserve(used)
        each = self.price.completion / 1_000_000
        if each <= 0:
            most = wanted if left >= 0 else 0
        else:
            most = int(min(max(left, 0.0) / each, wanted))
        if closing:
            return max(most, min(wanted, LEAST_ANSWER))
        return most if most >= min(wanted, LEAST_ANSWER) else None


def closed_gate(
    budget: Budget,
    *,
    window: int | None,
    round_number: int,
    used_tokens: int,
    seconds_left: float,
    tool_calls: int = 0,
    affordable: bool = True,
) -> StopReason | None:
    """Return the gate that makes round ``round_number`` (from 1) the closing one, if any.

    ``used_tokens`` is the size of the prompt to be sent, ``tool_calls`` the number of those made;
    ``affordable`` says whether another round and the closing answer can be paid (``Purse``).
    """
    if seconds_left <= budget.closing_seconds:
        return StopReason.DEADLINE
    if round_number > budget.max_rounds:
        return StopReason.ROUNDS
    if used_tokens > prompt_limit(budget, window):
        return StopReason.CONTEXT_FULL
    if not affordable:
        return StopReason.COST
    if tool_calls >= budget.max_tool_calls:
        return StopReason.TOOL_CALLS
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
