"""A model whose calls are counted while they happen, so that a turn that is stopped has its cost.

What the provider reports is taken; a call that is broken off before its report is estimated.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from core.llm.port import (
    ChatModel,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelEvent,
    ReasoningDelta,
    Usage,
)
from core.loop.gates import Budget
from core.loop.history import estimate, estimate_messages


@dataclass(slots=True)
class Tally:
    """What the calls of one turn took so far."""

    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    cost: float | None = None
    """Money, of the calls whose model has a price; None without any."""
    model: str | None = None
    """The one that answered last."""


class Metered:
    """A ``ChatModel`` that tells ``tally`` of every call; ``budget`` has the prices."""

    def __init__(self, model: ChatModel, budget: Budget, tally: Tally) -> None:
        self._model = model
        self._budget = budget
        self._tally = tally

    @property
    def name(self) -> str:
        """See ``ChatModel``; so are the others."""
        return self._model.name

    @property
    def window(self) -> int | None:
        """See ``ChatModel``."""
        return self._model.window

    @property
    def supports_tools(self) -> bool:
        """See ``ChatModel``."""
        return self._model.supports_tools

    @property
    def sees_images(self) -> bool:
        """See ``ChatModel``."""
        return self._model.sees_images

    @property
    def small(self) -> bool:
        """See ``ChatModel``."""
        return self._model.small

    def named(self, name: str) -> Metered:
        """Return another model of the provider, counted in the same tally."""
        return Metered(self._model.named(name), self._budget, self._tally)

    def begin_loading(self) -> None:
        """See ``ChatModel``."""
        self._model.begin_loading()

    async def close(self) -> None:
        """See ``ChatModel``."""
        await self._model.close()

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request`` and count it, however it ends."""
        written = 0
        reported: Usage | None = None
        refused = False
        try:
            async with aclosing(self._model.stream(request, deadline=deadline)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        reported = event.usage
                    elif isinstance(event, ContentDelta | ReasoningDelta):
                        written += estimate(event.text)
                    yield event
        except ModelError as error:
            refused = not error.began  # nothing was read for it, so nothing is paid
            raise
        finally:
            if not refused:
                self._count(reported or Usage(estimate_messages(request.messages), written))

    def _count(self, usage: Usage) -> None:
        tally = self._tally
        tally.usage += usage
        tally.model = usage.stand_in or self._model.name
        price = self._budget.price(tally.model)
        if price is not None:
            tally.cost = (tally.cost or 0.0) + price.of(usage)
