"""A model that floods, or sends what is no text: the turn ends like any other, bounded."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from core.llm.stream import CHARACTERS_A_TOKEN, MOST_CALLS
from core.loop.gates import Budget
from tests.house.conftest import MakeHome
from tests.house.home import Home
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer


def _first(reply: Reply, then: str = "Well.") -> Sequence[Reply]:
    return reply, Reply(then)


@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        (["half a\ud83d", "\ude00 face"], "half a😀 face"),
        (["a\ud83d b"], "a\ufffd b"),
        (["a\ude00\ud83d"], "a\ufffd"),
    ],
)
async def test_halves_of_characters_are_joined_or_replaced(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, chunks: list[str], shown: str
) -> None:
    openai.script(Reply(chunks=chunks))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == shown


@pytest.mark.parametrize(
    "text", ["  \n\u200b", "\u2060", "\u2800\u3164", "```\n```", "\x00\x1b\x07"]
)
async def test_an_answer_of_which_nothing_shows_is_asked_for_again(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, text: str
) -> None:
    openai.script(*_first(Reply(text)))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == "Well."


@pytest.mark.parametrize(
    "arguments",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": "\\ud83d"}',
        '{"a": "' + "x" * 2_000_000 + '"}',
    ],
)
async def test_arguments_that_are_a_bomb_cost_a_round_not_the_turn(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, arguments: str
) -> None:
    openai.script(*_first(Reply.calls(ToolCall("current_time", arguments))))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == "Well."
    [_, second] = home.prompts
    sent = second.json["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent, parse_constant=pytest.fail), dict)


@pytest.mark.parametrize("name", ["", "x" * 10_000, "what time?", "a\ud83d"])
async def test_a_name_that_no_tool_can_have_reaches_no_history(
    home: Home, telegram: TelegramServer, openai: OpenAIServer, name: str
) -> None:
    openai.script(*_first(Reply.calls(ToolCall(name, call_id="i" * 1_000))))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == "Well."
    [call] = home.prompts[1].json["messages"][-2]["tool_calls"]
    assert 0 < len(call["function"]["name"]) <= 64
    assert 0 < len(call["id"]) <= 64


async def test_of_very_many_calls_some_are_carried_out(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    calls = [ToolCall("current_time", {"n": number}) for number in range(3 * MOST_CALLS)]

    def reply(request: RecordedRequest) -> Reply:
        asked = [m for m in request.json["messages"] if m["role"] == "tool"]
        return Reply(f"{len(asked)} results") if asked else Reply.calls(*calls)

    openai.default = reply
    answer = await home.tell(telegram.user(7, "Ada"), "why?")
    assert answer.text == f"{MOST_CALLS} results"


async def test_a_model_that_ignores_its_limit_is_cut_off(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(budget=Budget(responding_max_tokens=500))
    openai.script(Reply("word " * 40_000, chunks=100))
    ada = telegram.user(7, "Ada")
    shown = await home.ask(ada.private, ada, "why?")
    most = CHARACTERS_A_TOKEN * 500
    assert most * 0.9 < sum(len(message.text) for message in shown) <= most
    assert (await home.tell(ada, "and?")).text == "Go on."


async def test_a_count_of_tokens_that_is_nonsense_is_not_believed(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.script(Reply("Because.", prompt_tokens=-5, completion_tokens=10**30))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == "Because."
