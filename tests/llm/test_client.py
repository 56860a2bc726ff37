"""The model behind an API: real client library, real sockets, a strict server."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from types import AsyncGeneratorType

import pytest

from core.llm.client import OpenAIModel
from core.llm.port import (
    ChatMessage,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    Picture,
    ReasoningDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, Trouble
from tests.servers.openai import ToolCall as Call

LOOK_UP = ToolSpec("look_up", "Looks up.", {"type": "object", "properties": {}})


def request(*, tools: tuple[ToolSpec, ...] = (), temperature: float | None = 0.2) -> ChatRequest:
    return ChatRequest((ChatMessage("user", "Why?"),), tools, 500, temperature)


async def answer(
    model: OpenAIModel, asked: ChatRequest | None = None, *, seconds: float = 30
) -> list[ModelEvent]:
    deadline = asyncio.get_running_loop().time() + seconds
    return [event async for event in model.stream(asked or request(), deadline=deadline)]


async def failure(model: OpenAIModel, *, seconds: float = 30) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await answer(model, seconds=seconds)
    return caught.value


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


async def test_an_answer_streams_in_and_ends_with_the_providers_count(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("Because.", chunks=4, prompt_tokens=11, completion_tokens=3))
    events = await answer(model)
    assert [type(event) for event in events] == [ContentDelta] * 4 + [Completed]
    assert text(events) == "Because."
    assert events[-1] == Completed((), "stop", Usage(11, 3))
    sent = server.chats[0].json
    assert (sent["max_tokens"], sent["temperature"], sent["stream"]) == (500, 0.2, True)
    assert "tools" not in sent


async def test_a_server_that_sends_the_whole_text_each_time_is_read_once(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    whole = "Because the sky scatters blue light most."
    server.script(Reply(chunks=[whole[:n] for n in (5, 18, 30, len(whole))]))
    assert text(await answer(model)) == whole


async def test_reasoning_is_told_apart_from_the_answer(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("Four.", reasoning=["Two and ", "two"]))
    events = await answer(model)
    assert events[:2] == [ReasoningDelta("Two and "), ReasoningDelta("two")]
    assert text(events) == "Four."


async def test_calls_are_put_together_from_their_pieces(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply.calls(
            Call("look_up", {"word": "数"}, call_id="a", pieces=5),
            Call("look_up", '{"x', call_id="b"),
        )
    )
    events = await answer(model, request(tools=(LOOK_UP,)))
    assert isinstance(events[-1], Completed)
    assert events[-1].tool_calls == (
        ToolCall("a", "look_up", '{"word": "数"}'),
        ToolCall("b", "look_up", '{"x'),
    )
    assert server.chats[0].json["tools"][0]["function"]["name"] == "look_up"


async def test_a_history_with_calls_and_results_is_accepted(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply("Done."))
    call = ToolCall("a", "look_up", "{}")
    messages = (
        ChatMessage("system", "Teach."),
        ChatMessage("user", "Why?"),
        ChatMessage("assistant", "", (call,), reasoning="hidden"),
        ChatMessage("tool", "found", tool_call_id="a"),
    )
    await answer(model, ChatRequest(messages, (LOOK_UP,), 500, None))
    sent = server.chats[0].json
    assert "temperature" not in sent
    assert "hidden" not in server.chats[0].body.decode()


@pytest.mark.parametrize(
    "broken",
    [
        Reply.failing(500, "oops"),
        Reply.failing(503, "overloaded"),
        Reply.rate_limited(0.01),
        Reply("lost", trouble=Trouble.DROP),
        Reply("lost", trouble=Trouble.GARBAGE),
        Reply("lost", trouble=Trouble.NO_END),
        Reply("lost", trouble=Trouble.ERROR),
        Reply("lost", content_type="text/html", status=502, error={}),
    ],
)
async def test_what_breaks_before_the_first_word_is_tried_again(
    server: OpenAIServer, model: OpenAIModel, broken: Reply
) -> None:
    server.script(broken, broken, Reply("Because."))
    assert text(await answer(model)) == "Because."
    assert len(server.chats) == 3


@pytest.mark.parametrize("trouble", list(Trouble))
async def test_what_breaks_after_the_first_word_is_not_tried_again(
    server: OpenAIServer, model: OpenAIModel, trouble: Trouble
) -> None:
    server.script(Reply("Because.", chunks=4, trouble=trouble, trouble_after=2))
    error = await failure(model)
    assert error.kind is ModelErrorKind.UNAVAILABLE
    assert error.began
    assert len(server.chats) == 1


async def test_a_server_that_stays_broken_is_given_up(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply.failing(500, "oops")
    error = await failure(model)
    assert (error.kind, error.began) == (ModelErrorKind.UNAVAILABLE, False)
    assert len(server.chats) == 5


async def test_a_wait_beyond_the_deadline_is_not_begun(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply.rate_limited(60)
    error = await failure(model, seconds=30)
    assert error.kind is ModelErrorKind.RATE_LIMITED
    assert error.retry_after == 60
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.failing(401, "bad key"), ModelErrorKind.UNAUTHORIZED),
        (Reply.failing(403, "no"), ModelErrorKind.UNAUTHORIZED),
        (Reply.failing(404, "no such model", code="model_not_found"), ModelErrorKind.UNKNOWN_MODEL),
        (Reply.failing(400, "bad content"), ModelErrorKind.REFUSED),
        (Reply.failing(429, "paid out", code="insufficient_quota"), ModelErrorKind.RATE_LIMITED),
        (
            Reply.failing(400, "too long", code="context_length_exceeded", param="messages"),
            ModelErrorKind.CONTEXT_EXCEEDED,
        ),
    ],
)
async def test_what_no_repetition_can_mend_is_asked_once(
    server: OpenAIServer, model: OpenAIModel, reply: Reply, kind: ModelErrorKind
) -> None:
    server.script(reply)
    assert (await failure(model)).kind is kind
    assert len(server.chats) == 1


async def test_no_server_at_all_is_unavailable() -> None:
    model = OpenAIModel(name="m", api_key="k", base_url="http://127.0.0.1:9/v1", backoff=0.001)
    assert (await failure(model)).kind is ModelErrorKind.UNAVAILABLE
    await model.close()


async def test_refused_parameters_are_renamed_and_dropped_in_one_retry_and_remembered(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply.unsupported("max_tokens", "max_completion_tokens"), Reply("One."), Reply("Two.")
    )
    assert text(await answer(model)) == "One."
    assert text(await answer(model)) == "Two."
    first, second, third = (chat.json for chat in server.chats)
    assert "max_tokens" in first
    for later in (second, third):
        assert later["max_completion_tokens"] == 500
        assert not {"max_tokens", "temperature"} & later.keys()


@pytest.mark.parametrize("name", ["temperature", "stream_options", "stop", "max_tokens"])
async def test_a_server_that_refuses_a_parameter_is_called_without_it(
    server: OpenAIServer, model: OpenAIModel, name: str
) -> None:
    server.unsupported = {name}
    server.default = Reply("Because.")
    for _ in range(2):
        asked = replace(request(tools=(LOOK_UP,)), stop=("END",))
        assert text(await answer(model, asked)) == "Because."
    assert [name in chat.json for chat in server.chats] == [True, False, False]
    assert model.supports_tools


async def test_an_object_is_asked_for_where_the_server_can(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    asked = replace(request(), messages=(ChatMessage("user", "Answer in JSON."),), json_object=True)
    server.default = Reply("{}")
    await answer(model, asked)
    server.unsupported = {"response_format"}
    await answer(model, asked)
    await answer(model, asked)
    formats = [chat.json.get("response_format") for chat in server.chats]
    assert formats == [{"type": "json_object"}, {"type": "json_object"}, None, None]


async def test_a_server_that_refuses_tools_is_not_asked_something_else_instead(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.unsupported = {"tools"}
    server.default = Reply("Because.")
    with pytest.raises(ModelError) as refused:
        await answer(model, request(tools=(LOOK_UP,)))
    assert refused.value.kind is ModelErrorKind.TOOLS_REFUSED
    assert not model.supports_tools
    assert text(await answer(model, request(tools=(LOOK_UP,)))) == "Because."
    assert ["tools" in chat.json for chat in server.chats] == [True, False]


async def test_reasoning_goes_back_only_to_a_model_that_asks_for_it(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    messages = (
        ChatMessage("user", "Why?"),
        ChatMessage("assistant", "", (ToolCall("a", "x", "{}"),), reasoning="because"),
        ChatMessage("tool", "found", tool_call_id="a"),
    )
    missing = "Missing `reasoning_content` field in the assistant message at message index 1"
    server.script(Reply.failing(400, missing), Reply("Done."))
    assert text(await answer(model, ChatRequest(messages, (), 500, None))) == "Done."
    first, second = (chat.json["messages"][1] for chat in server.chats)
    assert "reasoning_content" not in first
    assert second["reasoning_content"] == "because"


PNG = Picture("image/png", b"\x89PNG\r\n\x1a\n rest")


def seeing() -> ChatRequest:
    messages = (ChatMessage("system", "Teach."), ChatMessage("user", "Why?", images=(PNG,)))
    return ChatRequest(messages, (), 500, None)


async def test_a_picture_goes_with_its_message(server: OpenAIServer, model: OpenAIModel) -> None:
    server.default = Reply("A cat.")
    assert text(await answer(model, seeing())) == "A cat."
    sent = server.chats[0].json["messages"][1]["content"]
    assert sent[0] == {"type": "text", "text": "Why?"}
    assert sent[1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    assert model.sees_images


async def test_a_model_that_refuses_pictures_answers_without_and_is_shown_no_more(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.sees = False
    server.default = Reply("Tell me what it shows.")
    for _ in range(2):
        assert text(await answer(model, seeing())) == "Tell me what it shows."
    assert not model.sees_images
    first, *later = (chat.json["messages"][1]["content"] for chat in server.chats)
    assert isinstance(first, list)
    assert len(later) == 2
    for content in later:
        assert content.startswith("Why?\n\n[A picture came with this message. You cannot see")


@pytest.mark.parametrize("status", [404, 500])
async def test_a_refusal_of_pictures_is_known_under_any_status(
    server: OpenAIServer, model: OpenAIModel, status: int
) -> None:
    server.script(
        Reply.failing(status, "image input is not supported by this server"), Reply("Done.")
    )
    assert text(await answer(model, seeing())) == "Done."
    assert not model.sees_images


async def test_a_picture_that_is_refused_for_itself_blinds_nobody(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply.failing(400, "Could not process image"), Reply("Done."), Reply("A cat."))
    assert text(await answer(model, seeing())) == "Done."
    assert model.sees_images
    await answer(model, seeing())
    shown = [isinstance(chat.json["messages"][1]["content"], list) for chat in server.chats]
    assert shown == [True, False, True]


async def test_a_refusal_that_is_not_of_the_pictures_stays_one(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply.failing(400, "Your request was rejected by the safety system")
    with pytest.raises(ModelError) as refused:
        await answer(model, seeing())
    assert refused.value.kind is ModelErrorKind.REFUSED
    assert len(server.chats) == 2


async def test_calls_without_a_thought_satisfy_a_model_that_wants_one(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply("Done.")
    calls = ChatMessage("assistant", "", (ToolCall("a", "x", "{}"),))
    messages = (ChatMessage("user", "Why?"), calls, ChatMessage("tool", "y", tool_call_id="a"))
    await answer(model.named("deepseek-chat"), ChatRequest(messages, (), 500, None))
    assert server.chats[0].json["messages"][1]["reasoning_content"] == ""


async def test_a_lesson_belongs_to_one_model_and_connections_to_all(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(Reply.unsupported("temperature"), Reply("One."), Reply("Two."))
    await answer(model)
    other = model.named("other-model")
    await answer(other)
    assert model.named("test-model") is model
    assert server.chats[-1].json["model"] == "other-model"
    assert "temperature" in server.chats[-1].json


async def test_a_refusal_that_names_the_window_teaches_it(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.script(
        Reply.failing(
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9000 "
            "tokens (1000 in the messages, 8000 in the completion).",
            code="context_length_exceeded",
            param="messages",
        )
    )
    assert model.window is None
    assert (await failure(model)).kind is ModelErrorKind.CONTEXT_EXCEEDED
    assert model.window == 8192


async def test_cancelling_closes_the_connection(server: OpenAIServer, model: OpenAIModel) -> None:
    gate = Gate()
    server.script(Reply.hanging(gate, "half of it", chunks=2, after=1))
    task = asyncio.create_task(answer(model))
    record = await gate.wait_reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.changes.wait_for(lambda: record.hung_up)


async def test_closing_the_answer_early_closes_the_connection(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    gate = Gate()
    server.script(Reply.hanging(gate, "half of it", chunks=2, after=1))
    deadline = asyncio.get_running_loop().time() + 30
    async with aclosing(model.stream(request(), deadline=deadline)) as events:
        assert isinstance(await anext(events), ContentDelta)
    record = await gate.wait_reached()
    await server.changes.wait_for(lambda: record.hung_up)


async def test_a_closed_model_answers_again(server: OpenAIServer, model: OpenAIModel) -> None:
    server.default = Reply("Because.")
    await answer(model)
    await model.close()
    await model.close()
    assert text(await answer(model)) == "Because."


def test_the_client_library_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, core.llm.client, core.llm.choose\n"
        "core.llm.choose.choose(model='m', api_key='k', base_url=None, local_model=None)\n"
        "sys.exit('openai' in sys.modules or 'xllamacpp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_an_answer_that_is_left_in_its_middle_leaves_no_reader_half_way(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    # What is half-way is ended by a collection of garbage, in whatever thread that runs.
    server.script(Reply("word " * 4_000, chunks=400))
    deadline = asyncio.get_running_loop().time() + 30
    gc.collect()
    gc.disable()
    try:
        async with aclosing(model.stream(request(), deadline=deadline)) as events:
            await anext(events)
        await asyncio.sleep(0)
        left = [each.__qualname__ for each in gc.get_objects() if _half_way(each)]
    finally:
        gc.enable()
    assert left == []


def _half_way(thing: object) -> bool:
    return (
        isinstance(thing, AsyncGeneratorType)
        and "Stream" in thing.__qualname__
        and thing.ag_frame is not None
    )


LATE = (
    ChatMessage("system", "Teach."),
    ChatMessage("user", "Hello."),
    ChatMessage("assistant", "Yes?"),
    ChatMessage("system", "It is noon."),
    ChatMessage("user", "When?"),
)


async def test_late_instructions_go_to_the_beginning_where_the_template_wants_them_there(
    server: OpenAIServer, model: OpenAIModel
) -> None:
    server.default = Reply("Noon.")
    server.system_first = True
    for _ in range(2):
        assert text(await answer(model, ChatRequest(LATE, (), 500, None))) == "Noon."
    first, *later = (chat.json["messages"] for chat in server.chats)
    assert [one["role"] for one in first].count("system") == 2
    assert len(later) == 2
    for messages in later:
        assert [one["role"] for one in messages] == ["system", "user", "assistant", "user"]
        assert messages[0]["content"] == "Teach.\n\nIt is noon."
        assert messages[-1]["content"] == "When?", "never in the learner's role"
