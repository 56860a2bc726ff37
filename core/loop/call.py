"""One call of the model: the request out, the pieces in, read by the protocol as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from core.events import Content, Thinking, TurnEvent
from core.llm.port import (
    ChatModel,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ReasoningDelta,
)
from core.loop.history import estimate
from core.loop.protocol import Dialect, Reader, Step, readable
from core.loop.scrub import Hidden, Piece, Retract, Visible

Emit = Callable[[TurnEvent], Awaitable[None] | None]
"""Takes the turn's events. It should return at once: the model waits for it."""

_EXPLORED_A_TOKEN: Final = 4
"""Characters of a token of a thought or a call, for its limit."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said in one call."""

    step: Step
    end: Completed
    reasoning: str
    written: int
    """Tokens of the answer, estimated."""


class Caller:
    """Makes the calls of one turn and tells what is seen of them."""

    def __init__(self, model: ChatModel, emit: Emit, mark: str) -> None:
        self._model = model
        self._emit = emit
        self._mark = mark
        self._attempt = 0
        self._spoken = ""  # the answer's part of earlier rounds, to be shown first
        self._shows = False  # that part stands in this attempt
        self.partial = ""
        """What had arrived of an answer that took too long."""

    async def tell(self, event: TurnEvent) -> None:
        """Hand an event to the watcher."""
        waiting = self._emit(event)
        if waiting is not None:
            await waiting

    async def call(
        self,
        protocol: Dialect,
        request: ChatRequest,
        *,
        until: float,
        closing: bool,
        exploring: int,
        spoken: str,
    ) -> Reply:
        """Make one call. Raises ModelError, and TimeoutError at ``until`` (the loop's time).

        ``exploring`` is the limit of what does not speak, in tokens; ``spoken`` the part of the
        answer that earlier rounds have given.
        """
        self._begin(spoken)
        reader = protocol.reader(closing=closing)
        reasoning: list[str] = []
        length = 0
        end: Completed | None = None
        enough = False
        try:
            async with (
                asyncio.timeout_at(until),
                aclosing(self._model.stream(request, deadline=until)) as events,
            ):
                async for event in events:
                    match event:
                        case ContentDelta(text):
                            length += estimate(text)
                            await self._show(reader.feed(text))
                        case ReasoningDelta(text):
                            length += estimate(text)
                            reasoning.append(text)
                            await self.tell(Thinking(text))
                        case Completed():
                            end = event
                    if protocol.early and _enough(reader, exploring):
                        enough = end is None
                        break
                await self._show(reader.finish())
        except TimeoutError:
            self.partial = readable(reader.labels.spoken, self._mark) or self.partial
            raise
        if end is None and not enough:
            raise ModelError(ModelErrorKind.UNAVAILABLE, "no end of the answer", began=True)
        end = end or Completed((), None, None)
        step = protocol.step(reader, end, closing=closing)
        return Reply(step, end, "".join(reasoning), length)

    def _begin(self, spoken: str) -> None:
        self._attempt += 1
        self._spoken = spoken
        self._shows = False

    async def _show(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            match piece:
                case Visible(text):
                    if self._spoken and not self._shows:
                        await self.tell(Content(f"{self._spoken}\n\n", self._attempt))
                    self._shows = True
                    await self.tell(Content(text, self._attempt))
                case Hidden(text):
                    await self.tell(Thinking(text))
                case Retract():
                    self._begin(self._spoken)


def _enough(reader: Reader, exploring: int) -> bool:
    return reader.labels.cut or reader.labels.explored > exploring * _EXPLORED_A_TOKEN
