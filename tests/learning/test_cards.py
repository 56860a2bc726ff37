from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.learning.cards import (
    CardProblem,
    CardText,
    duplicate_key,
    is_leech,
    parse_card,
    sibling_key,
)


@pytest.mark.parametrize(
    ("text", "front", "back"),
    [
        ("2+2 :: 4", "2+2", "4"),
        ("2+2::4", "2+2", "4"),
        ("2+2:: 4", "2+2", "4"),
        ("std::vector :: a container", "std::vector", "a container"),
        ("std::vector:: a container", "std::vector", "a container"),
        ("a container :: std::vector", "a container", "std::vector"),
        ("first :: second :: third", "first", "second :: third"),
        ("::1 :: the loopback address", "::1", "the loopback address"),
        ("法国的首都：：巴黎", "法国的首都", "巴黎"),
        ("法国的首都 ： ： 巴黎 :: 对", "法国的首都 ： ： 巴黎", "对"),
        ("Name two primes\nunder ten\n::\n2\n3", "Name two primes\nunder ten", "2\n3"),
        ("one\r\ntwo :: three", "one\ntwo", "three"),
        ("  padded   ::   too  ", "padded", "too"),
    ],
)
def test_a_card_is_read(text: str, front: str, back: str) -> None:
    assert parse_card(text) == CardText(front, back)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", CardProblem.NO_SEPARATOR),
        ("what is 2+2?", CardProblem.NO_SEPARATOR),
        ("a : b", CardProblem.NO_SEPARATOR),
        ("a ::: b", CardProblem.NO_SEPARATOR),
        (":: 4", CardProblem.EMPTY_FRONT),
        ("::", CardProblem.EMPTY_FRONT),
        ("2+2 ::", CardProblem.EMPTY_BACK),
        ("2+2 :: \n ", CardProblem.EMPTY_BACK),
        ("\u200b :: 4", CardProblem.EMPTY_FRONT),
        ("2+2 :: \u2060\u3164", CardProblem.EMPTY_BACK),
        ("x" * 501 + " :: y", CardProblem.FRONT_TOO_LONG),
        ("x :: " + "y" * 1501, CardProblem.BACK_TOO_LONG),
    ],
)
def test_what_is_no_card_is_named(text: str, problem: CardProblem) -> None:
    assert parse_card(text) is problem


def test_the_longest_card_is_still_a_card() -> None:
    assert parse_card("x" * 500 + " :: " + "y" * 1500) == CardText("x" * 500, "y" * 1500)


@given(st.text(max_size=60), st.text(max_size=60))
def test_reading_loses_nothing_but_the_space_around(left: str, right: str) -> None:
    card = parse_card(f"{left} :: {right}")
    if isinstance(card, CardText):
        assert card.front == card.front.strip() != ""
        assert card.back == card.back.strip() != ""
        if "::" not in left + right and "：" not in left + right and "\0" not in left + right:
            assert card.front == left.replace("\r\n", "\n").strip()
            assert card.back == right.replace("\r\n", "\n").strip()


@pytest.mark.parametrize(
    ("front", "back", "same"),
    [
        ("What is 2+2", "4", True),
        ("what  is\n2+2 ?", "4.", True),
        ("Ｗhat is 2+2？", "４", True),
        ("What is 2+2?", "5", False),
        ("What is 2*2?", "4", False),
    ],
)
def test_cards_that_say_the_same_are_duplicates(front: str, back: str, same: bool) -> None:
    assert (duplicate_key("What is 2+2?", "4") == duplicate_key(front, back)) is same


def test_a_power_or_a_factorial_is_no_duplicate() -> None:
    assert duplicate_key("x²", "a square") != duplicate_key("x2", "a square")
    assert duplicate_key("5!", "a number") != duplicate_key("5", "a number")
    assert duplicate_key("ab", "c") != duplicate_key("a", "bc")


def test_a_card_and_its_reverse_are_siblings_and_so_are_those_of_a_group() -> None:
    assert sibling_key("cat", "Katze") == sibling_key("Katze", "Cat")
    assert sibling_key("cat", "Katze") != sibling_key("dog", "Hund")
    assert sibling_key("a", "b", group="bayes") == sibling_key("c", "d", group="bayes")
    assert sibling_key("a", "b", group="bayes") != sibling_key("a", "b", group="limits")


def test_the_fourth_lapse_makes_a_leech() -> None:
    assert [is_leech(lapses) for lapses in (0, 3, 4, 5)] == [False, False, True, True]
