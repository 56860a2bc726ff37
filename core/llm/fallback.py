"""A second model that answers where the first cannot be had.

Only before a first piece was shown: an answer never changes its voice in the middle. The first
model rests for a while after it failed, so that not every round of a turn waits for it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from core.llm.port import (
    ChatModel,
    ChatRequest,
    Completed,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    Usage,
)

log = logging.getLogger(__name__)

RESTS: Final = {
    ModelErrorKind.UNAUTHORIZED: 300.0,
    ModelErrorKind.UNKNOWN_MODEL: 300.0,
    ModelErrorKind.RATE_LIMITED: 60.0,
    ModelErrorKind.UNAVAILABLE: 60.0,
}
"""What makes a model impossible to have, and for how many seconds it is not asked then."""


class FallbackModel:
    """The first model while it can be had, else the second; a ``ChatModel``."""

    def __init__(self, first: ChatModel, second: ChatModel) -> None:
        self._first = first
        self._second = second
        self._rests_until = 0.0  # the loop's time
        self._others: dict[str, FallbackModel] = {}

    @property
    def name(self) -> str:
        """Name of the model that is asked now; so are the abilities."""
        return self._now.name

    @property
    def window(self) -> int | None:
        """The smaller window of the two, as far as they are known: either may get the prompt."""
        known = [one.window for one in (self._first, self._second) if one.window is not None]
        return min(known, default=None)

    @property
    def supports_tools(self) -> bool:
        """See ``ChatModel.supports_tools``."""
        return self._now.supports_tools

    @property
    def sees_images(self) -> bool:
        """See ``ChatModel.sees_images``."""
        return self._now.sees_images

    @property
    def small(self) -> bool:
        """See ``ChatModel.small``."""
        return self._first.small

    def named(self, name: str) -> FallbackModel:
        """Return another model of the first one's provider, with the same second one."""
        if name == self._first.name:
            return self
        if name not in self._others:
            self._others[name] = FallbackModel(self._first.named(name), self._second)
        return self._others[name]

    def begin_loading(self) -> None:
        """Load for the first; the second is loaded when it is needed."""
        self._first.begin_loading()

    async def close(self) -> None:
        """Close both."""
        await self._first.close()
        await self._second.close()

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request``; see ``ChatModel.stream``.

        The first model has half of the time for its first piece.
        """
        clock = asyncio.get_running_loop().time
        if clock() >= self._rests_until:
            half = clock() + (deadline - clock()) / 2
            async with aclosing(self._first.stream(request, deadline=half)) as events:
                try:
                    async with asyncio.timeout_at(half):
                        opening = await anext(events)
                except TimeoutError:
                    failure = ModelError(ModelErrorKind.UNAVAILABLE, "no answer in time")
                except ModelError as error:
                    if error.began or error.kind not in RESTS:
                        raise
                    failure = error
                else:
                    yield opening
                    async for event in events:
                        yield event
                    return
            rest = max(RESTS[failure.kind], failure.retry_after or 0.0)
            self._rests_until = clock() + rest
            log.warning(
                "%s cannot be had (%s); %s answers in its place",
                self._first.name,
                failure.kind.value,
                self._second.name,
            )
        async with aclosing(self._second.stream(request, deadline=deadline)) as events:
            async for event in events:
                yield self._marked(event) if isinstance(event, Completed) else event

    @property
    def _now(self) -> ChatModel:
        if not self._rests_until:
            return self._first  # may be asked before a loop runs
        resting = asyncio.get_running_loop().time() < self._rests_until
        return self._second if resting else self._first

    def _marked(self, end: Completed) -> Completed:
        usage = end.usage or Usage(0, 0)
        return replace(end, usage=replace(usage, stand_in=self._second.name))
