"""What a turn has used: tokens as the provider counts them, estimates only where it has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.llm.port import ChatMessage, Usage
from core.loop.gates import Price
from core.loop.history import estimate_messages


class Meter:
    """Counts one turn of the model ``name``. Without a price the cost stays 0."""

    def __init__(self, name: str, price: Callable[[str], Price | None]) -> None:
        self._name = name
        self._price = price
        self.usage = Usage(0, 0)
        """Sum of what the provider has reported."""
        self.spent = 0.0
        """Money, with an estimate for calls that were broken off before their report."""
        self._counted = 0  # messages at the start of the history that ...
        self._tokens = 0  # ... this many tokens were reported for

    def used(self, history: Sequence[ChatMessage]) -> int:
        """Return the size of a prompt of this history in tokens."""
        return self._tokens + estimate_messages(history[self._counted :])

    def report(self, usage: Usage | None, messages: int | None) -> None:
        """Take the provider's report on a call with ``messages`` of the history.

        None when the call sent something else beside them.
        """
        if usage is None:
            return
        self.usage += usage
        self._pay(usage)
        if messages is not None:
            self._tokens = usage.prompt_tokens
            self._counted = messages

    def estimate(self, prompt: int, answer: int) -> None:
        """Take a guess for a call that ended without a report, in tokens."""
        self._pay(Usage(prompt, answer))

    def forget(self) -> None:
        """The history has changed: what was reported of it counts no more."""
        self._counted = self._tokens = 0

    def _pay(self, usage: Usage) -> None:
        price = self._price(usage.stand_in or self._name)
        if price is not None:
            self.spent += price.of(usage)
