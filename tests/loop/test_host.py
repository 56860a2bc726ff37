"""People and restarts in the loop: corrections, consent, and turns that go on where they were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.client import OpenAIModel
from core.llm.port import ChatMessage, ToolCall, Usage
from core.loop.gates import ANSWER_NOW, Budget, LoopProtocol, Outcome, StopReason
from core.loop.host import Decision, LoopHost
from core.loop.saved import RoundDone
from core.tools.registry import Tool, ToolContext, ToolResult, declare
from tests.loop.stage import ECHO, Word, sent, turn
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.openai import ToolCall as Call


class Host(LoopHost):
    """Keeps what it hears; what is written down goes through JSON, as in a database."""

    def __init__(self, *corrections: Sequence[str]) -> None:
        self.corrections = list(corrections)
        self.results: list[tuple[str, str]] = []
        self.rounds: list[str] = []
        self.finished: list[Outcome] = []

    async def before_round(self, number: int) -> Sequence[str]:
        return self.corrections.pop(0) if self.corrections else ()

    async def on_tool_result(self, call: ToolCall, result: ToolResult) -> None:
        self.results.append((call.name, result.text))

    async def on_round(self, done: RoundDone) -> None:
        self.rounds.append(json.dumps(done.to_json()))

    async def on_finish(self, outcome: Outcome) -> None:
        self.finished.append(outcome)

    def saved(self, at: int = -1) -> RoundDone:
        return RoundDone.from_json(json.loads(self.rounds[at]))


class Notes:
    """A tool that changes something, and how often it did."""

    def __init__(self, *, repeatable: bool = False, needs_consent: bool = False) -> None:
        self.made: list[str] = []
        self.gate: asyncio.Event | None = None
        self.reached = asyncio.Event()
        self.tool: Tool = declare(
            "note",
            "Notes it.",
            Word,
            self._run,
            repeatable=repeatable,
            consent=(lambda given, words: given.word) if needs_consent else None,
        )

    async def _run(self, given: Word, _: ToolContext) -> str:
        self.made.append(given.word)
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        return f"noted {given.word}"


async def test_a_correction_joins_at_the_next_round(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply.calls(Call("echo", {"word": "x"})), Reply("In French, then."))
    host = Host((), ["in French please", "and short"])
    outcome = await turn(model, host=host)
    assert outcome.text == "In French, then."
    messages = sent(server)[1]["messages"]
    assert [m["role"] for m in messages[-2:]] == ["tool", "user"]
    assert messages[-1]["content"] == "in French please\n\nand short"
    assert host.finished == [outcome]
    assert host.results == [("echo", "echo x")]


async def test_a_correction_is_heard_by_the_closing_answer_and_the_request_kept(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply(tool_calls=[Call("echo", {"word": "x"})], prompt_tokens=95_000), Reply("Bref.")
    )
    outcome = await turn(model, host=Host((), ["in French"]))
    assert (outcome.reason, outcome.text) == (StopReason.CONTEXT_FULL, "Bref.")
    messages = sent(server)[1]["messages"]
    assert messages[-1]["content"] == f"in French\n\n{ANSWER_NOW}"
    assert messages[1]["content"] == "Why?"


async def test_trimming_keeps_the_request_before_a_correction(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply.calls(Call("echo", {"word": "x"})),
        Reply.failing(400, "prompt is too long", code="context_length_exceeded"),
        Reply("Bref."),
    )
    old = [ChatMessage("user", "x" * 9_000), ChatMessage("assistant", "y" * 9_000)]
    outcome = await turn(
        model,
        host=Host((), ["in French"]),
        messages=[*old, ChatMessage("user", "Why?")],
    )
    assert outcome.text == "Bref."
    contents = [m["content"] for m in sent(server)[2]["messages"]]
    assert (contents[0], contents[-1]) == ("Why?", "in French")


async def test_a_round_is_written_down_before_and_after_what_changes_something(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    notes, host = Notes(), Host()
    server.script(
        Reply.calls(Call("echo", {"word": "a"})),
        Reply.calls(Call("note", {"word": "b"}, call_id="n")),
        Reply("Noted."),
    )
    await turn(model, tools=[ECHO, notes.tool], host=host)
    read, before, after = (host.saved(at) for at in range(3))
    assert [m.role for m in read.history] == ["assistant", "tool"]
    assert before.started == ("n",)
    assert [m.role for m in before.history] == ["assistant", "tool", "assistant"]
    assert after.started == ()
    assert after.history[-1].tool_call_id == "n"
    assert (after.rounds, after.tool_calls, after.usage) == (2, 2, Usage(200, 40))


async def test_a_turn_goes_on_after_its_last_round(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    notes, host = Notes(), Host()
    server.script(Reply.calls(Call("note", {"word": "b"})), Reply.hanging(Gate()))
    task = asyncio.create_task(turn(model, tools=[notes.tool], host=host))
    await server.changes.wait_for(lambda: len(server.chats) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert host.finished == []
    server.script(Reply("Noted."))
    outcome = await turn(model, tools=[notes.tool], host=Host(), resume=host.saved())
    assert (outcome.reason, outcome.text, outcome.rounds) == (StopReason.ANSWERED, "Noted.", 2)
    assert outcome.usage == Usage(200, 40)
    assert notes.made == ["b"]
    assert sent(server)[2]["messages"] == sent(server)[1]["messages"]


@pytest.mark.parametrize("repeatable", [True, False])
async def test_an_interrupted_call_runs_again_only_if_twice_is_as_once(
    server: OpenAIServer, model: OpenAIModel, repeatable: bool
) -> None:
    notes, reader, host = Notes(), Notes(repeatable=True), Host()
    slow = reader if repeatable else notes
    slow.gate = asyncio.Event()
    tools = [notes.tool, declare("read", "", Word, reader._run)]
    calls = [Call("read", {"word": "r"})] if repeatable else []
    server.script(Reply.calls(Call("note", {"word": "n"}), *calls))
    task = asyncio.create_task(turn(model, tools=tools, host=host))
    await slow.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.gate = None
    server.script(Reply("Done."))
    outcome = await turn(model, tools=tools, host=Host(), resume=host.saved())
    assert outcome.reason is StopReason.ANSWERED
    assert notes.made == ["n"]
    results = [m["content"] for m in sent(server)[1]["messages"] if m["role"] == "tool"]
    assert "may have been carried out" in results[0]
    if repeatable:
        assert reader.made == ["r", "r"]
        assert "noted r" in results[1]


@pytest.mark.parametrize("protocol", list(LoopProtocol))
@pytest.mark.parametrize(
    ("decision", "made", "told"),
    [
        (Decision.ALLOWED, ["b"], "noted b"),
        (Decision.DENIED, [], "did not allow"),
        (Decision.EXPIRED, [], "has not answered in time"),
    ],
)
async def test_a_call_that_needs_consent_waits_for_it(
    server: OpenAIServer,
    model: OpenAIModel,
    decision: Decision,
    made: list[str],
    told: str,
    protocol: LoopProtocol,
) -> None:
    notes, host, budget = Notes(needs_consent=True), Host(), Budget(protocol=protocol)
    if protocol is LoopProtocol.LABELLED:
        server.script(Reply('TOOL: echo {"word": "a"}\nTOOL: note {"word": "b"}'))
    else:
        server.script(
            Reply.calls(Call("echo", {"word": "a"}), Call("note", {"word": "b"}), text="I ask.")
        )
    tools = [ECHO, notes.tool]
    waiting = await turn(model, tools=tools, host=host, budget=budget)
    assert (waiting.reason, waiting.text) == (StopReason.CONSENT, "")
    (call,) = waiting.pending
    assert (call.name, call.arguments) == ("note", '{"word": "b"}')
    assert waiting.saved == host.saved()
    assert notes.made == []
    # Nothing was decided yet: it waits on, without a call of the model.
    again = await turn(model, tools=tools, budget=budget, resume=host.saved())
    assert (again.reason, again.pending) == (StopReason.CONSENT, (call,))
    assert len(server.chats) == 1
    server.script(Reply("FINISH: So." if protocol is LoopProtocol.LABELLED else "So."))
    outcome = await turn(
        model,
        tools=tools,
        budget=budget,
        resume=host.saved(),
        decisions={call.id: decision},
    )
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "So.")
    assert notes.made == made
    whole = json.dumps(sent(server)[1])
    assert whole.index("echo a") < whole.index(told)


async def test_an_allowed_call_that_was_interrupted_is_not_made_again(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    notes, host = Notes(needs_consent=True), Host()
    server.script(Reply.calls(Call("note", {"word": "b"}, call_id="n")))
    await turn(model, tools=[notes.tool], host=host)
    notes.gate = asyncio.Event()
    allowed: dict[str, Any] = {"decisions": {"n": Decision.ALLOWED}}
    task = asyncio.create_task(
        turn(model, tools=[notes.tool], host=host, resume=host.saved(), **allowed)
    )
    await notes.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.script(Reply("Please look."))
    outcome = await turn(model, tools=[notes.tool], resume=host.saved(), **allowed)
    assert outcome.text == "Please look."
    assert notes.made == ["b"]
    assert "may have been carried out" in sent(server)[1]["messages"][-1]["content"]


async def test_a_call_with_bad_arguments_asks_for_no_consent(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    notes = Notes(needs_consent=True)
    server.script(Reply.calls(Call("note", {"wrong": 1, "more": 2})), Reply("Sorry."))
    outcome = await turn(model, tools=[notes.tool])
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "Sorry.")


async def test_consent_is_for_one_call_only(server: OpenAIServer, model: OpenAIModel) -> None:
    notes, host = Notes(needs_consent=True), Host()
    server.script(Reply.calls(Call("note", {"word": "b"}, call_id="n")))
    await turn(model, tools=[notes.tool], host=host)
    server.script(Reply.calls(Call("note", {"word": "c"}, call_id="n")))
    outcome = await turn(
        model, tools=[notes.tool], resume=host.saved(), decisions={"n": Decision.ALLOWED}
    )
    assert outcome.reason is StopReason.CONSENT
    assert notes.made == ["b"]


async def test_the_gates_go_on_counting_after_a_restart(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    host, budget = Host(), Budget(max_rounds=2)
    server.script(
        Reply.calls(Call("echo", {"word": "a"})), Reply.calls(Call("echo", {"word": "b"}))
    )
    server.default = Reply("As far as I know.")
    await turn(model, host=host, budget=budget)
    server.script(Reply("As far as I know."))
    outcome = await turn(model, budget=budget, resume=host.saved())
    assert (outcome.reason, outcome.rounds) == (StopReason.ROUNDS, 3)
    assert outcome.closing_answered


async def test_the_same_call_is_counted_over_a_restart(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    host = Host()
    server.script(*[Reply.calls(Call("echo", {"word": "a"}))] * 2, Reply("So."))
    await turn(model, host=host)
    server.script(Reply.calls(Call("echo", {"word": "a"})), Reply("So."))
    await turn(model, resume=host.saved())
    assert "not carried out again" in sent(server)[-1]["messages"][-1]["content"]


TEXT = st.text(max_size=9)
CALLS = st.builds(ToolCall, TEXT, TEXT, TEXT)
MESSAGES = st.builds(
    ChatMessage,
    role=st.sampled_from(["user", "assistant", "tool"]),
    content=TEXT,
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    tool_call_id=st.none() | TEXT,
    reasoning=TEXT,
)


@given(
    st.builds(
        RoundDone,
        history=st.lists(MESSAGES, max_size=4).map(tuple),
        rounds=st.integers(0, 99),
        tool_calls=st.integers(0, 99),
        usage=st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.none() | TEXT),
        spent=st.floats(0, 9),
        spoken=TEXT,
        nonce=TEXT,
        started=st.lists(TEXT, max_size=2).map(tuple),
    )
)
def test_a_turn_that_was_written_down_is_read_back_the_same(done: RoundDone) -> None:
    assert RoundDone.from_json(json.loads(json.dumps(done.to_json()))) == done


@pytest.mark.parametrize(
    "data",
    [{}, {"version": 99}, {"version": 1, "history": 3}, {"version": 1, "history": [{"role": "x"}]}],
)
def test_what_was_not_written_by_us_is_refused(data: dict[str, Any]) -> None:
    whole = {**_empty(), **data} if data.get("version") == 1 else data
    with pytest.raises(ValueError, match="saved"):
        RoundDone.from_json(whole)


def _empty() -> dict[str, Any]:
    return RoundDone((), 0, 0, Usage(0, 0), 0.0, "", "n").to_json()
