"""The agent loop: call the model, carry out its calls, until it answers or a gate closes.

It sends only well-formed histories, keeps room for a closing answer, and ends by exactly one named
reason. It knows no learner, no channel and no capability.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from core.events import Notice, Stopped
from core.llm.port import ChatMessage, ChatModel, ChatRequest, ModelError, ModelErrorKind
from core.logs import unspoken
from core.loop.call import Caller, Emit, Reply
from core.loop.dispatch import Dispatcher
from core.loop.gates import (
    Budget,
    Outcome,
    Purse,
    StopReason,
    answer_limit,
    closed_gate,
    prompt_limit,
)
from core.loop.history import trim
from core.loop.host import Decision, LoopHost
from core.loop.labelled import CONTINUE, reads_as_answer
from core.loop.labels import Vocabulary
from core.loop.meter import Meter
from core.loop.protocol import Kind
from core.loop.rounds import Halt, Rounds
from core.loop.saved import RoundDone
from core.loop.talk import Talk
from core.tools.registry import Asking, HandOver, Tool, ToolContext

log = logging.getLogger(__name__)

UNREADABLE_LIMIT: Final = 3
"""Rounds in a row whose every call was unreadable, after which no more calls are taken."""
_LEAST_PROMPT: Final = 1_000
"""Tokens below which a request is not cut on a guess: it would be another one."""
_UNDECIDED: Final[Mapping[str, Decision]] = MappingProxyType({})


async def run_loop(
    *,
    model: ChatModel,
    messages: Sequence[ChatMessage],
    tools: Sequence[Tool],
    context: ToolContext,
    budget: Budget,
    emit: Emit,
    host: LoopHost | None = None,
    vocabulary: Vocabulary | None = None,
    resume: RoundDone | None = None,
    decisions: Mapping[str, Decision] = _UNDECIDED,
) -> Outcome:
    """Answer ``messages``, whose last one of the user is the request.

    ``vocabulary`` are the labels of the capability, for models that are talked to in labels.
    ``resume`` is where the same request was left before; ``decisions`` are the learner's, by the
    ids of the calls that waited for them.

    Raises nothing but cancellation, and what ``host`` raises: every failure is an outcome.
    Cancelling the task ends a call under way and closes its connection.
    """
    turn = _Turn(model, tools, context, budget, emit, host or LoopHost(), vocabulary, resume)
    outcome = await turn.run(messages, resume, decisions)
    await turn.caller.tell(Stopped(outcome.reason.value, outcome.usage))
    return outcome


class _Turn:
    """The state of one turn."""

    def __init__(
        self,
        model: ChatModel,
        tools: Sequence[Tool],
        context: ToolContext,
        budget: Budget,
        emit: Emit,
        host: LoopHost,
        vocabulary: Vocabulary | None,
        resume: RoundDone | None,
    ) -> None:
        self._model = model
        self._budget = budget
        self._host = host
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + budget.deadline_seconds
        nonce = resume.nonce if resume else secrets.token_hex(4)
        dispatcher = Dispatcher(() if model.small else tools, context, nonce)
        self.caller = Caller(model, emit, dispatcher.mark)
        price = budget.price(model.name)
        self._purse = Purse(budget.cost_limit, price, budget.answer_now_max_tokens)
        self._meter = Meter(model.name, budget.price)
        self._rounds = Rounds(dispatcher, self._meter, host, self.caller, budget, nonce)
        self._talk = Talk(model, budget, vocabulary, dispatcher)
        self._prompt: list[ChatMessage] = []
        self._answer_tokens = budget.responding_max_tokens
        self._window = model.window
        self._again: set[str] = set()  # repairs that were tried; each is tried once
        self._error: ModelError | None = None

    async def run(
        self,
        messages: Sequence[ChatMessage],
        resume: RoundDone | None,
        decisions: Mapping[str, Decision],
    ) -> Outcome:
        self._prompt = list(messages)
        own = self._rounds.own
        if resume is not None:
            self._rounds.restore(resume)
            if await self._rounds.finish_calls(self._seconds(), decisions):
                return await self._end(StopReason.CONSENT, "")
        self._trim(prompt_limit(self._budget, self._model.window))
        gate: StopReason | None = None
        while True:
            joined = await self._host.before_round(self._rounds.made + 1)
            if joined:
                own.append(ChatMessage("user", "\n\n".join(joined)))
            gate = gate or self._closed_gate()
            try:
                reply = await self._call(closing=gate is not None)
            except TimeoutError:
                if gate is not None:
                    return await self._end(gate, self.caller.partial)
                log.warning("model call took too long, asking for the closing answer")
                gate = StopReason.DEADLINE
                continue
            except ModelError as error:
                if self._mend(error):
                    await self.caller.tell(Notice("retrying"))
                    continue
                said = unspoken(str(error), (message.content for message in self._history()))
                log.warning("model call failed: %s", said)
                self._error = error
                reason = gate or (
                    StopReason.CONTEXT_FULL
                    if error.kind is ModelErrorKind.CONTEXT_EXCEEDED
                    else StopReason.PROVIDER_ERROR
                )
                return await self._end(reason, "")
            self._talk.repair = ()
            step = reply.step
            match step.kind:
                case Kind.ANSWER:
                    reason = gate or StopReason.ANSWERED
                    answered = gate is not None
                    return await self._end(reason, step.text, answered=answered, asked=step.asked)
                case Kind.CALLS:
                    self._rounds.say(step.text)
                    self._again -= {"label"}
                    # By labels, what goes with a call is thought; else it leads to the question.
                    lead = "" if self._talk.labelled else step.said
                    halt = await self._rounds.calls(
                        step, reply.reasoning, self._seconds(), decisions
                    )
                    if halt is Halt.CONSENT:
                        return await self._end(StopReason.CONSENT, "")
                    if halt is Halt.ENDED:
                        return await self._end(StopReason.ANSWERED, lead, asked=True)
                    if self._rounds.unreadable >= UNREADABLE_LIMIT:
                        gate = StopReason.MALFORMED
                case Kind.GOES_ON:
                    self._again -= {"label"}
                    own += [self._talk.spoke(step.text), ChatMessage("user", CONTINUE)]
                    self._rounds.say(step.text)
                    await self._rounds.report()
                case Kind.VIOLATION if gate is None:
                    if "label" not in self._again:
                        self._again.add("label")
                        self._talk.remind(step.text)
                        await self.caller.tell(Notice("retrying"))
                    elif reads_as_answer(step.text):
                        return await self._end(StopReason.ANSWERED, step.text)
                    else:
                        gate = StopReason.MALFORMED
                case _:
                    if reply.end.finish_reason == "content_filter":
                        self._error = ModelError(ModelErrorKind.REFUSED, "content filter")
                        return await self._end(gate or StopReason.PROVIDER_ERROR, "")
                    if "empty" in self._again or gate is not None:
                        return await self._end(gate or StopReason.EMPTY, step.text)
                    self._again.add("empty")
                    self._talk.tools_off = True
                    await self.caller.tell(Notice("retrying"))

    def _history(self) -> list[ChatMessage]:
        return [*self._prompt, *self._rounds.own]

    def _seconds(self) -> float:
        """What is left for tools."""
        return self._deadline - self._budget.closing_seconds - self._clock()

    def _closed_gate(self) -> StopReason | None:
        used = self._meter.used(self._history())
        affords = self._purse.affords(self._answer_tokens, used, self._meter.spent, closing=False)
        gate = closed_gate(
            self._budget,
            window=self._model.window,
            round_number=self._rounds.made + 1,
            used_tokens=used,
            seconds_left=self._deadline - self._clock(),
            tool_calls=self._rounds.tool_calls,
            affordable=affords is not None,
        )
        # Without tools the round is an answer anyway and needs no order to be one.
        of_calls = gate in (StopReason.ROUNDS, StopReason.TOOL_CALLS)
        return None if of_calls and self._talk.plain else gate

    async def _call(self, *, closing: bool) -> Reply:
        """Make one model call. Raises ModelError, and TimeoutError at the end of its time."""
        self._rounds.made += 1
        protocol = self._talk.now()
        history = self._history()
        used = self._meter.used(history)
        until = self._deadline
        wanted = self._budget.answer_now_max_tokens
        if closing:
            await self.caller.tell(Notice("closing"))
        else:
            until -= self._budget.closing_seconds
            wanted = self._answer_tokens
        wanted = self._purse.affords(wanted, used, self._meter.spent, closing=closing) or wanted
        sent = protocol.tools(self._talk.specs(), closing=closing)
        own = [*self._rounds.own, *self._talk.repair]
        request = ChatRequest(
            protocol.messages(self._prompt, own, closing=closing),
            sent,
            answer_limit(wanted, used, self._model.window),
            self._budget.temperature,
            stop=protocol.stop,
        )
        try:
            reply = await self.caller.call(
                protocol,
                request,
                until=until,
                closing=closing,
                exploring=self._budget.exploring_max_tokens,
                spoken=self._rounds.spoken,
            )
        except TimeoutError:
            self._meter.estimate(used, 0)  # it was read, and is paid for
            raise
        if reply.end.usage is None:
            self._meter.estimate(used, reply.written)
        else:
            plain = not closing and not self._talk.repair
            self._meter.report(reply.end.usage, len(history) if plain else None)
        return reply

    def _mend(self, error: ModelError) -> bool:
        """Prepare another try after ``error``; False when there is none."""
        if error.began:
            # The model tries again by itself until something was shown; from there on it is ours.
            if "broken" not in self._again:
                self._again.add("broken")
                return True
        elif error.kind is ModelErrorKind.TOOLS_REFUSED:
            if "tools" not in self._again:
                self._again.add("tools")
                return True
        elif error.kind is ModelErrorKind.CONTEXT_EXCEEDED and "context" not in self._again:
            self._again.add("context")
            # Not to the brim: the turn has to go on.
            limit = prompt_limit(self._budget, self._model.window) * 3 // 4
            if self._model.window == self._window:
                # The refusal taught us no window, so what was too much is a guess.
                half = self._meter.used(self._history()) // 2
                limit = min(limit, max(half, _LEAST_PROMPT))
                self._answer_tokens = min(self._answer_tokens, 2_000)
            self._trim(limit)
            self._meter.forget()
            return True
        return False

    def _trim(self, limit: int) -> None:
        own = self._rounds.own
        whole = trim(self._history(), limit, turn=len(own))
        self._prompt = list(whole[: len(whole) - len(own)])
        own[:] = whole[len(whole) - len(own) :]

    async def _end(
        self, reason: StopReason, text: str, *, answered: bool = False, asked: bool = False
    ) -> Outcome:
        ending = self._rounds.ending
        asking = ending if isinstance(ending, Asking) else None
        parts = [self._rounds.spoken, text, asking.question if asking else ""]
        outcome = Outcome(
            reason,
            "\n\n".join(filter(None, parts)),
            self._meter.usage,
            self._rounds.made,
            answered,
            self._error,
            asked,
            asking.choices if asking else (),
            None if self._purse.price is None else self._meter.spent,
            hand_over=ending if isinstance(ending, HandOver) else None,
        )
        if reason is StopReason.CONSENT:
            saved = self._rounds.saved()
            pending = self._rounds.pending()
            outcome = replace(outcome, pending=pending, saved=saved)
        await self._host.on_finish(outcome)
        return outcome
