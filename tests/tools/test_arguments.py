"""Arguments that fit are left alone, others are repaired where one reading makes sense."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from core.tools.arguments import BadArgumentsError, fit_arguments, parse_arguments


class Word(BaseModel):
    word: str = Field(min_length=2)


class Inner(BaseModel):
    size: int


class Many(BaseModel):
    count: int
    level: Literal["easy", "hard"] = "easy"
    words: list[str] = []
    strict: bool = False
    share: float = 0.5
    note: str | None = None
    inner: Inner | None = None


class Number(BaseModel):
    number: int
    unit: str = "day"


class Two(BaseModel):
    front: str
    back: str


def fit(raw: str, model: type[BaseModel]) -> dict[str, Any]:
    values, checked = fit_arguments(raw, model, model.model_json_schema())
    assert checked == model.model_validate(values)
    return checked.model_dump(exclude_unset=True)


@pytest.mark.parametrize(
    ("raw", "values"),
    [("", {}), ("  ", {}), ('{"word": "x"}', {"word": "x"}), ('"{\\"word\\": 1}"', {"word": 1})],
)
def test_arguments_are_read_also_when_encoded_twice(raw: str, values: dict[str, object]) -> None:
    assert parse_arguments(raw) == values


@pytest.mark.parametrize("raw", ["[1]", "7", "null", "true", '"word"', '{"word": "', "word"])
def test_arguments_that_are_no_object_are_explained_to_the_model(raw: str) -> None:
    with pytest.raises(BadArgumentsError, match="JSON"):
        parse_arguments(raw)


def test_a_missing_argument_is_answered_with_its_name_and_the_schema() -> None:
    with pytest.raises(BadArgumentsError, match=r"word: Field required.*\"properties\""):
        fit("{}", Word)


@pytest.mark.parametrize(
    ("raw", "model", "fitted"),
    [
        ('{"count": "5"}', Many, {"count": 5}),
        ('{"count": " 5 "}', Many, {"count": 5}),
        ('{"count": "5.0"}', Many, {"count": 5}),
        ('{"count": 5.0}', Many, {"count": 5}),
        ('{"count": 1, "level": "HARD"}', Many, {"count": 1, "level": "hard"}),
        ('{"count": 1, "level": " Hard"}', Many, {"count": 1, "level": "hard"}),
        ('{"count": 1, "words": "one"}', Many, {"count": 1, "words": ["one"]}),
        ('{"count": 1, "words": "[\\"a\\", 2]"}', Many, {"count": 1, "words": ["a", "2"]}),
        ('{"count": 1, "strict": "Yes"}', Many, {"count": 1, "strict": True}),
        ('{"count": 1, "share": "0.25"}', Many, {"count": 1, "share": 0.25}),
        ('{"count": 1, "note": 7}', Many, {"count": 1, "note": "7"}),
        ('{"count": 1, "inner": {"size": "3"}}', Many, {"count": 1, "inner": {"size": 3}}),
        ('{"count": 1, "inner": "{\\"size\\": 3}"}', Many, {"count": 1, "inner": {"size": 3}}),
        ('{"count": 1, "inner": "3"}', Many, {"count": 1, "inner": {"size": 3}}),
        ('{"count": 1, "inner": "null"}', Many, {"count": 1, "inner": None}),
        ('{"Count": 1}', Many, {"count": 1}),
        ('{"word": 42}', Word, {"word": "42"}),
        ('"hello"', Word, {"word": "hello"}),
        ("hello there", Word, {"word": "hello there"}),
        ("你好", Word, {"word": "你好"}),
        ("7", Number, {"number": 7}),
        ('"7"', Number, {"number": 7}),
    ],
)
def test_what_a_model_meant_is_understood(
    raw: str, model: type[BaseModel], fitted: dict[str, object]
) -> None:
    assert fit(raw, model) == fitted


@pytest.mark.parametrize(
    ("raw", "model", "told"),
    [
        ("[1]", Word, "not a list"),
        ('{"word": "', Word, "not complete JSON"),
        ('"x', Word, "not complete JSON"),
        ('"hello"', Two, "JSON"),
        ('{"count": "five"}', Many, "count: Input should be a valid integer"),
        ('{"count": 1, "level": "medium"}', Many, "level: Input should be 'easy' or 'hard'"),
        ('{"word": "x"}', Word, "at least 2 characters"),
        ('{"count": "' + "9" * 5_000 + '"}', Many, "count"),
    ],
)
def test_what_cannot_be_meant_is_told(raw: str, model: type[BaseModel], told: str) -> None:
    with pytest.raises(BadArgumentsError, match=told):
        fit(raw, model)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*Many.model_fields, "Count", "x"]), JSON) | JSON)
def test_any_arguments_fit_or_are_refused_in_words(value: Any) -> None:
    try:
        values, checked = fit_arguments(json.dumps(value), Many, Many.model_json_schema())
    except BadArgumentsError as refused:
        assert str(refused)
    else:
        assert Many.model_validate(values) == checked


@given(st.builds(Many, count=st.integers(-9, 9), note=st.none() | st.text(max_size=5)))
def test_arguments_that_fit_are_left_alone(given_: Many) -> None:
    values, _ = fit_arguments(given_.model_dump_json(), Many, Many.model_json_schema())
    assert values == given_.model_dump()
