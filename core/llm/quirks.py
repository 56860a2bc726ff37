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
    images: bool = True
    """Takes pictures."""
    late_system: bool = True
    """Takes system messages after the first one. Else they are joined at the beginning: some
    providers would move them there, templates of open models refuse them elsewhere."""
    stop: bool = True
    """Takes stop sequences."""
    json_object: bool = True
    """Takes ``response_format`` with the type ``json_object``."""
    replay_reasoning: bool = False
    """Wants its reasoning back beside its tool calls, as ``reasoning_content``."""
    window: int | None = None
    """Tokens that prompt and answer share, where known. Models that people run themselves have the
    window that their server was started with, so the largest possible one is no use here."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that want the same; ``pattern`` is searched in the lower-case name."""

    name: str
    pattern: re.Pattern[str]
    quirks: Quirks


def _family(name: str, pattern: str, quirks: Quirks) -> Family:
    return Family(name, re.compile(pattern), quirks)


DEFAULT: Final = Quirks()
_REASONING: Final = Quirks(max_tokens="max_completion_tokens", temperature=False, stop=False)
_TEXT: Final = Quirks(images=False)
_EARLY: Final = Quirks(late_system=False)
_EARLY_TEXT: Final = Quirks(images=False, late_system=False)

FAMILIES: Final[tuple[Family, ...]] = (
    # What sees first: the names of the rest are parts of theirs.
    _family(
        "models that see, by their names", r"(?:\b|\d)(?:vl|vision|omni|pixtral|llava)\b", _EARLY
    ),
    # https://platform.openai.com/docs/guides/reasoning: no sampling parameters, no stop
    # sequences, other name of the limit. /docs/models: windows.
    _family(
        "OpenAI, first reasoning models without pictures",
        r"(?:^|/)(?:o1-mini|o1-preview|o3-mini)",
        replace(_REASONING, images=False, window=128_000),
    ),
    _family("OpenAI o-series", r"(?:^|/)o[1-9]", replace(_REASONING, window=200_000)),
    _family(
        "OpenAI gpt-5 and later, for chats", r"(?:^|/)gpt-[5-9][\d.]*-chat", Quirks(window=128_000)
    ),
    _family("OpenAI gpt-5 and later", r"(?:^|/)gpt-[5-9]", replace(_REASONING, window=400_000)),
    _family("OpenAI gpt-4.1", r"(?:^|/)gpt-4\.1", Quirks(window=1_047_576)),
    _family("OpenAI gpt-4o", r"(?:^|/)(?:chatgpt-4o|gpt-4o|gpt-4-turbo)", Quirks(window=128_000)),
    _family("OpenAI gpt-4", r"(?:^|/)gpt-4", replace(_TEXT, window=8_192)),
    _family("OpenAI gpt-3.5", r"(?:^|/)gpt-3\.5", replace(_TEXT, window=16_385)),
    _family("OpenAI open weights", r"gpt-oss", _EARLY_TEXT),
    # https://platform.claude.com/docs/en/api/openai-sdk; sampling parameters are refused since
    # Opus 4.7 (/docs/en/about-claude/models/migration-guide).
    _family(
        "Anthropic, sampling",
        r"claude-(?:[123]|instant|(?:opus|sonnet|haiku)-4(?:-\d{8}|[-.][0-6]\b|$|@))",
        replace(_EARLY, window=200_000),
    ),
    _family("Anthropic", r"claude", replace(_EARLY, temperature=False, window=200_000)),
    # https://ai.google.dev/gemini-api/docs/openai
    _family("Gemini", r"gemini", replace(_EARLY, window=1_048_576)),
    # https://api-docs.deepseek.com/guides/thinking_mode: tool calls need their reasoning back.
    _family("DeepSeek", r"deepseek", Quirks(images=False, replay_reasoning=True)),
    # https://platform.moonshot.ai/docs: the thinking ones have a fixed temperature and need their
    # reasoning back; the first ones name their window.
    _family("Moonshot, 8k", r"moonshot-v1-8k", replace(_TEXT, window=8_192)),
    _family("Moonshot, 32k", r"moonshot-v1-32k", replace(_TEXT, window=32_768)),
    _family("Moonshot, 128k", r"moonshot-v1", replace(_TEXT, window=131_072)),
    _family(
        "Kimi without pictures",
        r"kimi-k2-thinking",
        Quirks(images=False, temperature=False, replay_reasoning=True, window=262_144),
    ),
    _family("Kimi K2", r"kimi-k2(?![.\d])", _TEXT),
    _family("Kimi", r"kimi", Quirks(temperature=False, replay_reasoning=True)),
    # https://docs.z.ai/guides: a v behind the number sees; thinking is to be given back.
    _family("GLM that sees", r"glm-\d[\d.]*v", Quirks(replay_reasoning=True)),
    _family("GLM", r"glm-\d", Quirks(images=False, replay_reasoning=True)),
    # https://qwen.ai: what sees has VL or omni in its name, or is 3.5 and later.
    _family("Qwen that sees", r"qwen-?(?:3\.[5-9]|[4-9])", _EARLY),
    _family("Qwen", r"qwen|qwq", _EARLY_TEXT),
    # https://docs.mistral.ai/api: unknown parameters are refused, and usage comes unasked.
    _family(
        "Mistral, text",
        r"mistral-(?:7b|nemo|tiny)|mixtral|codestral|devstral|open-mistral|mistral:",
        replace(_EARLY_TEXT, stream_usage=False),
    ),
    _family("Mistral", r"mistral|magistral|ministral", replace(_EARLY, stream_usage=False)),
    _family("Llama that sees", r"llama-?(?:[4-9]|3\.2-?:?(?:11|90)b)", _EARLY),
    _family("Llama 3", r"llama-?3(?![.\d])", replace(_EARLY_TEXT, window=8_192)),
    _family("Llama", r"(?<!o)llama-?[\d:]|llama$|smollm", _EARLY_TEXT),
    _family(
        "Gemma, text",
        r"gemma-?3[-:](?:1b|270m)|gemma-?[12](?=[-:]|$)|gemma[-:](?:2b|7b)|gemma$",
        _EARLY_TEXT,
    ),
    _family("Gemma", r"gemma", _EARLY),
    _family("Phi, text", r"phi-?[34](?!.*multimodal)", _EARLY_TEXT),
)
"""The first match counts. Servers of one's own (Ollama, LM Studio, vLLM, llama.cpp) give the
models of these families under their names; what such a server leaves out, a refusal teaches."""


