"""The gates leave room for the closing answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.port import ChatMessage
from core.loop.gates import (
    ANSWER_NOW,
    Budget,
    StopReason,
    answer_limit,
    closed_gate,
    ordered_to_answer,
    prompt_limit,
)

BUDGET = Budget()


@pytest.mark.parametrize(
    ("round_number", "used", "left", "expected"),
    [
        (1, 0, 120.0, None),
        (8, 92_000, 20.1, None),
        (9, 0, 120.0, StopReason.ROUNDS),
        (1, 92_001, 120.0, StopReason.CONTEXT_FULL),
        (1, 0, 20.0, StopReason.DEADLINE),
        (9, 92_001, 0.0, StopReason.DEADLINE),
    ],
)
def test_a_gate_closes_while_its_reserve_is_still_there(
    round_number: int, used: int, left: float, expected: StopReason | None
) -> None:
    gate = closed_gate(
        BUDGET, window=None, round_number=round_number, used_tokens=used, seconds_left=left
    )
    assert gate is expected


def test_a_small_window_wins_and_the_reserve_is_at_most_a_quarter_of_it() -> None:
    assert prompt_limit(BUDGET, 8_192) == 8_192 - 2_048
    assert prompt_limit(BUDGET, 1_000_000) == 110_000 - 18_000


@given(st.integers(1, 200_000), st.integers(0, 200_000), st.integers(1_024, 200_000))
def test_prompt_and_answer_fit_the_window_together(wanted: int, used: int, window: int) -> None:
    limit = answer_limit(wanted, used, window)
    assert 0 < limit <= max(wanted, 256)
    assert used + limit <= window or limit == 256 or limit == wanted < 256


def test_the_order_to_answer_joins_the_users_last_message() -> None:
    asked = (ChatMessage("system", "s"), ChatMessage("user", "Why?"))
    ordered = ordered_to_answer(asked)
    assert ordered == (asked[0], ChatMessage("user", f"Why?\n\n{ANSWER_NOW}"))
    assert asked[1].content == "Why?"


def test_the_order_to_answer_never_becomes_part_of_a_tools_result() -> None:
    result = ChatMessage("tool", "data", tool_call_id="a")
    assert ordered_to_answer((result,)) == (result, ChatMessage("user", ANSWER_NOW))
