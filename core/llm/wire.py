"""Our request as the wire's JSON, and the client library's errors as ours. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from core.llm.port import ChatMessage, ChatRequest, ModelError, ModelErrorKind, unseen
from core.llm.quirks import Quirks, blind, exceeded, misplaced

if TYPE_CHECKING:
    from openai import APIError


class PassingError(ModelError):
    """A failure that may pass by itself: trying again makes sense."""


class RefusedError(ModelError):
    """The provider would not take the request as it was."""

    def __init__(self, kind: ModelErrorKind, detail: str, parameter: str | None) -> None:
        super().__init__(kind, detail)
        self.parameter = parameter
        """The parameter that the provider names."""


def body_of(name: str, request: ChatRequest, quirks: Quirks) -> dict[str, Any]:
    """Return the parameters of a Chat Completions call, without those that the model refuses."""
    body: dict[str, Any] = {
        "model": name,
        "messages": [_message(message, quirks) for message in _placed(request, quirks)],
    }
    if quirks.max_tokens is not None:
        body[quirks.max_tokens] = request.max_tokens
    if quirks.temperature and request.temperature is not None:
        body["temperature"] = request.temperature
    if quirks.stop and request.stop:
        body["stop"] = list(request.stop)
    if quirks.json_object and request.json_object:
        body["response_format"] = {"type": "json_object"}
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if quirks.tools and request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    return body


def _placed(request: ChatRequest, quirks: Quirks) -> Sequence[ChatMessage]:
    """The messages; all instructions at the beginning, where they have to be."""
    messages = request.messages
    if quirks.late_system or not any(one.role == "system" for one in messages[1:]):
        return messages
    orders = "\n\n".join(one.content for one in messages if one.role == "system")
    return (ChatMessage("system", orders), *(one for one in messages if one.role != "system"))


def _message(message: ChatMessage, quirks: Quirks) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": _content(message, quirks)}
    if message.tool_calls:
        wire["content"] = message.content or None
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
        if quirks.replay_reasoning:  # also empty: those that want it refuse a call without it
            wire["reasoning_content"] = message.reasoning
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _content(message: ChatMessage, quirks: Quirks) -> str | list[dict[str, Any]]:
    """Return the text, as a list of parts where pictures go with it: the text first."""
    if not message.images or not quirks.images:
        return unseen(message)
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}]
    for picture in message.images:
        encoded = base64.b64encode(picture.data).decode("ascii")
        url = f"data:{picture.mime};base64,{encoded}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def translated(error: APIError, *, began: bool) -> ModelError:
    """Return the library's error as one of ours."""
    import openai

    detail = f"{type(error).__name__} {error.code or ''} {error.message}"[:1_000]
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        retry_after = _retry_after(error.response.headers)
    else:
        # An error inside a stream, or no connection: the code may be a status.
        status = int(error.code) if error.code and error.code.isdecimal() else 503
        retry_after = None
    kind = _kind(status, error.code or "", detail)
    if began:
        return ModelError(kind, detail, began=True)
    if kind in (ModelErrorKind.REFUSED, ModelErrorKind.CONTEXT_EXCEEDED):
        return RefusedError(kind, detail, error.param)
    spent = error.code == "insufficient_quota"
    passing = kind in (ModelErrorKind.UNAVAILABLE, ModelErrorKind.RATE_LIMITED) and not spent
    return (PassingError if passing else ModelError)(kind, detail, retry_after=retry_after)


def _kind(status: int, code: str, detail: str) -> ModelErrorKind:
    if status in (400, 413, 422, 500) and exceeded(f"{code} {detail}"):
        return ModelErrorKind.CONTEXT_EXCEEDED
    if status in (400, 404, 415, 422, 500, 501) and (blind(detail) or misplaced(detail)):
        return ModelErrorKind.REFUSED  # some say it as if they were broken, or the model unknown
    if status in (401, 403):
        return ModelErrorKind.UNAUTHORIZED
    if status == 404 or code == "model_not_found":
        return ModelErrorKind.UNKNOWN_MODEL
    if status == 429 or code in ("insufficient_quota", "rate_limit_exceeded"):
        return ModelErrorKind.RATE_LIMITED
    if 400 <= status < 500 and status not in (408, 409, 425):
        return ModelErrorKind.REFUSED
    return ModelErrorKind.UNAVAILABLE


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a reply names (RFC 9110, 10.2.3), at least 0."""
    try:
        if "retry-after-ms" in headers:
            return max(float(headers["retry-after-ms"]) / 1_000, 0.0)
        value = headers.get("retry-after")
        if not value:
            return None
        if value.replace(".", "", 1).isdecimal():
            return float(value)
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None
