"""What a learner says while a question is open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.learning.items import ChoiceKey, FreeKey, Key, NumberKey, Question
from core.learning.quiz import Asked, card_of
from core.learning.said import Said, said

FREE = FreeKey(reference="Water moves through a membrane.", accepted=("water moves",))
NUMBER = NumberKey(value="10", unit="m/s")
CHOICE = ChoiceKey(options=("mitochondria", "ribosomes", "vacuoles"))


def of(key: Key, text: str, *, reply: bool = False) -> Said:
    return said(Question(text="?", key=key), text, seed="s", reply=reply)


@pytest.mark.parametrize(
    ("key", "text", "what"),
    [
        (FREE, "Water moves.", Said.ANSWER),
        (FREE, "it lets water pass", Said.PERHAPS),
        (FREE, "水会穿过膜", Said.PERHAPS),
        (FREE, "what is a membrane?", Said.OTHER),
        (FREE, "什么是膜", Said.OTHER),
        (FREE, "can you explain it first", Said.OTHER),
        (FREE, "x" * 2_000, Said.OTHER),
        (NUMBER, "36 km/h", Said.ANSWER),
        (NUMBER, "it is 10 because of the factor", Said.PERHAPS),
        (NUMBER, "I have an exam on Friday", Said.OTHER),
        (CHOICE, "b", Said.ANSWER),
        (CHOICE, "Ribosomes", Said.ANSWER),
        (CHOICE, "the thing that makes energy", Said.OTHER),
        (FREE, "Skip!", Said.SKIP),
        (NUMBER, "不知道", Said.SKIP),
        (CHOICE, "just tell me", Said.SKIP),
        (FREE, "hint please", Said.HINT),
        (FREE, "提示", Said.HINT),
        (FREE, "stop the quiz", Said.STOP),
        (FREE, "不做了", Said.STOP),
    ],
)
def test_an_answer_is_told_from_everything_else(key: Key, text: str, what: Said) -> None:
    assert of(key, text) is what


def test_a_reply_to_the_question_is_meant_for_it() -> None:
    assert of(FREE, "is it that water moves?", reply=True) is Said.PERHAPS
    assert of(NUMBER, "ten or so", reply=True) is Said.PERHAPS
    assert of(CHOICE, "the energy thing", reply=True) is Said.OTHER


def test_what_is_a_wish_may_be_the_right_answer() -> None:
    assert of(FreeKey(reference="stop", accepted=("stop",)), "Stop") is Said.ANSWER


@given(st.text(max_size=300), st.booleans())
def test_no_text_breaks_it(text: str, reply: bool) -> None:
    for key in (FREE, NUMBER, CHOICE):
        assert of(key, text, reply=reply) in Said


def test_a_missed_question_becomes_a_card_that_can_be_asked_alone() -> None:
    question = Question(text="Where is ATP made?", key=CHOICE, explanation="Respiration.")
    card = card_of(Asked("s", question))
    front, options = card.front.split("\n\n")
    assert front == "Where is ATP made?"
    assert {line[3:] for line in options.split("\n")} == set(CHOICE.options)
    letter = card.back[0]
    assert card.back == f"{letter}: mitochondria\n\nRespiration."
    assert f"{letter}: mitochondria" in card.front
    long = Question(text="q" * 600, key=FreeKey(reference="a" * 1_500), explanation="e" * 800)
    card = card_of(Asked("s", long))
    assert len(card.front) <= 500
    assert len(card.back) <= 1_500
