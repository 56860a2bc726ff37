"""An answer as it streams in: the open connection, and its chunks put together.

Reads the wire's chunks and knows their many dialects; decides nothing about trying again.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from core.llm.pieces import Pieces
from core.llm.port import (
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    ReasoningDelta,
    ToolCall,
    Usage,
)
from core.llm.whole import Whole, whole
from core.llm.wire import PassingError, translated

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

_CONNECT_SECONDS: Final = 10.0
CHARACTERS_A_TOKEN: Final = 16
"""No answer has more on the average; what does is from a server that ignores its limit."""
MOST_CALLS: Final = 32
"""Tool calls taken of one answer; a model that asks for more can ask again."""
_MOST_THINKING: Final = 2_000_000
"""Characters of thinking, which no limit of tokens bounds everywhere."""
_MOST_ARGUMENTS: Final = 1_000_000
"""Characters of one call's arguments."""
_MOST_TOKENS: Final = 10_000_000
"""A larger count is nonsense; kept within what every database can add up."""


@dataclass
class Answer:
    """An answer under way: the open stream and what was read of it."""

    stream: AsyncStream[object]
    parts: Parts
    early: list[ModelEvent]
    """Events of the chunks that were read before the answer was handed on."""
    ended: bool = False

    @classmethod
    async def begin(
        cls, client: AsyncOpenAI, body: Mapping[str, Any], seconds: float, *, most: int
    ) -> Answer:
        """Send the request and read to the first piece of the answer. Raises ModelError.

        ``most`` is the number of characters after which an answer is cut.
        """
        import openai
        from openai import Timeout

        limits = Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        try:
            # Plain values both ways. The library's method for this call walks through the history
            # by type hints and makes an object of each chunk: five times the cost of the rest.
            stream = await client.post(
                "/chat/completions",
                cast_to=object,
                body={**body, "stream": True},
                options={"timeout": limits, "security": {"bearer_auth": True}},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except openai.APIError as error:
            raise translated(error, began=False) from error
        except ValueError as error:
            raise PassingError(ModelErrorKind.UNAVAILABLE, f"unreadable: {error}") from error
        answer = cls(stream, Parts(most), [])
        try:
            while not answer.parts.began and not answer.ended:
                chunk = await answer._next()
                if chunk is None:
                    answer.ended = True
                    if answer.parts.finish_reason is None:
                        raise PassingError(ModelErrorKind.UNAVAILABLE, "no answer in the reply")
                    answer.early.extend(answer.parts.waiting())
                else:
                    answer.early.extend(answer.parts.take(chunk))
        except BaseException:
            await answer.close()
            raise
        return answer

    async def rest(self) -> AsyncIterator[ModelEvent]:
        """The events of the chunks that are still to come. Raises ModelError."""
        while not self.parts.flooded and (chunk := await self._next()) is not None:
            for event in self.parts.take(chunk):
                yield event
        for event in self.parts.waiting():
            yield event
        if self.parts.finish_reason is None:
            raise ModelError(ModelErrorKind.UNAVAILABLE, "the stream was cut", began=True)

    async def close(self) -> None:
        """Close the connection, or give it back if the answer was read to its end."""
        await self.stream.close()
        # The library's stream and its readers hold one another. Read on, over what had come already
        # and into the closed connection, or the readers stay half-way until a collection of garbage
        # ends them, in whatever thread it runs.
        with contextlib.suppress(Exception):
            while await anext(self.stream, None) is not None:
                pass

    async def _next(self) -> object:
        """Return the next chunk, None at the end."""
        import openai

        try:
            return await anext(self.stream, None)
        except openai.APIError as error:
            raise translated(error, began=self.parts.began) from error
        except ValueError as error:  # a line that is no JSON, or no UTF-8
            kind, detail = ModelErrorKind.UNAVAILABLE, f"unreadable: {error}"
            if self.parts.began:
                raise ModelError(kind, detail, began=True) from error
            raise PassingError(kind, detail) from error


@dataclass
class Parts:
    """The chunks of one answer, put together."""

    most: int
    """Characters after which the text is cut."""
    began: bool = False
    """A piece of the answer has come: text, reasoning or a tool call."""
    finish_reason: str | None = None
    usage: Usage | None = None
    calls: list[_Call] = field(default_factory=list)
    flooded: bool = False
    """It grew without an end: nothing more is read."""
    _text: Whole = field(default_factory=Whole)
    _thought: Whole = field(default_factory=Whole)
    _texts: Pieces = field(default_factory=Pieces)
    _thoughts: Pieces = field(default_factory=Pieces)

    def take(self, chunk: object) -> Iterator[ModelEvent]:
        """Add a chunk; return the events in it.

        Servers differ from the documented shape, so nothing is taken for granted.
        """
        data = _object(chunk)
        if usage := _object(data.get("usage")):
            self.usage = Usage(
                _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
            )
        for choice in _objects(data.get("choices"))[:1]:
            self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
            delta = _object(choice.get("delta"))
            thought = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
            if thought:
                self.began = True
                thought = self._thoughts.feed(thought)
                yield ReasoningDelta(self._measured(self._thought, thought, _MOST_THINKING))
            if content := _text(delta.get("content")):
                self.began = True
                content = self._texts.feed(content)
                yield ContentDelta(self._measured(self._text, content, self.most))
            for piece in _objects(delta.get("tool_calls")):
                self.began = True
                function = _object(piece.get("function"))
                self._add(piece.get("index"), _text(piece.get("id")), function)

    def waiting(self) -> Iterator[ModelEvent]:
        """Return what waited for the end of the stream."""
        if thought := self._thoughts.finish():
            yield ReasoningDelta(self._measured(self._thought, thought, _MOST_THINKING))
        if content := self._texts.finish():
            yield ContentDelta(self._measured(self._text, content, self.most))

    def completed(self) -> Completed:
        """Return the end of the answer."""
        calls = tuple(
            ToolCall(whole(call.id), whole(call.name), whole("".join(call.arguments)))
            for call in self.calls
        )
        return Completed(calls, self.finish_reason, self.usage)

    def _measured(self, side: Whole, delta: str, most: int) -> str:
        """Return what of a piece is taken; note when the side has grown too long."""
        left = most - side.length
        text = side.feed(delta)
        if side.length >= most:
            self._flood()
        return text[: max(left, 0)]

    def _flood(self) -> None:
        self.flooded = True
        self.finish_reason = self.finish_reason or "length"

    def _add(self, index: object, call_id: str, function: Mapping[str, Any]) -> None:
        known = next((call for call in reversed(self.calls) if call.index == index), None)
        # Some servers give every call the index 0, told apart by their ids only.
        if known is None or (call_id and known.id and call_id != known.id):
            if len(self.calls) == MOST_CALLS:
                self._flood()
                return
            known = _Call(index)
            self.calls.append(known)
        known.id = known.id or call_id
        # The name comes whole; some servers repeat it with every piece.
        known.name = known.name or _text(function.get("name"))
        arguments = _text(function.get("arguments"))
        known.arguments.append(arguments)
        known.length += len(arguments)
        if known.length >= _MOST_ARGUMENTS:
            self._flood()


@dataclass
class _Call:
    """One tool call that is still growing."""

    index: object
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    length: int = 0
    """Characters of the arguments so far."""


def _count(tokens: object) -> int:
    return min(max(tokens, 0), _MOST_TOKENS) if isinstance(tokens, int) else 0


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [_object(item) for item in value] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
