"""Replies as they go over the wire: one JSON object, or a stream of events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.servers.openai.replies import Reply, split

Json = dict[str, Any]
CREATED = 1_790_000_000
END = b"data: [DONE]\n\n"

_numbers = itertools.count(1)


def event(data: object) -> bytes:
    """Return one server-sent event."""
    # Half a surrogate pair is no character: it can only be written as an escape.
    text = json.dumps(data, ensure_ascii=False).encode(errors="backslashreplace")
    return b"data: " + text + b"\n\n"


def identified(reply: Reply) -> list[Json]:
    """Return the reply's tool calls in the API's shape, each with an id of its own."""
    return [
        {
            "id": call.call_id or f"call_{next(_numbers)}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.argument_text},
        }
        for call in reply.tool_calls
    ]


def completion(reply: Reply, model: str) -> Json:
    """Return the answer of a call that does not stream."""
    message: Json = {"role": "assistant", "content": reply.content or None, "refusal": None}
    if not reply.tool_calls:
        message["content"] = reply.content
    if reply.reasoning_deltas:
        message["reasoning_content"] = "".join(reply.reasoning_deltas)
    if reply.tool_calls:
        message["tool_calls"] = identified(reply)
    return {
        "id": f"chatcmpl-{next(_numbers)}",
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": reply.usage,
    }


class Chunks:
    """The events of one streamed answer."""

    def __init__(self, reply: Reply, model: str, include_usage: bool) -> None:
        self._reply = reply
        self._include_usage = include_usage
        self._head = {
            "id": f"chatcmpl-{next(_numbers)}",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": model,
        }

    def opening(self) -> bytes:
        """Return the event that names the role."""
        return self._chunk({"role": "assistant", "content": ""})

    def deltas(self) -> Iterator[bytes]:
        """Yield reasoning, then text, then tool calls, a piece each."""
        for piece in self._reply.reasoning_deltas:
            yield self._chunk({"reasoning_content": piece})
        for piece in self._reply.deltas:
            yield self._chunk({"content": piece})
        pairs = zip(identified(self._reply), self._reply.tool_calls, strict=True)
        for index, (call, scripted) in enumerate(pairs):
            function = {"name": call["function"]["name"], "arguments": ""}
            opening = {"index": index, "id": call["id"], "type": "function", "function": function}
            yield self._chunk({"tool_calls": [opening]})
            for piece in split(scripted.argument_text, scripted.pieces):
                more = {"index": index, "function": {"arguments": piece}}
                yield self._chunk({"tool_calls": [more]})

    def closing(self) -> Iterator[bytes]:
        """Yield the finish reason, the usage when asked for, and the end."""
        yield self._chunk({}, self._reply.finish_reason)
        if self._include_usage:
            yield event({**self._head, "choices": [], "usage": self._reply.usage})
        yield END

    def _chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        data: Json = {**self._head, "choices": [choice]}
        if self._include_usage:
            data["usage"] = None
        return event(data)
