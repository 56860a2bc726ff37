from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.rendering.compose import Style, compose
from core.document import plain

STYLE = Style(table_width=36, can_link=lambda url: True)


@pytest.mark.parametrize(
    "text",
    [
        "f(x) and [y]",
        r"\(x\) \[y\]",
        "$5 $x$",
        "2*3*4",
        "[a](http://x)",
        "a\n===\nb",
        "&amp; <b>",
        "1. a",
        "    four spaces",
    ],
)
def test_escaped_text_is_shown_letter_for_letter(text: str) -> None:
    styled = compose(plain(text), STYLE)
    assert styled.text == text
    assert styled.spans == ()


LINE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).map(
    lambda line: line.replace("\u2800", "x")
)


@given(st.lists(LINE, min_size=1).map("\n".join))
def test_no_line_of_escaped_text_is_taken_for_markup(text: str) -> None:
    styled = compose(plain(text), STYLE)
    assert styled.text == text
    assert styled.spans == ()
