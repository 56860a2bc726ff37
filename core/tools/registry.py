"""Tools: how one is declared, offered by name, and run so that nothing it does can hurt a turn.

A tool sees only the context of its own turn, which is frozen; it keeps nothing between turns.
Whatever goes wrong (unknown name, arguments that do not fit, time, an exception) becomes a text
the model can act on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from pydantic import BaseModel

from core.context import LearnerId
from core.i18n import Words
from core.llm.port import ToolCall, ToolSpec

log = logging.getLogger(__name__)

RESULT_LIMIT: Final = 8_000
"""Characters of a result that the model gets at once; ``core.loop.pages`` keeps the rest for it."""
MOST_KEPT: Final = 1_000_000
"""Characters of a result that are kept at all; the rest is cut and the cut is named."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """All a tool may know of its turn."""

    learner_id: LearnerId
    zone: str
    """IANA zone name of the learner."""
    language: str
    now: datetime
    """UTC instant at which the turn began."""
    conversation_id: str


class ToolError(Exception):
    """A tool cannot do what was asked; the text tells the model why and what to try."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question that ends the turn; the learner's answer is their next message."""

    question: str
    """Markdown."""
    choices: tuple[str, ...] = ()
    """Answers to choose from; the learner may say something else."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """A command that answers in the model's place, and ends the turn."""

    command: str
    """Name of the command, without slash."""
    arguments: str


Run = Callable[[BaseModel, ToolContext], Awaitable[str]]
A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. Build one with ``declare``."""

    spec: ToolSpec
    arguments: type[BaseModel]
    run: Run
    repeatable: bool
    """Running twice it does what it does running once, so it may run again after a crash."""
    parallel_safe: bool
    """May run beside other calls of the same round."""
    private: bool
    """Tells what is the learner's alone: not offered where others read the answer."""
    deadline_seconds: float
    consent: Callable[[BaseModel, Words], str] | None = None
    """Says to the learner, as Markdown, what a call would do; with it the tool runs only after the
    learner allowed this very call."""

    ends: Callable[[BaseModel], Asking | HandOver] | None = None
    """With it, a call that is alone in its round is not run but ends the turn: by a question to the
    learner, or by a command."""

    @property
    def needs_consent(self) -> bool:
        """The learner is asked before each call."""
        return self.consent is not None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told."""

    text: str
    ok: bool


def declare(
    name: str,
    description: str,
    arguments: type[A],
    run: Callable[[A, ToolContext], Awaitable[str]],
    *,
    repeatable: bool = True,
    parallel_safe: bool = True,
    private: bool = False,
    deadline_seconds: float = 20.0,
    consent: Callable[[A, Words], str] | None = None,
    ends: Callable[[A], Asking | HandOver] | None = None,
) -> Tool:
    """Make a tool from an async function and the pydantic model of its arguments.

    The schema is built here, once, not in each turn. ``run`` may raise ToolError.
    """
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.setdefault("properties", {})

    async def checked(given: BaseModel, context: ToolContext) -> str:
        if not isinstance(given, arguments):
            raise TypeError(f"{name} takes {arguments.__name__}")
        return await run(given, context)

    def asked(given: BaseModel, words: Words) -> str:
        if consent is None or not isinstance(given, arguments):
            raise TypeError(f"{name} asks about {arguments.__name__}")
        return consent(given, words)

    def ending(given: BaseModel) -> Asking | HandOver:
        if ends is None or not isinstance(given, arguments):
            raise TypeError(f"{name} ends a turn by {arguments.__name__}")
        return ends(given)

    return Tool(
        ToolSpec(name, description, schema),
        arguments,
        checked,
        repeatable,
        parallel_safe,
        private,
        deadline_seconds,
        asked if consent is not None else None,
        ending if ends is not None else None,
    )


class ToolRegistry:
    """All tools of the house, by name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool. Raises ValueError when its name is taken."""
        if tool.spec.name in self._tools:
            raise ValueError(f"There already is a tool named {tool.spec.name}.")
        self._tools[tool.spec.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tools, in the order they came."""
        return tuple(self._tools)

    def question(self, call: ToolCall, words: Words) -> str:
        """Return what ``call`` would do, as the learner is asked about it."""
        tool = self._tools[call.name]
        if tool.consent is None:
            raise ValueError(f"{call.name} needs no consent")
        return tool.consent(tool.arguments.model_validate_json(call.arguments), words)

    def select(self, allowed: Collection[str], *, private: bool) -> tuple[Tool, ...]:
        """Return the tools named in ``allowed``. None named means none; unknown names are none.

        Only ``private`` conversations get the private ones.
        """
        return tuple(
            tool
            for name, tool in self._tools.items()
            if name in allowed and (private or not tool.private)
        )


async def run_tool(
    tool: Tool, given: BaseModel, context: ToolContext, *, seconds: float
) -> ToolResult:
    """Run a call to its end and return what the model is told.

    ``given`` are the checked arguments (``core.tools.arguments``); ``seconds`` is what is left of
    the turn, the tool's own deadline applies as well. Raises nothing.
    """
    allowed = min(tool.deadline_seconds, max(seconds, 0.0))
    try:
        async with asyncio.timeout(allowed):
            text = await tool.run(given, context)
    except TimeoutError:
        log.warning("tool %s took more than %.1f s", tool.spec.name, allowed)
        return ToolResult("The tool took too long and was stopped. Go on without it.", ok=False)
    except ToolError as error:
        return ToolResult(cut(str(error), RESULT_LIMIT), ok=False)
    except Exception:  # a tool fault must not end the turn: it is logged, the model is told
        log.exception("tool %s failed", tool.spec.name)
        return ToolResult("The tool failed. Go on without it.", ok=False)
    return ToolResult(cut(text, MOST_KEPT), ok=True)


def cut(text: str, limit: int) -> str:
    """Return ``text`` within ``limit`` characters; what is left out is named at the end."""
    if len(text) <= limit:
        return text
    note = f"\n[cut: {len(text)} characters in all]"
    return text[: max(limit - len(note), 0)] + note
