"""The agent loop: call the model, carry out its calls, until it answers or a gate closes.

Native tool calls: a round without calls is the answer. It sends only well-formed histories, keeps
room for a closing answer, and ends by exactly one named reason. It knows no learner, no channel
and no capability.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from core.events import (
    Content,
    Notice,
    Stopped,
    Thinking,
    ToolCalled,
    ToolReturned,
    TurnEvent,
)
from core.llm.port import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ReasoningDelta,
    ToolCall,
    Usage,
)
from core.logs import unspoken
from core.loop.dispatch import Dispatcher
from core.loop.gates import (
    Budget,
    Outcome,
    StopReason,
    answer_limit,
    closed_gate,
    ordered_to_answer,
    prompt_limit,
)
from core.loop.history import estimate_messages, trim, well_formed
from core.loop.scrub import Hidden, Piece, Retract, Scrubber, Visible, joined
from core.tools.registry import Tool, ToolContext
from memory.characters import is_blank

log = logging.getLogger(__name__)

Emit = Callable[[TurnEvent], Awaitable[None] | None]
"""Takes the turn's events. It should return at once: the model waits for it."""

UNREADABLE_LIMIT: Final = 3
"""Rounds in a row whose every call was unreadable, after which no more calls are taken."""
_LONGEST_ID: Final = 64
_SENTINELS: Final = frozenset({"(empty)", "[empty]", "(no content)", "[no content]"})
"""What some models and proxies send instead of nothing."""


async def run_loop(
    *,
    model: ChatModel,
    messages: Sequence[ChatMessage],
    tools: Sequence[Tool],
    context: ToolContext,
    budget: Budget,
    emit: Emit,
) -> Outcome:
    """Answer ``messages``, whose last one of the user is the request.

    Raises nothing but cancellation: every failure is an outcome. Cancelling the task ends a call
    under way and closes its connection.
    """
    turn = _Turn(model, tools if model.supports_tools else (), context, budget, emit)
    outcome = await turn.run(messages)
    await turn.tell(Stopped(outcome.reason.value, outcome.usage))
    return outcome


@dataclass(frozen=True, slots=True)
class _Reply:
    """What the model said in one call."""

    text: str
    reasoning: str
    end: Completed


