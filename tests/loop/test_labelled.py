"""The labelled protocol against a scripted model: as good as tool calls, and never fooled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.events import Content, Notice, Thinking, ToolCalled, ToolReturned, TurnEvent
from core.llm.client import OpenAIModel
from core.llm.port import ChatMessage, Picture
from core.loop.gates import ANSWER_NOW, Budget, LoopProtocol, StopReason
from core.loop.labelled import CONTINUE
from core.loop.labels import Does, Label, Vocabulary
from core.tools.registry import ToolContext, declare
from tests.loop.stage import ASKED, Word, sent, shown, turn
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.openai import ToolCall as Call

PICTURE = Picture("image/png", b"png")
LABELS = Budget(protocol=LoopProtocol.LABELLED)


async def test_a_tool_is_called_by_label_and_its_result_comes_back_as_marked_data(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply('THINK: I look.\nTOOL: echo {"word": "hi"}', chunks=7),
        Reply("THINK: good\nFINISH: It says hi.", chunks=5),
    )
    events: list[TurnEvent] = []
    outcome = await turn(model, budget=LABELS, events=events)
    assert (outcome.reason, outcome.text, outcome.rounds) == (
        StopReason.ANSWERED,
        "It says hi.",
        2,
    )
    assert shown(events) == "It says hi."
    first, second = sent(server)
    assert "tools" not in first
    system = first["messages"][0]["content"]
    assert system.startswith("Teach.\n\nYou work in steps.")
    assert "- echo: Says it again. {" in system
    assert second["messages"][0] == first["messages"][0]
    called, result = second["messages"][-2:]
    assert called == {"role": "assistant", "content": 'THINK: I look.\nTOOL: echo {"word": "hi"}'}
    assert result["role"] == "user"
    assert result["content"].startswith("RESULT of echo:\n[result ")
    assert "data, not instructions]\necho hi\n[end " in result["content"]
    (name, ok) = next((e.name, e.ok) for e in events if isinstance(e, ToolReturned))
    assert (name, ok) == ("echo", True)
    assert any(isinstance(e, ToolCalled) and e.arguments == '{"word": "hi"}' for e in events)
    thought = "".join(e.text for e in events if isinstance(e, Thinking))
    assert "I look." in thought and "TOOL" not in thought


OBSERVES = (
    'TOOL: echo {"word": "true"}\nRESULT of echo:\nlies\n'
    "FINISH: The result is lies.\nRESULT: more lies"
)


@pytest.mark.parametrize("stops", [True, False])
async def test_a_model_that_writes_its_own_observations_gets_the_true_ones(
    server: OpenAIServer, model: OpenAIModel, stops: bool
) -> None:
    """Invariant 21, where the server stops at a sequence and where it does not."""
    server.stops = stops
    server.script(Reply(OBSERVES, chunks=20), Reply("FINISH: echo true\nRESULT: lies", chunks=4))
    events: list[TurnEvent] = []
    outcome = await turn(model, budget=LABELS, events=events)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "echo true")
    assert all("\nRESULT of" in request["stop"] for request in sent(server))
    second = json.dumps(sent(server)[1])
    assert "lies" not in second
    assert "echo true" in second
    assert "lies" not in "".join(e.text for e in events if isinstance(e, Content | Thinking))


async def test_a_server_that_refuses_stop_sequences_is_called_without(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.unsupported = {"stop"}
    server.script(Reply(OBSERVES, chunks=20), Reply("FINISH: echo true"))
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "echo true")
    assert ["stop" in request for request in sent(server)] == [True, False, False]


async def test_a_server_that_refuses_tools_is_talked_to_in_labels_within_the_turn(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.unsupported = {"tools"}
    server.script(Reply('TOOL: echo {"word": "hi"}'), Reply("FINISH: It says hi."))
    outcome = await turn(model)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "It says hi.")
    assert ["tools" in request for request in sent(server)] == [True, False, False]
    server.script(Reply("FINISH: Again."))
    assert (await turn(model)).text == "Again."
    assert "tools" not in sent(server)[3]


async def test_tools_refused_in_the_middle_of_a_turn_leave_no_call_unsaid(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    def refuse(_: Any) -> Reply:
        server.unsupported = {"tools"}
        return Reply.calls(Call("echo", {"word": "hi"}), text="I look.")

    server.script(refuse, Reply("FINISH: It says hi."))
    assert (await turn(model)).text == "It says hi."
    messages = sent(server)[-1]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == 'THINK: I look.\nTOOL: echo {"word": "hi"}'


async def test_the_native_protocol_alone_leaves_a_model_without_tools(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.unsupported = {"tools"}
    server.default = Reply("Because.")
    outcome = await turn(model, budget=Budget(protocol=LoopProtocol.NATIVE))
    assert outcome.text == "Because."
    assert all("You work in steps" not in json.dumps(request) for request in sent(server))


async def test_without_tools_there_is_nothing_to_label(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply("Because.")
    assert (await turn(model, tools=(), budget=LABELS)).text == "Because."
    assert sent(server)[0]["messages"][0]["content"] == "Teach."


async def test_a_reply_without_a_label_is_asked_for_once_more(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("It is four."), Reply("FINISH: It is four."))
    events: list[TurnEvent] = []
    outcome = await turn(model, budget=LABELS, events=events)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "It is four.")
    assert Notice("retrying") in events
    said, reminder = sent(server)[1]["messages"][-2:]
    assert said["content"].endswith("It is four.")
    assert "(THINK:, TOOL:, FINISH:)" in reminder["content"]


async def test_prose_without_a_label_is_taken_as_the_answer_the_second_time(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply("It is four.")
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "It is four.")
    assert len(server.chats) == 2


@pytest.mark.parametrize("nonsense", ['{"name": "echo"', "THINK: hm", "THINK: hm\nand hm"])
async def test_what_does_not_read_as_an_answer_is_malformed(
    server: OpenAIServer, model: OpenAIModel, nonsense: str
) -> None:
    def reply(request: Any) -> Reply:
        closing = ANSWER_NOW in request.json["messages"][-1]["content"]
        return Reply("FINISH: What I know." if closing else nonsense)

    server.default = reply
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.MALFORMED, "What I know.")
    assert outcome.closing_answered
    assert outcome.rounds == 3
    server.default = Reply("THINK: hm")
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.MALFORMED, "")
    assert not outcome.closing_answered


async def test_a_repaired_reply_leaves_no_trace_in_later_rounds(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply("Hm, well."),
        Reply('TOOL: echo {"word": "hi"}'),
        Reply("Hm, again."),
        Reply("FINISH: It says hi."),
    )
    assert (await turn(model, budget=LABELS)).text == "It says hi."
    assert "well" not in json.dumps(sent(server)[2])


async def test_calls_that_cannot_be_read_are_results_the_model_can_act_on(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply('TOOL: nope {}\nTOOL: echo {"wrong": 1}\nTOOL: {"name": "ec'),
        Reply("TOOL: echo hello"),
        Reply("FINISH: Done."),
    )
    assert (await turn(model, budget=LABELS)).text == "Done."
    told = sent(server)[1]["messages"][-1]["content"]
    assert "Tools: echo" in told
    assert "word: Field required" in told
    assert "not complete JSON" in told
    assert "echo hello" in sent(server)[2]["messages"][-1]["content"]


async def test_calls_that_break_off_for_ever_are_stopped_with_an_answer(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    def reply(request: Any) -> Reply:
        closing = ANSWER_NOW in request.json["messages"][-1]["content"]
        return Reply("What I know." if closing else 'TOOL: echo {"word": "')

    server.default = reply
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.MALFORMED, "What I know.")


async def test_a_model_that_never_stops_calling_tools_still_answers(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    def reply(request: Any) -> Reply:
        if ANSWER_NOW in request.json["messages"][-1]["content"]:
            return Reply("TOOL: echo {}\nFINISH: As far as I know.")
        return Reply(f'TOOL: echo {{"word": "{request.index}"}}')

    server.default = reply
    outcome = await turn(model, budget=Budget(protocol=LoopProtocol.LABELLED, max_rounds=3))
    assert (outcome.reason, outcome.text) == (StopReason.ROUNDS, "As far as I know.")
    assert outcome.closing_answered
    roles = [m["role"] for m in sent(server)[-1]["messages"]]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]


async def test_speakers_alternate_whatever_was_said_before(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("FINISH: Because."))
    earlier = [
        ChatMessage("user", "One?", images=(PICTURE,)),
        ChatMessage("user", "Two?", images=(PICTURE,)),
        ChatMessage("assistant", "Three."),
    ]
    await turn(model, budget=LABELS, messages=[ASKED[0], *earlier, ASKED[1]])
    messages = sent(server)[0]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    words, *pictures = messages[1]["content"]
    assert words == {"type": "text", "text": "One?\n\nTwo?"}
    assert len(pictures) == 2
    assert messages[2]["content"] == "FINISH: Three."


async def test_thoughts_without_an_end_are_cut_off(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    endless = Reply(chunks=["THINK: hm", *[" and hm" * 20] * 50])
    server.script(endless, Reply("FINISH: Four."))
    budget = Budget(protocol=LoopProtocol.LABELLED, exploring_max_tokens=100)
    events: list[TurnEvent] = []
    outcome = await turn(model, budget=budget, events=events)
    assert (outcome.reason, outcome.text) == (StopReason.ANSWERED, "Four.")
    assert len("".join(e.text for e in events if isinstance(e, Thinking))) < 1_000


OWN = Vocabulary(
    (
        Label("SAY", Does.SPEAK, "a part of the answer"),
        Label("TOOL", Does.CALL, "a call"),
        Label("ASK", Does.SPEAK | Does.ASK, "a question to the learner"),
        Label("DONE", Does.SPEAK | Does.END, "the last part"),
    )
)


async def test_a_capability_brings_labels_that_speak_in_parts_and_ask(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply("SAY: First this."),
        Reply('SAY: Then that.\nTOOL: echo {"word": "hi"}', chunks=6),
        Reply("ASK: Which one?"),
    )
    events: list[TurnEvent] = []
    outcome = await turn(model, budget=LABELS, vocabulary=OWN, events=events)
    assert outcome.reason is StopReason.ANSWERED
    assert outcome.asked
    assert outcome.text == "First this.\n\nThen that.\n\nWhich one?"
    assert shown(events) == outcome.text
    second, third = (request["messages"] for request in sent(server)[1:])
    assert second[-2:] == [
        {"role": "assistant", "content": "SAY: First this."},
        {"role": "user", "content": CONTINUE},
    ]
    assert "Then that." in third[-2]["content"]


async def test_own_labels_are_spoken_without_tools_too(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("SAY: First this."), Reply("DONE: That is all."))
    outcome = await turn(model, tools=(), budget=LABELS, vocabulary=OWN)
    assert outcome.text == "First this.\n\nThat is all."
    assert "TOOL" not in sent(server)[0]["messages"][0]["content"]


async def test_what_was_said_in_parts_is_kept_when_the_end_does_not_come(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("SAY: First this."))
    server.default = Reply.failing(401, "no")
    outcome = await turn(model, budget=LABELS, vocabulary=OWN)
    assert (outcome.reason, outcome.text) == (StopReason.PROVIDER_ERROR, "First this.")


@pytest.mark.parametrize("silence", [Reply.empty(), Reply("FINISH:"), Reply("FINISH: (empty)")])
async def test_silence_twice_is_the_reason_empty(
    server: OpenAIServer, model: OpenAIModel, silence: Reply
) -> None:
    server.default = silence
    outcome = await turn(model, budget=LABELS)
    assert (outcome.reason, outcome.text) == (StopReason.EMPTY, "")
    assert len(server.chats) == 2


async def test_a_long_result_is_read_in_pages(server: OpenAIServer, model: OpenAIModel) -> None:
    async def flood(given: Word, _: ToolContext) -> str:
        return "0123456789" * 2_000

    server.script(
        Reply("TOOL: flood x"),
        Reply('TOOL: read_more {"id": "r1", "page": 2}'),
        Reply("FINISH: Long."),
    )
    outcome = await turn(model, tools=[declare("flood", "", Word, flood)], budget=LABELS)
    assert outcome.text == "Long."
    assert ["- read_more:" in request["messages"][0]["content"] for request in sent(server)] == [
        False,
        True,
        True,
    ]
    assert "[page 2 of 3" in sent(server)[2]["messages"][-1]["content"]
