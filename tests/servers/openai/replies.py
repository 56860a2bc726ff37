"""What the scripted model says, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from tests.servers.faults import Gate, RecordedRequest


class Trouble(Enum):
    """What breaks in the middle of a streamed answer, after ``Reply.trouble_after`` chunks."""

    DROP = "drop"
    """The connection is cut."""
    GARBAGE = "garbage"
    """A line follows that is not JSON."""
    NO_END = "no_end"
    """The stream ends without finish reason and without the closing mark."""
    ERROR = "error"
    """An error object comes as an event, as providers send it when a model falls over."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool; arguments given as a string are sent as they are, legal or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str = ""
    """Chosen by the server when empty."""
    pieces: int = 2
    """Deltas the arguments are split over."""

    @property
    def argument_text(self) -> str:
        """The arguments as the JSON text that goes over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model."""

    text: str = ""
    chunks: int | Sequence[str] = 1
    """Number of content deltas, or the deltas themselves (then ``text`` is their sum)."""
    reasoning: str | Sequence[str] = ""
    """Sent before the text as ``reasoning_content``."""
    tool_calls: Sequence[ToolCall] = ()
    finish: str | None = None
    """Finish reason; None for ``tool_calls`` or ``stop``, as fits."""
    prompt_tokens: int = 100
    completion_tokens: int = 20
    cached_tokens: int = 0
    status: int = 200
    error: Mapping[str, Any] | None = None
    """With a status other than 200: the error object."""
    headers: Mapping[str, str] = field(default_factory=dict)
    trouble: Trouble | None = None
    trouble_after: int = 0
    """Deltas (of any kind) sent before ``trouble`` or ``gate``."""
    gate: Gate | None = None
    """Where the answer hangs until the test releases it."""
    content_type: str | None = None
    """Another content type than the right one, with the body unchanged."""

    @property
    def content(self) -> str:
        """The whole text."""
        return self.text if isinstance(self.chunks, int) else "".join(self.chunks)

    @property
    def deltas(self) -> list[str]:
        """The text as it is streamed."""
        if not isinstance(self.chunks, int):
            return list(self.chunks)
        return split(self.text, self.chunks)

    def stopped_at(self, stops: Sequence[str]) -> Reply:
        """Return the reply as it is when the model stops before one of these texts."""
        found = [at for stop in stops if (at := self.content.find(stop)) >= 0]
        if not found:
            return self
        left, kept = min(found), []
        for delta in self.deltas:
            kept.append(delta[:left])
            left -= len(kept[-1])
        return replace(self, chunks=[delta for delta in kept if delta], finish="stop")

    @property
    def reasoning_deltas(self) -> list[str]:
        """The reasoning as it is streamed."""
        if isinstance(self.reasoning, str):
            return [self.reasoning] if self.reasoning else []
        return list(self.reasoning)

    @property
    def finish_reason(self) -> str:
        """The finish reason sent."""
        return self.finish or ("tool_calls" if self.tool_calls else "stop")

    @property
    def usage(self) -> dict[str, Any]:
        """The usage object."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }

    @staticmethod
    def calls(*tool_calls: ToolCall, text: str = "") -> Reply:
        """Return a reply that calls tools."""
        return Reply(text, tool_calls=tool_calls)

    @staticmethod
    def empty() -> Reply:
        """Return a reply that says nothing and stops."""
        return Reply(completion_tokens=0)

    @staticmethod
    def hanging(gate: Gate, text: str = "", *, after: int = 0, chunks: int = 1) -> Reply:
        """Return a reply that hangs at the gate after some deltas."""
        return Reply(text, chunks=chunks, gate=gate, trouble_after=after)

    @staticmethod
    def failing(
        status: int,
        message: str,
        *,
        kind: str = "server_error",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return an HTTP error in the API's shape."""
        return Reply(
            status=status, error=error_object(message, kind, code, param), headers=headers or {}
        )

    @staticmethod
    def unsupported(param: str, instead: str | None = None) -> Reply:
        """Return the 400 of a model that does not know a parameter."""
        advice = f" Use '{instead}' instead." if instead else ""
        return Reply.failing(
            400,
            f"Unsupported parameter: '{param}' is not supported with this model.{advice}",
            kind="invalid_request_error",
            code="unsupported_parameter",
            param=param,
        )

    @staticmethod
    def rate_limited(retry_after: float) -> Reply:
        """Return the 429 with a Retry-After in seconds."""
        return Reply.failing(
            429,
            "Rate limit reached for requests.",
            kind="requests",
            code="rate_limit_exceeded",
            headers={"Retry-After": f"{retry_after:g}"},
        )


Script = Reply | Callable[[RecordedRequest], Reply]


def error_object(
    message: str, kind: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """Return the error object of the API."""
    return {"message": message, "type": kind, "param": param, "code": code}


def split(text: str, count: int) -> list[str]:
    """Return ``text`` in ``count`` nearly equal pieces, fewer when it is shorter than that."""
    count = min(count, len(text))
    if count <= 0:
        return []
    size, larger = divmod(len(text), count)
    pieces, at = [], 0
    for i in range(count):
        end = at + size + (1 if i < larger else 0)
        pieces.append(text[at:end])
        at = end
    return pieces