class _Turn:
    """The state of one turn."""

    def __init__(
        self,
        model: ChatModel,
        tools: Sequence[Tool],
        context: ToolContext,
        budget: Budget,
        emit: Emit,
    ) -> None:
        self._model = model
        self._budget = budget
        self._emit = emit
        self._specs = tuple(tool.spec for tool in tools)
        self._dispatcher = Dispatcher(tools, context, secrets.token_hex(4))
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + budget.deadline_seconds
        self._history: list[ChatMessage] = []
        self._counted = 0  # messages at the start of the history that ...
        self._tokens = 0  # ... this many tokens were reported for
        self._usage = Usage(0, 0)
        self._rounds = 0
        self._attempt = 0
        self._unreadable = 0
        self._answer_tokens = budget.responding_max_tokens
        self._shown: list[Piece] = []  # of the call under way
        self._partial = ""  # what had arrived of an answer that took too long
        self._window = model.window
        self._again: set[str] = set()  # repairs that were tried; each is tried once

    async def run(self, messages: Sequence[ChatMessage]) -> Outcome:
        self._history = list(trim(messages, prompt_limit(self._budget, self._model.window)))
        gate: StopReason | None = None
        while True:
            gate = gate or self._closed_gate()
            try:
                reply = await self._call(closing=gate is not None)
            except TimeoutError:
                self._partial = self._text() or self._partial
                if gate is not None:
                    return self._end(gate, self._partial)
                log.warning("model call took too long, asking for the closing answer")
                gate = StopReason.DEADLINE
                continue
            except ModelError as error:
                if self._mend(error):
                    await self.tell(Notice("retrying"))
                    continue
                said = unspoken(str(error), (message.content for message in self._history))
                log.warning("model call failed: %s", said)
                reason = gate or (
                    StopReason.CONTEXT_FULL
                    if error.kind is ModelErrorKind.CONTEXT_EXCEEDED
                    else StopReason.PROVIDER_ERROR
                )
                return self._end(reason, "", error=error)
            if reply.end.tool_calls and self._specs and gate is None:
                await self._carry_out(reply)
                if self._unreadable >= UNREADABLE_LIMIT:
                    gate = StopReason.MALFORMED
                continue
            if reply.text:
                reason = gate or StopReason.ANSWERED
                return self._end(reason, reply.text, closing_answered=gate is not None)
            if reply.end.finish_reason == "content_filter":
                refused = ModelError(ModelErrorKind.REFUSED, "content filter")
                return self._end(StopReason.PROVIDER_ERROR, "", error=refused)
            if "empty" in self._again or gate is not None:
                return self._end(gate or StopReason.EMPTY, "")
            self._again.add("empty")
            self._specs = ()
            await self.tell(Notice("retrying"))

    async def tell(self, event: TurnEvent) -> None:
        """Hand an event to the watcher."""
        waiting = self._emit(event)
        if waiting is not None:
            await waiting

    def _closed_gate(self) -> StopReason | None:
        gate = closed_gate(
            self._budget,
            window=self._model.window,
            round_number=self._rounds + 1,
            used_tokens=self._used_tokens(),
            seconds_left=self._deadline - self._clock(),
        )
        # Without tools the round is an answer anyway and needs no order to be one.
        return None if gate is StopReason.ROUNDS and not self._specs else gate

    def _used_tokens(self) -> int:
        return self._tokens + estimate_messages(self._history[self._counted :])

    async def _call(self, *, closing: bool) -> _Reply:
        """Make one model call. Raises ModelError, and TimeoutError at the end of its time."""
        self._rounds += 1
        self._attempt += 1
        self._shown = []
        messages = well_formed(self._history)
        until = self._deadline
        wanted = self._budget.answer_now_max_tokens
        if closing:
            await self.tell(Notice("closing"))
            messages = ordered_to_answer(messages)
        else:
            until -= self._budget.closing_seconds
            wanted = self._answer_tokens
        request = ChatRequest(
            messages,
            () if closing else self._specs,
            answer_limit(wanted, self._used_tokens(), self._model.window),
            self._budget.temperature,
        )
        scrubber = Scrubber()
        reasoning: list[str] = []
        end: Completed | None = None
        async with (
            asyncio.timeout_at(until),
            aclosing(self._model.stream(request, deadline=until)) as events,
        ):
            async for event in events:
                match event:
                    case ContentDelta(text):
                        await self._show(scrubber.feed(text))
                    case ReasoningDelta(text):
                        reasoning.append(text)
                        await self.tell(Thinking(text))
                    case Completed():
                        end = event
            await self._show(scrubber.finish())
        if end is None:
            raise ModelError(ModelErrorKind.UNAVAILABLE, "no end of the answer", began=True)
        if end.usage is not None:
            self._usage += end.usage
            if not closing:
                self._tokens = end.usage.prompt_tokens
                self._counted = len(self._history)
        return _Reply(self._text(), "".join(reasoning), end)

    def _text(self) -> str:
        """Return the answer as far as it has arrived in this call."""
        text = self._dispatcher.unframed(joined(self._shown))
        return "" if text in _SENTINELS or is_blank(text.strip("`~")) else text

    async def _show(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            match piece:
                case Visible(text):
                    await self.tell(Content(text, self._attempt))
                case Hidden(text):
                    await self.tell(Thinking(text))
                case Retract():
                    self._attempt += 1
            self._shown.append(piece)

    async def _carry_out(self, reply: _Reply) -> None:
        calls = _distinct(reply.end.tool_calls)
        for call in calls:
            await self.tell(ToolCalled(call.id, call.name, call.arguments))
        left = self._deadline - self._budget.closing_seconds - self._clock()
        results = await self._dispatcher.run(calls, seconds=left)
        self._history.append(
            ChatMessage(
                "assistant",
                reply.text,
                tool_calls=tuple(returned.call for returned in results),
                reasoning=reply.reasoning,
            )
        )
        for returned in results:
            self._history.append(self._dispatcher.framed(returned))
            await self.tell(ToolReturned(returned.call.id, returned.call.name, returned.result.ok))
        readable = any(returned.readable for returned in results)
        self._unreadable = 0 if readable else self._unreadable + 1

    def _mend(self, error: ModelError) -> bool:
        """Prepare another try after ``error``; False when there is none."""
        if error.began:
            # The model tries again by itself until something was shown; from there on it is ours.
            if "broken" not in self._again:
                self._again.add("broken")
                return True
        elif error.kind is ModelErrorKind.TOOLS_REFUSED and self._specs:
            self._specs = ()
            return True
        elif error.kind is ModelErrorKind.CONTEXT_EXCEEDED and "context" not in self._again:
            self._again.add("context")
            limit = prompt_limit(self._budget, self._model.window)
            if self._model.window == self._window:
                # The refusal taught us no window, so what was too much is a guess.
                limit = min(limit, self._used_tokens() // 2)
                self._answer_tokens = min(self._answer_tokens, 2_000)
            self._history = list(trim(self._history, limit))
            self._counted = self._tokens = 0
            return True
        return False

    def _end(
        self,
        reason: StopReason,
        text: str,
        *,
        closing_answered: bool = False,
        error: ModelError | None = None,
    ) -> Outcome:
        return Outcome(reason, text, self._usage, self._rounds, closing_answered, error)


def _distinct(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Give every call of a round a short id of its own; some servers send none, or the same."""
    seen: set[str] = set()
    distinct: list[ToolCall] = []
    for number, call in enumerate(calls, 1):
        usable = 0 < len(call.id) <= _LONGEST_ID and call.id not in seen
        own = call if usable else replace(call, id=f"call_{number}")
        seen.add(own.id)
        distinct.append(own)
    return distinct
