"""One call whose answer is data: what is read of it, whatever stands around."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.client import OpenAIModel
from core.llm.port import ChatMessage
from core.loop.single import Unanswered, object_in, single
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply

ASKED = (ChatMessage("user", "Say it as JSON."),)


async def test_thinking_is_no_part_of_what_was_said(
    model: OpenAIModel, server: OpenAIServer
) -> None:
    server.script(Reply("<think>hm</think>Yes.", chunks=6))
    assert (await single(model, ASKED, max_tokens=99, seconds=5)).strip() == "Yes."
    [sent] = server.chats
    assert sent.json["temperature"] == 0
    assert "tools" not in sent.json


async def test_no_answer_is_said_with_its_cause(model: OpenAIModel, server: OpenAIServer) -> None:
    server.script(Reply.failing(401, "no key"))
    with pytest.raises(Unanswered, match="unauthorized"):
        await single(model, ASKED, max_tokens=99, seconds=5)


async def test_it_takes_no_longer_than_it_may(model: OpenAIModel, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Reply.hanging(gate, "late"))
    asked = asyncio.create_task(single(model, ASKED, max_tokens=99, seconds=0.2))
    await gate.wait_reached()
    with pytest.raises(Unanswered, match="in time"):
        await asked
    gate.release()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here:\n```json\n{"a": {"b": 2}}\n```\nDone.', {"a": {"b": 2}}),
        ('{"a": 1} no, {"a": 2}', {"a": 2}),
        ('{broken {"a": 1}', {"a": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ("no object", None),
        ("[1, 2]", None),
        ("{" * 5_000, None),
    ],
)
def test_the_last_object_is_found_whatever_stands_around_it(text: str, value: Any) -> None:
    assert object_in(text) == value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"$\sqrt{2}$", r"$\sqrt{2}$"),
        (r"$\frac{1}{2} \times 3$", r"$\frac{1}{2} \times 3$"),
        (r"$\\frac{1}{2}$", r"$\frac{1}{2}$"),
        (r"\theta \neq \rho, \bar x, \nabla f", r"\theta \neq \rho, \bar x, \nabla f"),
        (r"\(x\)", r"\(x\)"),
        (r"one\nNext\tline", "one\nNext\tline"),
        (r"say \"so\" \u00e9", 'say "so" é'),
        (r"\upsilon", r"\upsilon"),
    ],
)
def test_formulas_survive_with_single_backslashes(written: str, meant: str) -> None:
    assert object_in(f'{{"a": "{written}"}}') == {"a": meant}


plain = st.text(st.characters(codec="utf-8", exclude_characters="\\\b\f"), max_size=30)


@given(st.dictionaries(plain, plain | st.integers() | st.lists(plain), max_size=4))
def test_what_is_written_as_it_should_be_is_read_as_it_is(value: dict[str, Any]) -> None:
    # An escape that TeX knows too is taken for TeX's, so line breaks stand as themselves here.
    written = json.dumps(value, ensure_ascii=False).replace("\\n", "\n").replace("\\t", "\t")
    written = written.replace("\\r", "\r")
    assert object_in(f"Here: {written}!") == value
