"""The gates leave room for the closing answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.port import ChatMessage, Usage
from core.loop.gates import (
    ANSWER_NOW,
    LEAST_ANSWER,
    Budget,
    Price,
    Purse,
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


def test_money_and_calls_close_a_gate_as_well() -> None:
    def gate(*, calls: int = 0, affordable: bool = True) -> StopReason | None:
        return closed_gate(
            BUDGET,
            window=None,
            round_number=2,
            used_tokens=0,
            seconds_left=100.0,
            tool_calls=calls,
            affordable=affordable,
        )

    assert gate() is None
    assert gate(calls=23) is None
    assert gate(calls=24) is StopReason.TOOL_CALLS
    assert gate(affordable=False) is StopReason.COST


@given(
    st.floats(0.001, 10),
    st.floats(0, 10),
    st.integers(0, 100_000),
    st.integers(1, 8_000),
    st.builds(Price, st.just("m"), st.floats(0, 100), st.floats(0, 100)),
)
def test_a_round_is_paid_with_its_closing_answer_or_not_begun(
    limit: float, spent: float, used: int, wanted: int, price: Price
) -> None:
    purse = Purse(limit, price, closing_tokens=8_000)
    tokens = purse.affords(wanted, used, spent, closing=False)
    if tokens is not None:
        assert min(wanted, LEAST_ANSWER) <= tokens <= wanted
        cost = price.of(Usage(used, tokens))
        assert spent + cost + purse.reserve(used) <= limit * 1.000001
    closing = purse.affords(wanted, used, spent, closing=True)
    assert closing is not None
    assert min(wanted, LEAST_ANSWER) <= closing <= wanted
    assert tokens is None or closing >= tokens


def test_without_a_limit_or_a_price_the_purse_is_never_empty() -> None:
    dear = Price("m", 1e6, 1e6)
    assert Purse(0.0, dear, 8_000).affords(500, 10**6, 1e9, closing=False) == 500
    assert Purse(0.1, None, 8_000).affords(500, 10**6, 1e9, closing=False) == 500


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
