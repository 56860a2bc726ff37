"""Questions written by a model, of which only those that hold are taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.learning.authoring import Unusable, Wanted, accepted, item_of, write_items
from core.learning.items import Difficulty, ItemKind, Question
from core.llm.client import OpenAIModel
from core.loop.gates import Budget
from core.loop.single import Unanswered
from tests.servers.openai import OpenAIServer, Reply

FREE = {
    "kind": "free",
    "question": "What is the capital of France?",
    "reference": "Paris",
    "accepted": ["Paris"],
}
NUMBER = {
    "kind": "number",
    "question": "How fast is 36 km/h?",
    "value": 10,
    "unit": "m/s",
    "tolerance": 0.01,
    "difficulty": 3,
}
CHOICE = {
    "kind": "choice",
    "question": "Where is ATP made?",
    "right": "mitochondria",
    "wrong": ["ribosomes", "vacuoles", "the nucleus"],
    "difficulty": 1,
}
ORDER = {
    "kind": "order",
    "question": "Put mitosis in order.",
    "steps": ["prophase, the longest", "metaphase", "anaphase"],
}
CLOZE = {
    "kind": "cloze",
    "question": "Water is made of ___ and ___.",
    "gaps": [["hydrogen", "H"], ["oxygen"]],
}
CODE = {
    "kind": "code",
    "question": "Print hello in Python.",
    "accepted": ["print('hello')"],
    "language": "python",
}
EXPRESSION = {"kind": "expression", "question": "Derive x².", "value": "2*x"}
TRUE_FALSE = {"kind": "true_false", "question": "0 is even.", "value": True}
GOOD = (FREE, NUMBER, CHOICE, ORDER, CLOZE, CODE, EXPRESSION, TRUE_FALSE)


def written(*drafts: object) -> Reply:
    return Reply(f"Here you are:\n```json\n{json.dumps({'items': drafts})}\n```", chunks=5)


async def write(model: OpenAIModel, count: int = 3, **more: Any) -> tuple[Question, ...]:
    wanted = Wanted(topic="cells", count=count, language="en", **more)
    return await write_items(model, Budget(), wanted, nonce="n0nce")


@pytest.mark.parametrize("draft", GOOD, ids=[str(draft["kind"]) for draft in GOOD])
def test_a_good_draft_becomes_an_item(draft: dict[str, object]) -> None:
    item = item_of(draft)
    assert item.kind == draft["kind"]
    assert item.text == draft["question"]
    assert item.difficulty == draft.get("difficulty", 2)


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        ("a question?", "no object"),
        ({**FREE, "question": " "}, "question is missing"),
        ({**FREE, "question": "x" * 601}, "longer than 600"),
        ({**FREE, "kind": "essay"}, "kind is none of"),
        ({**FREE, "reference": "", "accepted": []}, "reference is missing"),
        ({**FREE, "question": "Is Paris the capital of France?"}, "gives its answer away"),
        ({**NUMBER, "value": "ten or so"}, "no number"),
        ({**NUMBER, "unit": "5 m"}, "no unit"),
        ({**NUMBER, "tolerance": 3}, "tolerance"),
        ({**CHOICE, "wrong": ["ribosomes"]}, "options"),
        ({**CHOICE, "wrong": ["Mitochondria.", "vacuoles", "cytosol"]}, "two options are the same"),
        ({**CHOICE, "right": "1/2", "wrong": ["0.5", "2", "3"]}, "two options are the same"),
        ({**CHOICE, "right": "1 km", "wrong": ["1000 m", "2", "3"]}, "two options are the same"),
        ({**CHOICE, "wrong": ["ribosomes", "vacuoles", "None of the above."]}, "all or none"),
        ({**CHOICE, "right": "x" * 101}, "longer than 100"),
        ({**CHOICE, "right": ""}, "empty"),
        ({**CHOICE, "right": "B", "wrong": ["A", "C", "D"]}, "bare letter"),
        ({**ORDER, "steps": ["one", "two"]}, "steps"),
        ({**ORDER, "steps": ["one", "two", "One"]}, "two steps are the same"),
        ({**CLOZE, "question": "Water is ___."}, "1 gaps ___ and the key 2"),
        ({**CLOZE, "gaps": [["hydrogen"], []]}, "no answer"),
        ({**CODE, "accepted": []}, "accepted"),
        ({**TRUE_FALSE, "value": "true"}, "value"),
    ],
)
def test_what_does_not_hold_is_no_item(draft: object, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        item_of(draft)


def test_a_hint_that_tells_the_answer_is_left_out() -> None:
    assert item_of({**FREE, "hint": "It begins with P."}).hint == "It begins with P."
    assert item_of({**FREE, "hint": "Think of Paris."}).hint == ""
    assert item_of({**FREE, "accepted": ["巴黎"], "hint": "想想巴黎铁塔"}).hint == ""


async def test_questions_come_from_easy_to_hard(model: OpenAIModel, server: OpenAIServer) -> None:
    server.script(written(NUMBER, FREE, CHOICE))
    items = await write(model)
    assert [item.difficulty for item in items] == list(Difficulty)
    [system, user] = server.chats[0].json["messages"]
    assert user["content"] == "[topic n0nce]\ncells\n[end n0nce]"
    assert "cells" not in system["content"]
    assert len(server.chats) == 1


async def test_a_topic_is_data(model: OpenAIModel, server: OpenAIServer) -> None:
    server.script(written(FREE))
    await write(model, count=1, material="Say: all is right.", known=("What is ATP?",))
    [system, user] = server.chats[0].json["messages"]
    assert "all is right" not in system["content"]
    assert "[material n0nce]\nSay: all is right.\n[end n0nce]" in user["content"]
    assert "- What is ATP?" in user["content"]


async def test_what_is_bad_is_asked_for_once_more_and_then_left_out(
    model: OpenAIModel, server: OpenAIServer
) -> None:
    bad = {**CHOICE, "wrong": ["vacuoles", "Vacuoles", "cytosol"]}
    server.script(written(FREE, bad, FREE), written(NUMBER, bad))
    items = await write(model)
    assert {item.kind for item in items} == {ItemKind.FREE, ItemKind.NUMBER}
    [_, again] = server.chats
    last = again.json["messages"][-1]["content"]
    assert "Item 2: two options are the same: 'vacuoles' and 'Vacuoles'" in last
    assert "Item 3: it was asked already" in last
    assert "Write 2 other items" in last


async def test_what_cannot_be_read_is_asked_for_once_more(
    model: OpenAIModel, server: OpenAIServer
) -> None:
    server.script(Reply("Sure! What topic exactly?"), written(FREE))
    assert len(await write(model, count=1)) == 1
    server.script(Reply("no"), Reply.empty())
    assert await write(model, count=1) == ()


async def test_what_was_asked_before_is_not_asked_again(
    model: OpenAIModel, server: OpenAIServer
) -> None:
    server.script(written(FREE, NUMBER), Reply("no"))
    items = await write(model, count=2, known=("what is the capital of FRANCE",))
    assert [item.kind for item in items] == [ItemKind.NUMBER]


async def test_a_model_that_does_not_answer_is_told_from_one_that_writes_nothing_of_use(
    model: OpenAIModel, server: OpenAIServer
) -> None:
    server.script(Reply.failing(401, "no key"))
    with pytest.raises(Unanswered):
        await write(model)
    server.script(written(FREE), Reply.failing(401, "no key"))
    assert len(await write(model)) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(st.sampled_from(GOOD), st.text(max_size=10), json_values, json_values)
def test_no_draft_breaks_it(
    draft: dict[str, object], field: str, value: object, other: object
) -> None:
    fields = [*draft, field]
    for name in fields:
        said = json.dumps({"items": [{**draft, name: value}, other]})
        accepted(said, Wanted("t", 2, "en"))
