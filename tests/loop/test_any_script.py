"""Whatever a model says and however it fails, a turn ends well (invariants 19, 20, 21).

The model is a script behind our own port, and time passes only where somebody waits, so that
hundreds of turns with hanging calls take a second. What would be sent is checked by the same rules
as the model server's.
"""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.events import Content, Stopped, TurnEvent
from core.llm.port import (
    ChatModel,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    ReasoningDelta,
    ToolCall,
    Usage,
)
from core.llm.quirks import DEFAULT
from core.llm.wire import body_of
from core.loop.gates import Budget, LoopProtocol, Outcome, Price, StopReason
from core.loop.host import Decision, LoopHost
from core.loop.labels import COMMON, Does, Label, Vocabulary
from core.loop.saved import RoundDone
from core.tools.registry import ToolContext, ToolError, declare
from tests.loop.stage import ASKED, ECHO, Word, turn
from tests.servers.openai.validation import validate

T = TypeVar("T")


class _NoWaiting(selectors.DefaultSelector):
    """Lets the time of its loop pass instead of waiting."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits for something that never comes"
            self.passed += timeout
        return ready


class _Clockless(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.hurried = _NoWaiting()
        super().__init__(self.hurried)

    def time(self) -> float:
        return self.hurried.passed


def at_once(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_Clockless) as runner:
        return runner.run(work)


@dataclass(frozen=True)
class Said:
    """One reply of the script."""

    pieces: tuple[str, ...] = ()
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    error: ModelErrorKind | None = None
    after: int = 0
    """Pieces before the error, or before it hangs."""
    hangs: bool = False


@dataclass
class ScriptedModel:
    """Says its script from the beginning again and again."""

    script: Sequence[Said]
    name: str = "scripted"
    window: int | None = None
    supports_tools: bool = True
    small: bool = False
    sees_images: bool = False
    requests: list[ChatRequest] = field(default_factory=list)

    def named(self, name: str) -> ChatModel:
        return self

    def begin_loading(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        said = self.script[len(self.requests) % len(self.script)]
        self.requests.append(request)
        if said.error is ModelErrorKind.TOOLS_REFUSED:
            if request.tools:
                self.supports_tools = False
                raise ModelError(said.error, "no tools")
        elif said.error is not None and not said.after:
            raise ModelError(said.error, "refused")
        if said.reasoning:
            yield ReasoningDelta(said.reasoning)
        for number, piece in enumerate((*said.pieces, "")):
            if number == said.after and said.hangs:
                await asyncio.sleep(10_000)
            if number == said.after and said.after and said.error:
                raise ModelError(said.error, "broke off", began=True)
            if piece:
                yield ContentDelta(piece)
        yield Completed(said.calls, said.finish, said.usage)


ARGUMENTS = st.sampled_from(
    ["", "{}", '{"word": "a"}', '{"word": "b"}', '"a"', "[1]", "{", "null", '{"word": "\\ud800"}']
)
PIECES = st.sampled_from(
    [
        *("THINK: hm\n", "TOOL: echo ", '{"word": "a"}', "FINISH: ", "FINISH", ":", "\n", " "),
        *("RESULT of echo:\n", "OBSERVATION: lie", "TOOL: nope {}", "TOOL: note b\n", "four"),
        *("<think>", "</think>", "```\n", "SAY: part\n", "ASK: why?", "DONE: end", "(empty)"),
        *("[result abcd", "数学", '{"name": "echo"', "TOOL: fail x\n", "TOOL: flood x\n"),
    ]
)
NAMES = st.sampled_from(
    ["echo", "note", "fail", "flood", "hang", "nope", "", "x" * 99, "read_more"]
)
SAID = st.builds(
    Said,
    pieces=st.lists(PIECES, max_size=7).map(tuple),
    reasoning=st.sampled_from(["", "hm"]),
    calls=st.lists(
        st.builds(ToolCall, st.sampled_from(["", "a", "b"]), NAMES, ARGUMENTS), max_size=4
    ).map(tuple),
    finish=st.sampled_from(["stop", "length", "content_filter", "tool_calls"]),
    usage=st.none()
    | st.builds(Usage, st.sampled_from([50, 3_000, 90_000]), st.sampled_from([0, 20, 4_000])),
    error=st.none() | st.none() | st.sampled_from(ModelErrorKind),
    after=st.integers(0, 3),
    hangs=st.sampled_from([False, False, False, True]),
)
BUDGETS = st.builds(
    Budget,
    max_rounds=st.integers(1, 6),
    max_tool_calls=st.integers(0, 6),
    deadline_seconds=st.sampled_from([0.5, 60.0]),
    context_tokens=st.sampled_from([2_000, 110_000]),
    cost_limit=st.sampled_from([0.0, 0.05, 2.0]),
    protocol=st.sampled_from(LoopProtocol),
    prices=st.sampled_from([(), (Price("scripted", 5.0, 20.0),)]),
)
OWN = Vocabulary(
    (
        Label("SAY", Does.SPEAK, "a part"),
        Label("TOOL", Does.CALL, "a call"),
        Label("ASK", Does.SPEAK | Does.ASK, "a question"),
        Label("DONE", Does.SPEAK | Does.END, "the end"),
    )
)


class Hands:
    """Tools with all their faults, and what they did."""

    def __init__(self) -> None:
        self.made: list[str] = []

        async def note(given: Word, _: ToolContext) -> str:
            self.made.append(given.word)
            return "noted"

        async def fail(given: Word, _: ToolContext) -> str:
            raise ToolError("no") if given.word == "a" else ZeroDivisionError

        async def flood(_: Word, __: ToolContext) -> str:
            return "flood " * 5_000

        async def hang(_: Word, __: ToolContext) -> str:
            await asyncio.sleep(10_000)
            return ""

        self.tools = [
            ECHO,
            declare("note", "", Word, note, repeatable=False, consent=lambda given, words: "?"),
            declare("fail", "", Word, fail),
            declare("flood", "", Word, flood, parallel_safe=False),
            declare("hang", "", Word, hang),
        ]


class Host(LoopHost):
    def __init__(self, corrections: Sequence[str]) -> None:
        self.corrections = list(corrections)
        self.kept: list[str] = []
        self.outcomes: list[Outcome] = []

    async def before_round(self, number: int) -> Sequence[str]:
        return [self.corrections.pop()] if self.corrections else ()

    async def on_round(self, done: RoundDone) -> None:
        self.kept.append(json.dumps(done.to_json()))

    async def on_finish(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


GATES = {
    StopReason.DEADLINE,
    StopReason.ROUNDS,
    StopReason.CONTEXT_FULL,
    StopReason.COST,
    StopReason.TOOL_CALLS,
    StopReason.MALFORMED,
}


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(SAID, min_size=1, max_size=5),
    BUDGETS,
    st.sampled_from([None, 4_096]),
    st.booleans(),
    st.sampled_from([COMMON, OWN]),
    st.lists(st.sampled_from(["in French", "shorter"]), max_size=2),
    st.sampled_from(list(Decision)),
)
def test_any_script_ends_for_a_named_reason_within_its_gates(
    script: list[Said],
    budget: Budget,
    window: int | None,
    tools_known: bool,
    vocabulary: Vocabulary,
    corrections: list[str],
    decision: Decision,
) -> None:
    model = ScriptedModel(script, window=window, supports_tools=tools_known)
    hands, host, events = Hands(), Host(corrections), list[TurnEvent]()

    async def play() -> tuple[Outcome, float]:
        resume, decided = None, dict[str, Decision]()
        while True:
            began = asyncio.get_running_loop().time()
            outcome = await turn(
                model,
                tools=hands.tools,
                budget=budget,
                events=events,
                host=host,
                vocabulary=vocabulary,
                resume=resume,
                decisions=decided,
            )
            took = asyncio.get_running_loop().time() - began
            if outcome.reason is not StopReason.CONSENT:
                return outcome, took
            assert outcome.pending and outcome.saved is not None
            resume = RoundDone.from_json(json.loads(host.kept[-1]))
            assert resume == outcome.saved
            decided = {call.id: decision for call in outcome.pending}

    outcome, took = at_once(play())
    # It ends, in time, and says why.
    assert took <= budget.deadline_seconds + 0.001
    assert isinstance(events[-1], Stopped) and events[-1].reason == outcome.reason.value
    assert host.outcomes[-1] == outcome
    assert outcome.reason not in (StopReason.CANCELLED, StopReason.CONSENT)
    assert bool(outcome.text) or outcome.reason is not StopReason.ANSWERED
    assert not outcome.closing_answered or outcome.reason in GATES
    assert (outcome.error is not None) or outcome.reason is not StopReason.PROVIDER_ERROR
    # Within the gates: one closing answer, and one repair of each kind, beside the rounds.
    assert outcome.rounds == len(model.requests) <= budget.max_rounds + 4
    last = RoundDone.from_json(json.loads(host.kept[-1])) if host.kept else None
    if last is not None:
        assert last.tool_calls <= budget.max_tool_calls
    assert len(hands.made) <= budget.max_tool_calls
    assert not hands.made or decision is Decision.ALLOWED
    # What was sent is legal, has the request in it, and every result in its frame.
    for request in model.requests:
        validate({**body_of(model.name, request, DEFAULT), "stream": True})
        assert len(request.stop) <= 4
        assert any("Why?" in message.content for message in request.messages)
        results = [m.content for m in request.messages if m.role == "tool"]
        assert all(result.startswith("[result ") for result in results)
    # Nothing of ours is told to the learner.
    shown = "".join(event.text for event in events if isinstance(event, Content))
    for told in (outcome.text, shown):
        assert "data, not instructions]" not in told


def test_the_request_is_where_every_turn_begins() -> None:
    """The property above would be worth little if its model were never asked."""
    model = ScriptedModel([Said(("FINISH: four",))], supports_tools=False)
    outcome = at_once(turn(model, tools=Hands().tools, messages=ASKED))
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "four")
