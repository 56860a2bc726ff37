"""The port to a language model: the request, the events of its answer, and what can go wrong.

Nothing here knows a provider. ``core.llm.client`` and ``core.llm.local`` implement ``ChatModel``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of the arguments, an object."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asks for. ``arguments`` is what it wrote, valid JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture for a model that can see."""

    mime: str
    """``image/jpeg`` or ``image/png``, which every provider takes."""
    data: bytes = field(repr=False)


PICTURE_TOKENS: Final = 1_600
"""About what a picture costs of the window, as providers count those of 1,568 pixels."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the request."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Only on an assistant's message."""
    tool_call_id: str | None = None
    """Only on a tool's message: the call that this is the result of."""
    reasoning: str = ""
    """What the model thought before these tool calls. Some models want it back within the turn;
    it goes to no other."""
    images: tuple[Picture, ...] = ()
    """Only on a user's message. A model that cannot see is told that they came."""


def unseen(message: ChatMessage) -> str:
    """Return the text of a message for a model that cannot see: it says that pictures came."""
    if not message.images:
        return message.content
    many = len(message.images)
    what = "A picture" if many == 1 else f"{many} pictures"
    note = f"[{what} came with this message. You cannot see pictures: say so, and do not guess.]"
    return f"{message.content}\n\n{note}"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    """Empty means that the model can call nothing."""
    max_tokens: int
    """Upper limit of the answer."""
    temperature: float | None
    """None leaves it to the model."""
    stop: tuple[str, ...] = ()
    """Texts at which the answer ends, themselves left out; at most four. A model that cannot do
    that goes on writing."""
    json_object: bool = False
    """The answer is to be one JSON object; the messages say so too, with the word JSON, as
    providers demand. A model that knows no such mode is asked in words alone."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them."""

    prompt_tokens: int
    completion_tokens: int
    stand_in: str | None = None
    """Name of the model that answered in place of the one that was asked, where one did."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            other.stand_in or self.stand_in,
        )


@dataclass(frozen=True, slots=True)
class ContentDelta:
    """A piece of the answer, as it came; tags of thinking may still be in it."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking; never shown as the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of an answer; the last event of every stream that did not raise."""

    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    """The provider's word, for example ``stop``, ``length``, ``tool_calls``."""
    usage: Usage | None
    """None when the provider does not tell."""


ModelEvent = ContentDelta | ReasoningDelta | Completed


class ModelErrorKind(StrEnum):
    """Why a model call failed, as far as somebody would act differently."""

    UNAUTHORIZED = "unauthorized"
    """The key is missing, wrong or not allowed to use this model."""
    UNKNOWN_MODEL = "unknown_model"
    """The provider has no model of that name."""
    RATE_LIMITED = "rate_limited"
    """Too many requests, or the account has nothing left to spend."""
    UNAVAILABLE = "unavailable"
    """Not reachable, broken, overloaded, or the stream was cut."""
    REFUSED = "refused"
    """The provider will not take this very request (content filter, invalid request)."""
    CONTEXT_EXCEEDED = "context_exceeded"
    """The request is larger than the model's window."""
    TOOLS_REFUSED = "tools_refused"
    """The model turned out to take no tools; ``ChatModel.supports_tools`` is False from now on."""
    NOT_LOADED = "not_loaded"
    """The local model cannot be loaded here."""


class ModelError(Exception):
    """A model call failed for good (retries are done). ``detail`` is for the log alone."""

    def __init__(
        self,
        kind: ModelErrorKind,
        detail: str,
        *,
        retry_after: float | None = None,
        began: bool = False,
    ) -> None:
        super().__init__(f"{kind.value}: {detail}")
        self.kind = kind
        self.detail = detail
        """May quote the provider; never shown to a learner."""
        self.retry_after = retry_after
        """Seconds the provider asked to wait, where it did."""
        self.began = began
        """Part of the answer had come, so the call was not tried again."""


class ChatModel(Protocol):
    """A model that answers. One for the process; calls may run side by side."""

    @property
    def name(self) -> str:
        """Name for logs and the usage report."""

    @property
    def window(self) -> int | None:
        """Tokens that prompt and answer share; None when not known."""

    @property
    def supports_tools(self) -> bool:
        """The model can call tools."""

    @property
    def sees_images(self) -> bool:
        """The model takes pictures, as far as is known: False once it has refused one."""

    @property
    def small(self) -> bool:
        """Wants a short prompt: reads slowly and understands little."""

    def named(self, name: str) -> ChatModel:
        """Return another model of the same provider, sharing its connections.

        Where there is only one model, that one.
        """

    def begin_loading(self) -> None:
        """Start whatever takes long before the first call, without waiting. Safe to repeat."""

    def stream(self, request: ChatRequest, *, deadline: float) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request``, event by event, ending with ``Completed``.

        ``deadline`` is in the running loop's time (seconds); no retry starts that could not end
        before it. A call under way is ended by closing the generator or cancelling the task, which
        closes the connection. Raises ModelError.
        """

    async def close(self) -> None:
        """Free connections or memory. Safe to repeat."""
