"""What the agent loop adds to a model, and how much of a long talk's prompts can be reused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from pydantic import BaseModel

from bench.figures import median, p95, table
from core.capabilities.chat import CHAT
from core.capabilities.prompt import prompt
from core.capabilities.talk import MOST_LINES, beginning
from core.context import ChatKind, HistoryLine, LearnerId, ReplyTarget, Role, UnifiedContext
from core.llm.port import (
    ChatMessage,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelEvent,
    ToolCall,
    Usage,
)
from core.loop.gates import Budget, prompt_limit
from core.loop.history import estimate, estimate_messages
from core.loop.loop import run_loop
from core.tools.registry import ToolContext, declare
from personas.persona import PersonaLibrary

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ROUNDS = 8
TURNS = 200
BUDGET = Budget(max_rounds=ROUNDS + 1)


class Word(BaseModel):
    """What to echo."""

    word: str


async def _echo(given: Word, context: ToolContext) -> str:
    return f"echo {given.word}"


ECHO = declare("echo", "Says it again.", Word, _echo)
CONTEXT = ToolContext(LearnerId("01JD0000000000000000000000"), "UTC", "en", NOON, "c")


class Instant:
    """A model that calls a tool ``ROUNDS`` times and then answers, all at once."""

    name = "instant"
    window = None
    supports_tools = True
    sees_images = False
    small = False

    def __init__(self) -> None:
        self.made = 0

    def named(self, name: str) -> Instant:
        """There is one model."""
        return self

    def begin_loading(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to close."""

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer in four pieces, or with a call."""
        self.made += 1
        usage = Usage(100 * self.made, 20)
        if self.made <= ROUNDS:
            call = ToolCall(f"call-{self.made}", "echo", f'{{"word": "{self.made}"}}')
            yield Completed((call,), "tool_calls", usage)
            return
        for piece in ("It ", "says ", "it ", "again."):
            yield ContentDelta(piece)
        yield Completed((), "stop", usage)


MESSAGES = (ChatMessage("system", "Teach."), ChatMessage("user", "Say it again."))


async def _ours() -> None:
    await run_loop(
        model=Instant(),
        messages=MESSAGES,
        tools=(ECHO,),
        context=CONTEXT,
        budget=BUDGET,
        emit=lambda _: None,
    )


async def _least() -> None:
    """The least that can be called a loop: no gates, no checks, no labels, no cuts."""
    model = Instant()
    messages = list(MESSAGES)
    while True:
        request = ChatRequest(tuple(messages), (ECHO.spec,), 8_000, 0.2)
        said = ""
        calls: tuple[ToolCall, ...] = ()
        async for event in model.stream(request, deadline=0.0):
            if isinstance(event, ContentDelta):
                said += event.text
            elif isinstance(event, Completed):
                calls = event.tool_calls
        if not calls:
            return
        messages.append(ChatMessage("assistant", said, calls))
        for call in calls:
            result = await ECHO.run(Word.model_validate_json(call.arguments), CONTEXT)
            messages.append(ChatMessage("tool", result, tool_call_id=call.id))


def rounds(times: int) -> None:
    """Print what one round costs, the model left out, beside the least possible loop."""
    rows = []
    least: list[float] = []
    ours: list[float] = []
    for _ in range(times):
        least.append(_round(_least))
        ours.append(_round(_ours))
    for name, waits in (("least loop", least), ("partners", ours)):
        rows.append([name, f"{median(waits):.3f}", f"{p95(waits):.3f}"])
    added = [a - b for a, b in zip(ours, least, strict=True)]
    rows.append(["added", f"{median(added):.3f}", f"{p95(added):.3f}"])
    title = f"A round of the loop, {ROUNDS} rounds a turn with a call each, {times} turns"
    table(title, ("", "ms median", "ms p95"), rows)


def _round(turn: Callable[[], Awaitable[None]]) -> float:
    async def timed() -> float:
        start = time.perf_counter()
        await turn()
        return 1000 * (time.perf_counter() - start) / (ROUNDS + 1)

    return asyncio.run(timed())


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to put a prompt together."""

    name: str
    messages: Callable[[list[HistoryLine], int], tuple[ChatMessage, ...]]


def talk() -> None:
    """Print what a conversation of 200 turns sends, and what of it a provider can reuse.

    A provider that keeps the beginning of a prompt can reuse what is byte for byte the same as
    before. The baseline is the usual order: the clock and the notes among the instructions, and
    the newest forty lines, which slide with every turn.
    """
    persona = PersonaLibrary.load().default
    limit = prompt_limit(Budget(), None)

    def context(lines: list[HistoryLine], turn: int) -> UnifiedContext:
        return UnifiedContext(
            turn_id=f"t{turn}",
            learner_id=CONTEXT.learner_id,
            language="en",
            zone="UTC",
            now=NOON + timedelta(minutes=2 * turn),
            conversation_id="c",
            chat_kind=ChatKind.PRIVATE,
            shared=False,
            speaker="Ada",
            text=f"And what follows from step {turn}?",
            quote=None,
            history=tuple(lines),
            memory_view=f"- Has asked {turn // 5} times about limits.",
            persona_id=persona.id,
            target=ReplyTarget(channel="terminal", account="a", chat="c"),
        )

    def ordered(lines: list[HistoryLine], turn: int) -> tuple[ChatMessage, ...]:
        newest = lines[-MOST_LINES:]
        sizes = [estimate(line.text) for line in newest]
        kept = newest[beginning(sizes, len(lines) - len(newest), limit // 2) :]
        task = CHAT.prompts.of("en", small=False)
        return prompt(context(kept, turn), persona, task, f"{turn:08x}")

    def usual(lines: list[HistoryLine], turn: int) -> tuple[ChatMessage, ...]:
        always, *earlier, now, asked = ordered(lines[-40:], turn)
        first = ChatMessage("system", f"{now.content}\n\n{always.content}")
        return (first, *earlier, asked)

    rows = []
    for way in (_Way("usual order", usual), _Way("partners", ordered)):
        lines: list[HistoryLine] = []
        before = ""
        sent, reused, largest = 0, 0, 0
        for turn in range(TURNS):
            messages = way.messages(lines, turn)
            tokens = estimate_messages(messages)
            whole = "\n".join(f"{m.role}: {m.content}" for m in messages)
            pairs = zip(before, whole, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            sent, largest = sent + tokens, max(largest, tokens)
            reused += estimate(whole[:same])
            before = whole
            lines += [
                HistoryLine(role=Role.LEARNER, text=messages[-1].content),
                HistoryLine(role=Role.TUTOR, text=f"From step {turn} it follows that … " * 12),
            ]
        rows.append([way.name, str(largest), str(limit), str(sent), f"{100 * reused / sent:.0f} %"])
    table(
        f"The prompts of a conversation of {TURNS} turns, in estimated tokens",
        ("", "largest", "limit", "sent in all", "can be reused"),
        rows,
    )
