"""What model families cannot do, as data, and what a refusal teaches about a model. Pure.

The data is a first guess by name; a refusal corrects it for the life of the process (``Lessons``).
Being wrong costs one extra request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one model wants to be called."""

    max_tokens: Literal["max_tokens", "max_completion_tokens", None] = "max_tokens"
    """Name of the parameter; None leaves the limit to the provider."""
    temperature: bool = True
    """Takes the parameter ``temperature``."""
    stream_usage: bool = True
    """Takes ``stream_options.include_usage``."""
    tools: bool = True
    """Takes tools."""
    stop: bool = True
    """Takes stop sequences."""
    replay_reasoning: bool = False
    """Wants its reasoning back beside its tool calls, as ``reasoning_content``."""
    window: int | None = None
    """Tokens that prompt and answer share, where known."""


DEFAULT: Final = Quirks()
_REASONING: Final = Quirks(max_tokens="max_completion_tokens", temperature=False, stop=False)

FAMILIES: Final[tuple[tuple[re.Pattern[str], Quirks], ...]] = (
    # https://platform.openai.com/docs/guides/reasoning: no sampling parameters, no stop
    # sequences, other name of the limit.
    (re.compile(r"(?:^|/)(?:o[1-9]|gpt-[5-9])"), _REASONING),
    (re.compile(r"(?:^|/)gpt-4o|(?:^|/)gpt-4-turbo"), Quirks(window=128_000)),
    (re.compile(r"(?:^|/)gpt-3\.5-turbo"), Quirks(window=16_385)),
    # https://api-docs.deepseek.com/guides/thinking_mode: tool calls need their reasoning back.
    (re.compile(r"deepseek"), Quirks(replay_reasoning=True)),
)
"""Patterns on the lower-case model name; the first match counts."""


def quirks_for(name: str) -> Quirks:
    """Return the first guess for a model."""
    lower = name.lower()
    return next((quirks for pattern, quirks in FAMILIES if pattern.search(lower)), DEFAULT)


_WINDOW: Final = re.compile(
    r"(?:maximum context length|context (?:length|size|window))\D{0,20}?(\d{4,8})", re.IGNORECASE
)
_EXCEEDED: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:size|window)"
    r"|prompt is too long|too many (?:input )?tokens|input is too long",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"unsupported|not support|doesn't support|unrecogni[sz]ed|unknown|unexpected|not permitted"
    r"|not allowed|extra|invalid|only the default|deprecated|not available",
    re.IGNORECASE,
)


def exceeded(text: str) -> bool:
    """Whether an error's code and message say that the request is too large for the model."""
    return bool(_EXCEEDED.search(text))


def window_in(text: str) -> int | None:
    """Return the window that such an error names, if it does."""
    found = _WINDOW.search(text)
    return int(found[1]) if found else None


def lesson(quirks: Quirks, parameter: str | None, message: str) -> Quirks | None:
    """Return what a refused request teaches, or None when it teaches nothing.

    ``parameter`` is the one the provider names, ``message`` its sentence. Each lesson can be
    learned once, so that trying again ends.
    """
    named = _named(parameter, message)
    if named == "max_completion_tokens" and quirks.max_tokens == "max_completion_tokens":
        return replace(quirks, max_tokens=None)
    if named in ("max_tokens", "max_completion_tokens") and quirks.max_tokens == "max_tokens":
        if "max_completion_tokens" in message:
            # Models that want the new name take neither temperature nor stop sequences: one
            # retry, not three.
            return replace(
                quirks, max_tokens="max_completion_tokens", temperature=False, stop=False
            )
        return replace(quirks, max_tokens=None)
    if named == "temperature" and quirks.temperature:
        return replace(quirks, temperature=False)
    if named == "stream_options" and quirks.stream_usage:
        return replace(quirks, stream_usage=False)
    if named == "tools" and quirks.tools:
        return replace(quirks, tools=False)
    if named == "stop" and quirks.stop:
        return replace(quirks, stop=False)
    if named == "reasoning_content":
        return replace(quirks, replay_reasoning=not quirks.replay_reasoning)
    return None


def _named(parameter: str | None, message: str) -> str | None:
    text = parameter or (
        message if _REFUSAL.search(message) or "reasoning_content" in message else ""
    )
    for name in ("stream_options", "temperature", "reasoning_content", "max_tokens"):
        if name in text:
            return name
    if "max_completion_tokens" in text:
        return "max_completion_tokens"
    if re.search(r"[`'\"]stop[`'\"]|^stop$", text):
        return "stop"
    if re.search(r"\btool(?:s|_choice| use| call)", text):
        return "tools"
    return None


class Lessons:
    """What was learned about each model since the process began."""

    def __init__(self) -> None:
        self._learned: dict[str, Quirks] = {}

    def quirks(self, model: str) -> Quirks:
        """Return how ``model`` wants to be called, as far as is known."""
        return self._learned.get(model) or quirks_for(model)

    def learn(self, model: str, quirks: Quirks) -> None:
        """Keep a lesson."""
        self._learned[model] = quirks
