"""The real openai client against the server: what is scripted is what arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai as sdk
import pytest
from openai.types.chat import ChatCompletionChunk

from tests.servers.faults import Gate, RecordedRequest
from tests.servers.openai import OpenAIServer, Reply, ToolCall, Trouble
from tests.servers.openai.replies import split
from tests.servers_self.conftest import ModelApi

ASK: list[Any] = [{"role": "user", "content": "hi"}]
TOOLS: list[Any] = [{"type": "function", "function": {"name": name}} for name in ("now", "find")]


@pytest.fixture
async def client(openai: OpenAIServer) -> AsyncIterator[sdk.AsyncOpenAI]:
    made = sdk.AsyncOpenAI(api_key="key", base_url=openai.base_url, max_retries=0, timeout=15)
    yield made
    await made.close()


async def stream(client: sdk.AsyncOpenAI, **more: Any) -> list[ChatCompletionChunk]:
    opened = await client.chat.completions.create(
        model="m", messages=ASK, stream=True, stream_options={"include_usage": True}, **more
    )
    return [chunk async for chunk in opened]


def text_of(chunks: list[ChatCompletionChunk]) -> list[str]:
    return [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]


async def test_a_text_arrives_whole_without_streaming(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply("hello", chunks=4, reasoning="hm", prompt_tokens=7, completion_tokens=3))
    answer = await client.chat.completions.create(model="m", messages=ASK, temperature=0.2)
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("hello", "stop")
    assert choice.message.model_extra == {"reasoning_content": "hm"}
    assert answer.usage is not None and answer.usage.total_tokens == 10
    request = openai.requests[0]
    assert (request.json["temperature"], request.json["messages"]) == (0.2, ASK)
    assert request.headers["authorization"] == "Bearer key"


async def test_a_text_is_streamed_in_the_chunks_scripted_with_usage_last(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply("hello world", chunks=4, reasoning=("let ", "me"), cached_tokens=64))
    chunks = await stream(client)
    assert text_of(chunks) == ["hel", "lo ", "wor", "ld"]
    thoughts = [(c.choices[0].delta.model_extra or {}) for c in chunks if c.choices]
    assert [t["reasoning_content"] for t in thoughts if t] == ["let ", "me"]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    last = chunks[-1]
    assert (last.choices, last.usage is not None) == ([], True)
    assert last.usage is not None and last.usage.prompt_tokens_details is not None
    assert last.usage.prompt_tokens_details.cached_tokens == 64
    assert all(chunk.usage is None for chunk in chunks[:-1])


async def test_a_text_ends_before_a_stop_sequence_where_the_server_can(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.default = Reply(chunks=["one\nEN", "D two", "\nEND"])
    assert text_of(await stream(client, stop=["\nEND", "never"])) == ["one"]
    openai.stops = False
    assert "".join(text_of(await stream(client, stop=["\nEND"]))) == "one\nEND two\nEND"


async def test_usage_comes_in_a_stream_only_when_asked_for(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply(chunks=("exactly ", "these"), finish="length"))
    opened = await client.chat.completions.create(model="m", messages=ASK, stream=True)
    chunks = [chunk async for chunk in opened]
    assert text_of(chunks) == ["exactly ", "these"]
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "length"


async def test_parallel_tool_calls_arrive_in_pieces_and_are_answered(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(
        Reply.calls(
            ToolCall("now"), ToolCall("find", {"query": "π"}, call_id="c2", pieces=3), text="Wait."
        ),
        Reply("It is noon."),
    )
    async with client.chat.completions.stream(model="m", messages=ASK, tools=TOOLS) as opened:
        completion = await opened.get_final_completion()
    message = completion.choices[0].message
    assert (message.content, completion.choices[0].finish_reason) == ("Wait.", "tool_calls")
    assert message.tool_calls is not None
    names = [(call.function.name, call.function.arguments) for call in message.tool_calls]
    assert names == [("now", "{}"), ("find", '{"query": "π"}')]
    assert message.tool_calls[1].id == "c2"
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": "12:00"} for call in message.tool_calls
    ]
    history: list[Any] = [*ASK, message.to_dict(exclude_none=True), *results]
    for call in history[1]["tool_calls"]:
        call["function"].pop("parsed_arguments", None)
        call.pop("index", None)
    history[1].pop("parsed", None)
    answer = await client.chat.completions.create(model="m", messages=history, tools=TOOLS)
    assert answer.choices[0].message.content == "It is noon."


async def test_tool_calls_arrive_whole_without_streaming(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply.calls(ToolCall("now", "{broken")))
    answer = await client.chat.completions.create(model="m", messages=ASK, tools=TOOLS)
    message = answer.choices[0].message
    assert message.content is None and message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == "{broken"  # type: ignore[union-attr]


async def test_replies_come_in_order_then_by_default_and_may_be_computed(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    def shout(request: RecordedRequest) -> Reply:
        return Reply(request.json["messages"][-1]["content"].upper())

    openai.script(Reply("first"), shout)
    openai.default = Reply("always")
    said = []
    for _ in range(4):
        answer = await client.chat.completions.create(model="m", messages=ASK)
        said.append(answer.choices[0].message.content)
    assert said == ["first", "HI", "always", "always"]
    assert (openai.unused, len(openai.chats)) == (0, 4)


async def test_an_empty_completion_is_empty(openai: OpenAIServer, client: sdk.AsyncOpenAI) -> None:
    openai.script(Reply.empty(), Reply.empty())
    assert text_of(await stream(client)) == []
    answer = await client.chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == ""


async def test_models_are_listed(openai: OpenAIServer, client: sdk.AsyncOpenAI) -> None:
    openai.models = ("small", "large")
    assert [model.id async for model in client.models.list()] == ["small", "large"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.unsupported("temperature"), sdk.BadRequestError),
        (Reply.failing(401, "no", code="invalid_api_key"), sdk.AuthenticationError),
        (Reply.rate_limited(2), sdk.RateLimitError),
        (Reply.failing(500, "oh"), sdk.InternalServerError),
        (Reply.failing(503, "busy"), sdk.InternalServerError),
    ],
)
async def test_http_errors_become_the_clients_exceptions(
    openai: OpenAIServer, client: sdk.AsyncOpenAI, reply: Reply, kind: type[sdk.APIStatusError]
) -> None:
    openai.script(reply)
    with pytest.raises(kind) as raised:
        await stream(client)
    assert reply.error is not None
    assert raised.value.body == reply.error
    assert raised.value.response.headers.get("retry-after") == reply.headers.get("Retry-After")


async def test_an_unsupported_parameter_is_named(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply.unsupported("max_tokens", "max_completion_tokens"))
    with pytest.raises(sdk.BadRequestError, match="Use 'max_completion_tokens'") as raised:
        await client.chat.completions.create(model="m", messages=ASK, max_tokens=5)
    assert (raised.value.param, raised.value.code) == ("max_tokens", "unsupported_parameter")


async def until_it_breaks(client: sdk.AsyncOpenAI) -> tuple[list[str], Exception | None]:
    opened = await client.chat.completions.create(model="m", messages=ASK, stream=True)
    got: list[str] = []
    try:
        async for chunk in opened:
            got += text_of([chunk])
    except Exception as error:  # noqa: BLE001 - which of many it is differs by fault
        return got, error
    return got, None


@pytest.mark.parametrize("trouble", [Trouble.DROP, Trouble.GARBAGE, Trouble.ERROR])
@pytest.mark.parametrize("after", [0, 2, 4])
async def test_a_stream_can_break_after_any_chunk(
    openai: OpenAIServer, client: sdk.AsyncOpenAI, trouble: Trouble, after: int
) -> None:
    openai.script(Reply("abcd", chunks=4, trouble=trouble, trouble_after=after))
    got, error = await until_it_breaks(client)
    # A cut may swallow what was still on its way.
    assert got == list("abcd")[: len(got)] and len(got) <= after
    assert trouble is Trouble.DROP or len(got) == after
    assert error is not None


async def test_a_stream_can_end_without_an_end(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.script(Reply("abcd", chunks=4, trouble=Trouble.NO_END, trouble_after=3))
    opened = await client.chat.completions.create(model="m", messages=ASK, stream=True)
    chunks = [chunk async for chunk in opened]
    assert text_of(chunks) == ["a", "b", "c"]
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)


@pytest.mark.parametrize("trouble", [Trouble.DROP, Trouble.GARBAGE, Trouble.ERROR])
async def test_a_whole_answer_can_break_too(
    openai: OpenAIServer, client: sdk.AsyncOpenAI, trouble: Trouble
) -> None:
    openai.script(Reply("abcd", trouble=trouble))
    with pytest.raises((sdk.APIError, ValueError)):
        await client.chat.completions.create(model="m", messages=ASK)


@pytest.mark.parametrize("more", [{}, {"stream": True}])
async def test_a_wrong_content_type_is_sent_as_scripted(
    openai: OpenAIServer, model: ModelApi, more: dict[str, Any]
) -> None:
    openai.script(Reply("x", content_type="text/html"))
    async with model.session.post(
        f"{openai.base_url}/chat/completions",
        json={"model": "m", "messages": ASK, **more},
        headers={"Authorization": "Bearer key"},
    ) as response:
        assert (response.status, response.content_type) == (200, "text/html")
        assert "chat.completion" in await response.text()


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_answer_hangs_until_it_is_released(
    openai: OpenAIServer, client: sdk.AsyncOpenAI, streaming: bool
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "abcd", after=2, chunks=4))
    call: asyncio.Task[Any] = asyncio.create_task(
        stream(client) if streaming else client.chat.completions.create(model="m", messages=ASK)
    )
    await gate.wait_reached()
    assert not call.done()
    gate.release()
    answer = await call
    whole = "".join(text_of(answer)) if streaming else answer.choices[0].message.content
    assert whole == "abcd"


async def test_a_client_that_hangs_up_is_noticed(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "abcd", after=1, chunks=4))
    call = asyncio.create_task(stream(client))
    await gate.wait_reached()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await openai.wait_for(lambda: openai.requests[0].hung_up)
    assert openai.requests[0].status is None


async def test_a_bench_gets_its_four_chunks_at_once(
    openai: OpenAIServer, client: sdk.AsyncOpenAI
) -> None:
    openai.default = Reply("one two three four", chunks=4)
    answers = await asyncio.gather(*(stream(client) for _ in range(40)))
    assert all(len(text_of(chunks)) == 4 for chunks in answers)


def test_a_text_is_split_without_loss() -> None:
    assert split("abcdefg", 3) == ["abc", "de", "fg"]
    assert split("ab", 5) == ["a", "b"]
    assert split("", 5) == []
