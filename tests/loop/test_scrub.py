"""Thinking never shows, code that speaks of it survives, however the stream was cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.loop.scrub import Hidden, Piece, Retract, Scrubber, Visible, joined, scrub

FENCED = "Look:\n```html\n<think>kept</think>\n```\nDone."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>secret</think>Four.", "Four."),
        ("<thought>secret</thought>\n\nFour.", "Four."),
        ("<THINK>secret</Think>Four.", "Four."),
        ("<think>a\nb <b>c</b>\n</think>\nFour.", "Four."),
        ("One <think>secret</think>and two.", "One and two."),
        ("<think\nsecret\n</think>\nFour.", "Four."),
        ("<think>never closed", ""),
        ("Four.<think", "Four."),
        ("secret reasoning\n</think>\n\nFour.", "Four."),
        ("secret reasoning</think>\nFour.", "Four."),
        ("all of it leaked\n</think>", ""),
        ("a </think> b", "a  b"),
        ("<|channel|>analysis<|message|>secret<|end|>Four.", "Four."),
        (
            "<|channel|>analysis<|message|>secret<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Four.<|return|>",
            "Four.",
        ),
        (
            "<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}<|call|>Four.",
            "Four.",
        ),
        ("<|channel>thought\nsecret<channel|>Four.", "Four."),
        ("Four.<|im_end|>", "Four."),
        ('Yes. <tool_call>{"name": "x"}</tool_call>', "Yes."),
        ("</tool_call>\nFour.", "Four."),
    ],
)
def test_thinking_is_not_part_of_the_answer(text: str, shown: str) -> None:
    assert scrub(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        FENCED,
        "Write `<think>` and `</think>` around it.",
        "Write ``a ` <think>`` here.",
        "~~~\n<think>\n~~~\nend",
        "- item\n  ```\n  <think>\n  ```\n- more",
        "> ```\n> </think>\n> ```",
        "```\n<think>\n``` not the end\n</think>\n```\nend",
        "```\n- ```\n<think>\n```\nend",
        "```` \n```\n<think>\n```\n````\nend",
        "```never closed\n<think>",
        "x < y and a <b> c",
        "if x <thinker> y",
        "I <think about it",
        "2 < 3",
        "a <",
        "a </",
    ],
)
def test_text_that_only_looks_like_thinking_is_left_alone(text: str) -> None:
    assert scrub(text) == text


def test_a_stray_backtick_does_not_open_a_way_out_for_thinking() -> None:
    assert scrub("a ` b\n\n<think>secret</think>c") == "a ` b\n\nc"
    assert scrub("a ` b\n```\n<think>code\n```\n<think>secret</think>c").endswith("\n```\nc")


def test_what_is_hidden_is_the_thinking() -> None:
    scrubber = Scrubber()
    pieces = [*scrubber.feed("<think>why</thi"), *scrubber.feed("nk>Four."), *scrubber.finish()]
    assert pieces == [Hidden("why"), Visible("Four.")]


def test_the_answer_flows_while_no_tag_is_in_sight() -> None:
    scrubber = Scrubber()
    assert scrubber.feed("Half an ans") == [Visible("Half an ans")]
    assert scrubber.feed("wer <thi") == [Visible("wer ")]
    assert joined(scrubber.feed("rd")) == "<third"


def _shape(pieces: list[Piece]) -> tuple[str, str]:
    hidden = "".join(piece.text for piece in pieces if isinstance(piece, Hidden))
    return joined(pieces), hidden


ATOMS = st.sampled_from(
    [
        *("<think>", "</think>", "<thought>", "</thought >", "<think", "<THINK\n", "</", "<"),
        *("`", "``", "```", "````", "~~~", "```py\n", "\n", "\n\n", " ", "> ", "- ", "1. ", ">"),
        *("<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start|>assistant"),
        *("<|channel>", "<channel|>", "<tool_call>", "</tool_call>", "word", "数学", "😀", "a<b"),
    ]
)


@settings(max_examples=600)
@given(st.lists(ATOMS, max_size=14).map("".join), st.data())
def test_any_split_of_the_stream_gives_the_same_result(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole, parts = Scrubber(), Scrubber()
    at_once = [*whole.feed(text), *whole.finish()]
    in_parts: list[Piece] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        in_parts += parts.feed(text[start:end])
    in_parts += parts.finish()
    assert _shape(in_parts) == _shape(at_once)
    assert sum(isinstance(p, Retract) for p in in_parts) == sum(
        isinstance(p, Retract) for p in at_once
    )


@given(st.text(alphabet=st.characters(exclude_characters="<")))
def test_text_without_an_angle_bracket_is_never_changed(text: str) -> None:
    assert scrub(text) == text.strip()
