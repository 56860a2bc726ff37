from __future__ import annotations

import contextlib
import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ops import Add, Delete, Edit, Merge, Parsed, Unreadable, parse_answer

ADD = {"op": "add", "section": "Goals", "text": "Wants an A", "cites": ["e1", "[^e2]", "e1"]}
ALL = {
    "operations": [
        ADD,
        {"op": "edit", "id": "m1", "text": "Likes proofs", "cites": ["e3"]},
        {"op": "delete", "id": "m2", "cites": ["e4"]},
        {"op": "merge", "ids": ["m3", "m4"], "text": "One"},
    ]
}
READ = Parsed(
    (
        Add("", "Goals", "Wants an A", ("e1", "e2")),
        Edit("m1", "Likes proofs", ("e3",)),
        Delete("m2", ("e4",)),
        Merge(("m3", "m4"), "One"),
    ),
    0,
)


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "Here you are:\n```json\n{}\n```\nAnything else?",
        "<think>e1 says {{1}} and [2]…</think>{}",
        'The template left out the tag {{"operations": [1]}}</think>\n{}',
        "Notes [e1], [1] and {{not JSON}}: {}",
    ],
)
def test_an_answer_is_read_however_it_is_wrapped(wrapped: str) -> None:
    assert parse_answer(wrapped.format(json.dumps(ALL, indent=1))) == READ


def test_a_bare_list_and_an_empty_one_are_answers() -> None:
    assert parse_answer(json.dumps([ADD])).operations == READ.operations[:1]
    assert parse_answer('{"operations": []}') == Parsed((), 0)


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "I'm sorry, I can't help with that.",
        json.dumps(ALL)[:-30],
        "[]",
        '{"operations": "none"}',
        '{"answer": 42}',
        "<think>" + json.dumps(ALL),
        '{"operations": [{"op": "format", "text": "c:"}, 7]}',
        "[" * 5000,
    ],
)
def test_nonsense_a_refusal_and_half_an_answer_are_none(nonsense: str) -> None:
    with pytest.raises(Unreadable):
        parse_answer(nonsense)


@pytest.mark.parametrize(
    "wrong",
    [
        {**ADD, "text": None},
        {**ADD, "cites": "e1"},
        {**ADD, "cites": ["e1", 2]},
        {**ADD, "cites": ["../e1"]},
        {**ADD, "shareable": "yes"},
        {"op": "edit", "id": 3, "text": "x", "cites": []},
        {"op": "merge", "ids": ["m1", "m1"], "text": "x"},
        {"op": "delete"},
        "delete everything",
    ],
)
def test_what_is_none_of_the_four_operations_is_counted(wrong: object) -> None:
    assert parse_answer(json.dumps({"operations": [wrong, ADD]})) == Parsed(READ.operations[:1], 1)


@given(
    st.text()
    | st.lists(st.sampled_from(['{"operations": [', "{", "]", "}", '"op":', "[", "1"])).map("".join)
)
def test_any_text_is_read_or_is_unreadable(text: str) -> None:
    with contextlib.suppress(Unreadable):
        parse_answer(text)


def test_there_are_only_so_many_operations_in_an_answer() -> None:
    many = [{**ADD, "text": f"fact {n}"} for n, _ in zip(count(), range(100), strict=False)]
    read = parse_answer(json.dumps({"operations": many}))
    assert (len(read.operations), read.malformed) == (60, 40)