def quirks_for(name: str) -> Quirks:
    """Return the first guess for a model: a model that nobody knows is taken to do everything."""
    lower = name.lower()
    return next((one.quirks for one in FAMILIES if one.pattern.search(lower)), DEFAULT)


_WINDOW: Final = re.compile(
    r"(?:maximum context length|context (?:length|size|window))\D{0,20}?(\d{4,8})", re.IGNORECASE
)
_EXCEEDED: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:size|window)"
    r"|prompt is too long|too many (?:input )?tokens|input is too long",
    re.IGNORECASE,
)
_BLIND: Final = re.compile(
    r"image_url|image input|input image|support (?:for )?(?:image|vision|multimodal)"
    r"|not (?:a )?multi-?modal|no vision|vision is not|at most 0 image|(?:process|accept) images"
    r"|expected `text`|list\[textcontentpart\]|content must be a string",
    re.IGNORECASE,
)
_MISPLACED: Final = re.compile(
    r"system (?:message|role|prompt)s?\b.{0,40}\b(?:begin|first|start|position|once|single|one\b)"
    r"|(?:only|multiple|more than one|unexpected|second) (?:the |one )?"
    r"system (?:message|role|prompt)"
    r"|roles must alternate|role 'system'|role `system`",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"unsupported|not support|doesn't support|unrecogni[sz]ed|unknown|unexpected|not permitted"
    r"|not allowed|extra|invalid|only the default|deprecated|not available",
    re.IGNORECASE,
)

_TELLING: Final = ("response_format", "reasoning_content")
"""Parameters that no error names unless it is about them."""


def exceeded(text: str) -> bool:
    """Whether an error's code and message say that the request is too large for the model."""
    return bool(_EXCEEDED.search(text))


def blind(text: str) -> bool:
    """Whether an error's message says that the model takes no pictures.

    Seen of OpenAI (image_url is only supported by certain models), DeepSeek (unknown variant
    `image_url`, expected `text`), Ollama and OpenRouter (support image input), llama.cpp (image
    input is not supported), vLLM (not a multimodal model; at most 0 images), Groq (content must be
    a string).
    """
    return bool(_BLIND.search(text))


def misplaced(text: str) -> bool:
    """Whether an error's message says that a system message stands where none may.

    The templates of Qwen (System message must be at the beginning), Mistral and Gemma
    (conversation roles must alternate), and Mistral's own server (unexpected role 'system') say so.
    """
    return bool(_MISPLACED.search(text))


def window_in(text: str) -> int | None:
    """Return the window that such an error names, if it does."""
    found = _WINDOW.search(text)
    return int(found[1]) if found else None


def lesson(
    quirks: Quirks, parameter: str | None, message: str, *, pictures: bool = False
) -> Quirks | None:
    """Return what a refused request teaches, or None when it teaches nothing.

    ``parameter`` is the one the provider names, ``message`` its sentence, ``pictures`` says whether
    the request had any. Each lesson can be
    learned once, so that trying again ends.
    """
    if pictures and quirks.images and blind(message):
        return replace(quirks, images=False)
    if quirks.late_system and misplaced(message):
        return replace(quirks, late_system=False)
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
    if named == "response_format" and quirks.json_object:
        return replace(quirks, json_object=False)
    if named == "reasoning_content":
        return replace(quirks, replay_reasoning=not quirks.replay_reasoning)
    return None


def _named(parameter: str | None, message: str) -> str | None:
    text = parameter or (
        message if _REFUSAL.search(message) or any(name in message for name in _TELLING) else ""
    )
    for name in ("stream_options", "temperature", *_TELLING, "max_tokens"):
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
