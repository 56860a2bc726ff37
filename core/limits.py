"""What may be spent on models in a day, by one learner and by all together. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a day; 0 is none. Money is in the currency of the prices."""

    learner_tokens_per_day: int = 0
    learner_cost_per_day: float = 0.0
    total_tokens_per_day: int = 0
    total_cost_per_day: float = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What turns took: tokens of prompts and answers, and money where a price was known."""

    tokens: int
    cost: float


class Scope(StrEnum):
    """Whose limit is reached."""

    LEARNER = "learner"
    TOTAL = "total"


def reached(limits: Limits, learner: Spent, total: Spent) -> Scope | None:
    """Return whose limit is reached; that of all comes first, as it says more."""
    if _over(total, limits.total_tokens_per_day, limits.total_cost_per_day):
        return Scope.TOTAL
    if _over(learner, limits.learner_tokens_per_day, limits.learner_cost_per_day):
        return Scope.LEARNER
    return None


def _over(spent: Spent, tokens: int, cost: float) -> bool:
    return (tokens > 0 and spent.tokens >= tokens) or (cost > 0 and spent.cost >= cost)
