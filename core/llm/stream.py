"""An answer as it streams in: the open connection, and its chunks put together.

Reads the wire's chunks and knows their many dialects; decides nothing about trying again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

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
from core.llm.wire import PassingError, translated

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

_CONNECT_SECONDS: Final = 10.0


@dataclass
class Answer:
    """An answer under way: the open stream and what was read of it."""

    stream: AsyncStream[ChatCompletionChunk]
    chunks: AsyncIterator[ChatCompletionChunk]
    parts: Parts
    early: list[ModelEvent]
    """Events of the chunks that were read before the answer was handed on."""
    ended: bool = False

    @classmethod
    async def begin(cls, client: AsyncOpenAI, body: Mapping[str, Any], seconds: float) -> Answer:
        """Send the request and read to the first piece of the answer. Raises ModelError."""
        import openai
        from openai import Timeout

        limits = Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        try:
            # ``extra_body`` replaces what the library makes of its own arguments and goes out as it
            # is: converting a long history by its type hints costs more than the rest of the call.
            stream: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
                model=body["model"], messages=(), stream=True, extra_body=body, timeout=limits
            )
        except openai.APIError as error:
            raise translated(error, began=False) from error
        except ValueError as error:
            raise PassingError(ModelErrorKind.UNAVAILABLE, f"unreadable: {error}") from error
        answer = cls(stream, aiter(stream), Parts(), [])
        try:
            while not answer.parts.began and not answer.ended:
                chunk = await answer._next()
                if chunk is None:
                    answer.ended = True
                    if answer.parts.finish_reason is None:
                        raise PassingError(ModelErrorKind.UNAVAILABLE, "no answer in the reply")
                else:
                    answer.early.extend(answer.parts.take(chunk))
        except BaseException:
            await answer.close()
            raise
        return answer

    async def rest(self) -> AsyncIterator[ModelEvent]:
        """The events of the chunks that are still to come. Raises ModelError."""
        while (chunk := await self._next()) is not None:
            for event in self.parts.take(chunk):
                yield event
        if self.parts.finish_reason is None:
            raise ModelError(ModelErrorKind.UNAVAILABLE, "the stream was cut", began=True)

    async def close(self) -> None:
        """Close the connection, or give it back if the answer was read to its end."""
        await self.stream.close()

    async def _next(self) -> ChatCompletionChunk | None:
        import openai

        try:
            return await anext(self.chunks, None)
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

    began: bool = False
    """A piece of the answer has come: text, reasoning or a tool call."""
    finish_reason: str | None = None
    usage: Usage | None = None
    calls: list[_Call] = field(default_factory=list)

    def take(self, chunk: ChatCompletionChunk) -> Iterator[ModelEvent]:
        """Add a chunk; return the events in it.

        Servers differ from the documented shape, so nothing is taken for granted.
        """
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self.usage = Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self.finish_reason = choice.finish_reason or self.finish_reason
            delta = choice.delta
            if delta is None:
                continue
            thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
            if thought and isinstance(thought, str):
                self.began = True
                yield ReasoningDelta(thought)
            if delta.content:
                self.began = True
                yield ContentDelta(delta.content)
            for piece in delta.tool_calls or ():
                self.began = True
                self._add(piece.index, piece.id, piece.function)

    def completed(self) -> Completed:
        """Return the end of the answer."""
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in self.calls)
        return Completed(calls, self.finish_reason, self.usage)

    def _add(self, index: int | None, call_id: str | None, function: Any) -> None:
        known = next((call for call in reversed(self.calls) if call.index == index), None)
        # Some servers give every call the index 0, told apart by their ids only.
        if known is None or (call_id and known.id and call_id != known.id):
            known = _Call(index)
            self.calls.append(known)
        known.id = known.id or call_id or ""
        if function is None:
            return
        # The name comes whole; some servers repeat it with every piece.
        known.name = known.name or function.name or ""
        known.arguments += function.arguments or ""


@dataclass
class _Call:
    """One tool call that is still growing."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""
