"""The model server takes what the real endpoint takes and refuses the rest in its words."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from tests.servers.openai import OpenAIServer, Reply
from tests.servers_self.conftest import ModelApi

USER = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}


def call(call_id: str, **changes: Any) -> dict[str, Any]:
    function = {"name": "now", "arguments": "{}"}
    return {"id": call_id, "type": "function", "function": function, **changes}


def calling(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(i) for i in ids]}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "12:00"}


def showing(image: Any) -> dict[str, Any]:
    part = {"type": "image_url", "image_url": image}
    return {"messages": [{"role": "user", "content": [part]}]}


@pytest.mark.parametrize(
    ("changes", "param", "words"),
    [
        ({"model": ...}, None, "you must provide a model parameter"),
        ({"model": ""}, None, "you must provide a model parameter"),
        ({"messages": ...}, "messages", "Missing required parameter: 'messages'."),
        ({"messages": "hi"}, "messages", "expected an array"),
        ({"messages": []}, "messages", "empty array"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "messages[0].role", "Supported values"),
        ({"messages": ["x"]}, "messages[0].role", "Supported values"),
        ({"messages": [{"role": "user", "content": None}]}, "messages.[0].content", "got null"),
        (
            {"messages": [{"role": "user", "content": 5}]},
            "messages.[0].content",
            "expected a string",
        ),
        ({"messages": [{"role": "user", "content": []}]}, "messages.[0].content", "empty array"),
        (
            {"messages": [{"role": "user", "content": [{"type": "smell"}]}]},
            "messages.[0].content",
            "part of type 'smell'",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages.[0].content",
            "a text part without text",
        ),
        (showing({}), "messages.[0].content.[0].image_url", "Missing required parameter"),
        (
            showing({"url": "http://127.0.0.1/x.png"}),
            "messages.[0].content.[0].image_url",
            "Expected a valid URL",
        ),
        (
            showing({"url": "data:image/png;base64,AAAA"}),
            "messages.[0].content.[0].image_url",
            "unsupported image",
        ),
        (
            showing({"url": "data:image/jpeg;base64,/9j/" + "A" * 7_000_000}),
            "messages.[0].content.[0].image_url",
            "exceeds 5 MB",
        ),
        ({"messages": [{"role": "assistant"}]}, "messages.[0].content", "got null"),
        ({"messages": [USER, calling("a")]}, "messages", "did not have response messages: a"),
        (
            {"messages": [USER, calling("a", "b"), result("a"), USER]},
            "messages",
            "did not have response messages: b",
        ),
        ({"messages": [USER, result("a")]}, "messages.[1].role", "must be a response"),
        (
            {"messages": [USER, calling("a"), result("a"), result("a")]},
            "messages.[3].role",
            "must be a response",
        ),
        (
            {"messages": [USER, calling("a"), {"role": "tool", "content": "x"}]},
            "messages[2].tool_call_id",
            "Missing required parameter",
        ),
        (
            {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}]},
            "messages[1].tool_calls",
            "empty array",
        ),
        ({"messages": [USER, calling("a", "a")]}, "messages[1].tool_calls", "Duplicate value"),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [call("a", function={"name": "now", "arguments": {}})],
                    }
                ]
            },
            "messages[0].tool_calls[0]",
            "Invalid 'messages[0].tool_calls[0]'",
        ),
        ({"response_format": {"type": "object"}}, "response_format.type", "Supported values"),
        ({"response_format": "json_object"}, "response_format.type", "Supported values"),
        (
            {"response_format": {"type": "json_object"}},
            "messages",
            "must contain the word 'json'",
        ),
        ({"tool_choice": "auto"}, "tool_choice", "only allowed when 'tools' are specified"),
        ({"parallel_tool_calls": True}, "parallel_tool_calls", "only allowed when 'tools'"),
        ({"tools": []}, "tools", "empty array"),
        ({"tools": [TOOL] * 129}, "tools", "maximum length 128"),
        ({"tools": [{"function": {"name": "x"}}]}, "tools[0].type", "expected 'function'"),
        (
            {"tools": [{"type": "function", "function": {}}]},
            "tools[0].function.name",
            "Missing required parameter",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            "tools[0].function.name",
            "does not match pattern",
        ),
        (
            {
                "tools": [
                    {"type": "function", "function": {"name": "x", "parameters": {"type": "array"}}}
                ]
            },
            "tools[0].function.parameters",
            "Invalid schema for function 'x'",
        ),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "other"}}},
            "tool_choice",
            "no function with that name",
        ),
        ({"temperature": 2.1}, "temperature", "Expected a value <= 2, but got 2.1 instead"),
        ({"temperature": -0.1}, "temperature", "Expected a value >= 0, but got -0.1 instead"),
        ({"temperature": "warm"}, "temperature", "expected a decimal"),
        ({"top_p": 1.1}, "top_p", "Expected a value <= 1"),
        ({"max_tokens": 0}, "max_tokens", "Expected a value >= 1"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens", "expected an integer"),
        (
            {"max_tokens": 5, "max_completion_tokens": 5},
            "max_tokens",
            "at the same time is not supported",
        ),
        ({"stop": ["a"] * 5}, "stop", "maximum length 4"),
        (
            {"stream_options": {"include_usage": True}},
            "stream_options",
            "only allowed when 'stream'",
        ),
        ({"max_tokns": 5}, None, "Unrecognized request argument supplied: max_tokns"),
    ],
)
async def test_an_illegal_request_is_refused(
    openai: OpenAIServer, model: ModelApi, changes: dict[str, Any], param: str | None, words: str
) -> None:
    openai.default = Reply("never said")
    status, error = await model.refused(**changes)
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert words in error["message"]


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": [{"role": role, "content": "x"} for role in ("developer", "system", "user")]},
        {"messages": [USER, calling("a", "b"), result("b"), result("a")]},
        {
            "messages": [
                USER,
                calling("a"),
                result("a"),
                {"role": "assistant", "content": "x"},
                USER,
            ]
        },
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "what?"},
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
                        },
                    ],
                }
            ]
        },
        {"tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": False},
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "now"}}},
        {"temperature": 0, "top_p": 1, "max_tokens": 1, "stop": ["a", "b", "c", "d"]},
        {"temperature": 2, "max_completion_tokens": 10, "response_format": {"type": "text"}},
    ],
)
async def test_a_legal_request_is_answered(
    openai: OpenAIServer, model: ModelApi, changes: dict[str, Any]
) -> None:
    openai.default = Reply("fine")
    status, body = await model.text(**changes)
    assert status == 200, body
    assert json.loads(body)["choices"][0]["message"]["content"] == "fine"


async def test_a_request_nobody_scripted_fails_the_test_that_sent_it(model: ModelApi) -> None:
    status, error = await model.refused()
    assert (status, error["code"]) == (500, "nothing_scripted")


async def test_keys_models_and_parameters_can_be_refused(session: aiohttp.ClientSession) -> None:
    with OpenAIServer(api_key="key", models=["small"], unsupported=["temperature"]) as server:
        server.default = Reply("x")
        model = ModelApi(session, server)
        assert (await model.text(model="small"))[0] == 200
        status, error = await model.refused(model="large")
        assert (status, error["code"]) == (404, "model_not_found")
        status, error = await model.refused(model="small", temperature=1)
        assert (status, error["code"], error["param"]) == (
            400,
            "unsupported_parameter",
            "temperature",
        )
        server.api_key = "another"
        status, error = await model.refused(model="small")
        assert (status, error["code"]) == (401, "invalid_api_key")
        async with session.post(f"{server.base_url}/chat/completions", json={}) as response:
            assert response.status == 401
        headers = {"Authorization": "Bearer another"}
        async with session.post(f"{server.base_url}/embeddings", headers=headers) as response:
            assert response.status == 404
            assert (await response.json())["error"]["code"] == "unknown_url"
        async with session.post(
            f"{server.base_url}/chat/completions", headers=headers, data=b"{nonsense"
        ) as response:
            assert response.status == 400
            assert "could not parse" in (await response.json())["error"]["message"]


async def test_models_that_do_not_see_refuse_pictures(
    model: ModelApi, openai: OpenAIServer
) -> None:
    openai.default = Reply("A cat.")
    seen = showing({"url": "data:image/png;base64,iVBORw0KGgo="})
    assert (await model.text(**seen))[0] == 200
    openai.sees = False
    assert "image_url is only supported" in (await model.refused(**seen))[1]["message"]


async def test_a_strict_template_takes_instructions_at_the_beginning_only(
    model: ModelApi, openai: OpenAIServer
) -> None:
    openai.default = Reply("Noon.")
    first, late = ({"role": "system", "content": words} for words in ("Teach.", "It is noon."))
    asked = {"role": "user", "content": "When?"}
    openai.system_first = True
    assert (await model.text(messages=[first, asked]))[0] == 200
    status, refusal = await model.refused(messages=[first, late, asked])
    assert (status, refusal["message"]) == (500, "System message must be at the beginning.")
