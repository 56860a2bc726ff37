"""Tokens as they are reported, money by the price of whoever answered."""

from __future__ import annotations

import pytest

from core.llm.port import ChatMessage, Usage
from core.loop.gates import Budget, Price
from core.loop.meter import Meter

BUDGET = Budget(prices=(Price("dear", 100.0, 200.0), Price("cheap", 1.0, 2.0)))
HISTORY = [ChatMessage("user", "x" * 400)]


def test_an_estimate_gives_way_to_the_first_report() -> None:
    meter = Meter("dear", BUDGET.price)
    assert meter.used(HISTORY) == 104
    meter.report(Usage(300, 10), len(HISTORY))
    assert meter.used(HISTORY) == 300
    assert meter.used([*HISTORY, *HISTORY]) == 404
    meter.report(Usage(900, 10), None)
    assert meter.used(HISTORY) == 300
    meter.forget()
    assert meter.used(HISTORY) == 104


def test_money_goes_by_the_model_that_answered() -> None:
    meter = Meter("dear", BUDGET.price)
    meter.report(Usage(1_000_000, 500_000), 1)
    assert meter.spent == pytest.approx(200.0)
    meter.report(Usage(1_000_000, 500_000, stand_in="cheap"), 1)
    assert meter.spent == pytest.approx(202.0)
    meter.report(Usage(1_000_000, 0, stand_in="unknown"), 1)
    assert meter.spent == pytest.approx(202.0)
    assert meter.usage.prompt_tokens == 3_000_000


def test_a_call_that_told_nothing_is_paid_by_an_estimate() -> None:
    meter = Meter("dear", BUDGET.price)
    meter.report(None, 1)
    meter.estimate(1_000, 1_000)
    assert meter.spent == pytest.approx(0.3)
    assert meter.usage == Usage(0, 0)
