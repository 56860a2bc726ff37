"""What a turn adds to its request: the rounds of calls, kept so that they can be taken up again.

A call that changes something is written down before it is made. Taken up again without a result,
it may have been made and is not made twice; a call that only reads is made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from core.events import ToolCalled, ToolReturned
from core.llm.port import ChatMessage, ToolCall
from core.loop.call import Caller
from core.loop.dispatch import Dispatcher, Ready, Returned
from core.loop.gates import Budget
from core.loop.host import Decision, LoopHost
from core.loop.meter import Meter
from core.loop.protocol import Step
from core.loop.saved import RoundDone
from core.tools.registry import Asking, HandOver, ToolResult

_LONGEST_ID: Final = 64
INTERRUPTED: Final = (
    "The call was interrupted, and it may have been carried out. It is not made again: say so, "
    "and let the learner check."
)
ENDED: Final = "Done. What the learner says to it is their next message."
_REFUSED: Final = {
    Decision.DENIED: "The learner did not allow this call. Do not ask again; go on without it.",
    Decision.EXPIRED: "The learner has not answered in time whether this call is allowed, so it "
    "was not made. Go on without it, and say so.",
}


class Halt(Enum):
    """Why a turn does not go on after its calls."""

    CONSENT = auto()
    """One of them waits for consent."""
    ENDED = auto()
    """It is a call that ends the turn; see ``Rounds.ending``."""


class Rounds:
    """The rounds of one turn."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        meter: Meter,
        host: LoopHost,
        caller: Caller,
        budget: Budget,
        nonce: str,
    ) -> None:
        self._dispatcher = dispatcher
        self._meter = meter
        self._host = host
        self._caller = caller
        self._budget = budget
        self._nonce = nonce
        self._started: tuple[str, ...] = ()
        self.own: list[ChatMessage] = []
        """What the turn added to its request, in the order it came."""
        self.made = 0
        """Model calls."""
        self.tool_calls = 0
        self.spoken = ""
        """The part of the answer that was given already."""
        self.ending: Asking | HandOver | None = None
        """What the turn ends with, where a call ends it."""
        self.unreadable = 0
        """Rounds in a row whose every call was unreadable."""

    def say(self, text: str) -> None:
        """Keep a part of the answer that the learner has seen."""
        self.spoken = "\n\n".join(part for part in (self.spoken, text) if part)

    def saved(self) -> RoundDone:
        """Return where the turn stands."""
        return RoundDone(
            tuple(self.own),
            self.made,
            self.tool_calls,
            self._meter.usage,
            self._meter.spent,
            self.spoken,
            self._nonce,
            self._started,
        )

    async def report(self) -> None:
        """Let the host keep where the turn stands."""
        await self._host.on_round(self.saved())

    def restore(self, saved: RoundDone) -> None:
        """Go on where a turn was left."""
        self.own[:] = saved.history
        self.made = saved.rounds
        self.tool_calls = saved.tool_calls
        self.spoken = saved.spoken
        self._started = saved.started
        self._meter.usage = saved.usage
        self._meter.spent = saved.spent
        results = {message.tool_call_id for message in self.own}
        for message in self.own:
            self._dispatcher.recall([c for c in message.tool_calls if c.id in results])

    def pending(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last round that have no result."""
        at = self._last_round()
        if at is None:
            return ()
        results = {message.tool_call_id for message in self.own[at + 1 :]}
        return tuple(call for call in self.own[at].tool_calls if call.id not in results)

    async def calls(
        self, step: Step, reasoning: str, seconds: float, decisions: Mapping[str, Decision]
    ) -> Halt | None:
        """Carry out the calls of a step; return what keeps the turn from going on."""
        calls = self._distinct(step.calls)
        for call in calls:
            await self._caller.tell(ToolCalled(call.id, call.name, call.arguments))
        prepared: list[Ready | Returned] = []
        for call in calls:
            left = self._budget.max_tool_calls - self.tool_calls
            prepared.append(self._dispatcher.prepare(call, allowed=left > 0))
            self.tool_calls += left > 0
        message = ChatMessage(
            "assistant",
            step.said,
            tool_calls=tuple(one.call for one in prepared),
            reasoning=reasoning,
        )
        self.own.append(message)
        self._started = ()
        readable = any(isinstance(one, Ready) or one.readable for one in prepared)
        self.unreadable = 0 if readable else self.unreadable + 1
        if len(prepared) == 1 and isinstance(only := prepared[0], Ready) and only.tool.ends:
            self.ending = only.tool.ends(only.given)
            await self._take({only.call.id: Returned(only.call, ToolResult(ENDED, ok=True))})
            return Halt.ENDED
        return await self._carry_out(prepared, seconds, decisions)

    async def finish_calls(self, seconds: float, decisions: Mapping[str, Decision]) -> Halt | None:
        """Give results to the calls that an interruption left without; see ``calls``."""
        waiting = self.pending()
        if not waiting:
            return None
        prepared: list[Ready | Returned] = []
        for call in waiting:
            one = self._dispatcher.prepare(call)
            if isinstance(one, Ready) and call.id in self._started and not one.tool.repeatable:
                one = Returned(call, ToolResult(INTERRUPTED, ok=False))
            prepared.append(one)
        return await self._carry_out(prepared, seconds, decisions)

    async def _carry_out(
        self,
        prepared: Sequence[Ready | Returned],
        seconds: float,
        decisions: Mapping[str, Decision],
    ) -> Halt | None:
        done: dict[str, Returned] = {}
        jobs: list[Ready] = []
        for one in prepared:
            if isinstance(one, Returned):
                done[one.call.id] = one
                continue
            decision = decisions.get(one.call.id) if one.tool.needs_consent else Decision.ALLOWED
            if decision is Decision.ALLOWED:
                jobs.append(one)
            elif decision is not None:
                done[one.call.id] = Returned(one.call, ToolResult(_REFUSED[decision], ok=False))
        changing = tuple(job.call.id for job in jobs if not job.tool.repeatable)
        if changing:
            self._started = changing
            await self.report()
        for returned in await self._dispatcher.run(jobs, seconds=seconds):
            done[returned.call.id] = returned
        in_order = [done[one.call.id] for one in prepared if one.call.id in done]
        await self._take({returned.call.id: returned for returned in in_order})
        await self.report()
        return Halt.CONSENT if len(done) < len(prepared) else None

    async def _take(self, done: Mapping[str, Returned]) -> None:
        """Let results be part of the turn, and known."""
        self._insert(done)
        self._started = ()
        for returned in done.values():
            call, result = returned.call, returned.result
            await self._caller.tell(ToolReturned(call.id, call.name, result.ok))
            await self._host.on_tool_result(call, result)

    def _insert(self, done: Mapping[str, Returned]) -> None:
        """Put results behind the last calls, in their order, before what was said since."""
        at = self._last_round()
        assert at is not None
        after = self.own[at + 1 :]
        known = {m.tool_call_id: m for m in after if m.role == "tool"}
        framed = {name: self._dispatcher.framed(returned) for name, returned in done.items()}
        ordered = [
            message
            for call in self.own[at].tool_calls
            if (message := framed.get(call.id) or known.get(call.id)) is not None
        ]
        self.own[at + 1 :] = [*ordered, *(m for m in after if m.role != "tool")]

    def _last_round(self) -> int | None:
        """Index of the last message with calls."""
        return next((i for i in reversed(range(len(self.own))) if self.own[i].tool_calls), None)

    def _distinct(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Give every call of the turn a short id of its own; some servers send none, or the same.

        A server that numbers the calls of each reply anew would confuse results of two rounds.
        """
        seen = {call.id for message in self.own for call in message.tool_calls}
        distinct: list[ToolCall] = []
        for number, call in enumerate(calls, 1):
            usable = 0 < len(call.id) <= _LONGEST_ID and call.id not in seen
            own = call if usable else replace(call, id=f"call_{self.made}_{number}")
            seen.add(own.id)
            distinct.append(own)
        return distinct
