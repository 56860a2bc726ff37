from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.redating import redate

SAID = date(2026, 12, 2)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Exam tomorrow", "Exam on 2026-12-03"),
        ("Yesterday's lesson was hard", "Yesterday's lesson was hard"),
        ("Yesterday they failed a test", "On 2026-12-01 they failed a test"),
        ("Has a test next Friday", "Has a test on 2026-12-11"),
        ("Exam on this Friday", "Exam on 2026-12-04"),
        ("Revises vectors this week", "Revises vectors in the week of 2026-11-30"),
        ("Exam next week", "Exam in the week of 2026-12-07"),
        ("Free this weekend", "Free this weekend"),
        ("Moves next month", "Moves in 2027-01"),
        ("Graduates next year", "Graduates in 2027"),
        ("明天考试", "2026年12月3日考试"),
        ("下周五有测验", "2026年12月11日有测验"),
        ("本周学向量", "2026年11月30日那一周学向量"),
        ("这周日休息", "2026年12月6日休息"),
        ("下个月搬家", "2027年1月搬家"),
        ("去年学过微积分", "2025年学过微积分"),
        ("后天交作业，大后天放假", "2026年12月4日交作业，2026年12月5日放假"),
        ("Last in the class, next to none", "Last in the class, next to none"),
    ],
)
def test_what_is_relative_becomes_a_date(said: str, kept: str) -> None:
    assert redate(said, SAID) == kept


@given(st.text(max_size=60), st.dates(date(2000, 1, 1), date(2090, 1, 1)))
def test_a_dated_text_stays_as_it_is(text: str, said: date) -> None:
    once = redate(f"{text} next week 明天", said)
    assert redate(once, date(2001, 5, 5)) == once
