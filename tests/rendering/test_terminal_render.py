from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from bots.rendering.compose import Style, compose
from bots.terminal.render import render
from bots.terminal.wrap import TAB, wrapped
from core.document import Button, Document
from tests.rendering.sources import ANY_TEXT, PATHOLOGICAL, SOURCES

SGR = re.compile(r"\x1b\[[\d;]*m")


def plain(source: str, width: int = 40) -> str:
    return render(Document(markdown=source), width, color=False)


def coloured(source: str, width: int = 40) -> str:
    return render(Document(markdown=source), width, color=True)


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(SOURCES, st.integers(0, 120))
def test_colours_change_no_letter_and_no_control_comes_through(source: str, width: int) -> None:
    try:
        text = plain(source, width)
    except ValueError:
        assume(False)
        raise
    assert SGR.sub("", coloured(source, width)) == text
    for character in text:
        assert character == "\n" or unicodedata.category(character) != "Cc"
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(SOURCES, st.integers(20, 120))
def test_no_word_is_lost_by_wrapping(source: str, width: int) -> None:
    style = Style(table_width=width, can_link=lambda url: False)
    whole = compose(source, style).text
    try:
        text = plain(source, width)
    except ValueError:
        assume(False)
        raise
    assert squeezed(text).replace("│", "") == squeezed(whole).replace("│", "")


@given(ANY_TEXT.map(lambda text: "".join(text.splitlines())), st.integers(2, 40))
def test_wrapped_lines_fit_and_hold_everything(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert squeezed("".join(text[a:b] for a, b in lines)) == squeezed(text)
    for start, end in lines:
        line = text[start:end].replace("\t", TAB)
        assert wcswidth(line) <= max(width, 2)


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_hostile_sources_are_shown_whole(name: str) -> None:
    assert SGR.sub("", coloured(PATHOLOGICAL[name], 80)) == plain(PATHOLOGICAL[name], 80)


def test_long_lines_are_wrapped_under_their_text() -> None:
    assert plain("- one two three four five six\n  1. 一二三四五六七八九十，十一十二", 20) == (
        "• one two three four\n  five six\n  1. 一二三四五六七\n     八九十，十一十\n     二"
    )


def test_quotations_code_and_tables_keep_their_shape() -> None:
    source = "> quoted words that need another line of text\n\n```py\nif x:\n\treturn 1\n```\n\n| 词 | b |\n|---|--:|\n| 导数 | 5 |"  # noqa: E501
    assert plain(source, 30) == (
        "│ quoted words that need\n│ another line of text\n\n    if x:\n        return 1\n\n"
        "词    b\n────  ─\n导数  5"
    )


def test_a_formula_can_be_read_and_a_link_shows_where_it_leads() -> None:
    assert plain(r"$\frac{a+b}{2a}$ [here](https://x.org)", 60) == (
        "(a+b)/(2a) here (https://x.org)"
    )


def test_a_model_cannot_drive_the_terminal() -> None:
    source = "a\x1b]0;title\x07b\x1b[2Jc\x9b31m &#27;[1m `\x1b[5m`\n\n```\n\x1b[H\n```"
    text = plain(source)
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert set(SGR.findall(coloured(source))) <= {"\x1b[36m", "\x1b[0m", "\x1b[2m"}


def test_styles_are_coloured_and_a_pipe_gets_none() -> None:
    assert coloured("**b** *i* `c`") == "\x1b[1mb\x1b[0m \x1b[3mi\x1b[0m \x1b[36mc\x1b[0m"
    assert plain("**b** *i* `c`") == "b i c"


def test_buttons_are_numbered_choices() -> None:
    labels = (("Show answer", "Hint"), ("a\x1b[2J\nb",))
    rows = tuple(tuple(Button(label=label, action="x") for label in row) for row in labels)
    text = render(Document(markdown="q", buttons=rows), 40, color=False)
    assert text == "q\n\n[1] Show answer  [2] Hint\n[3] a[2J b"
    narrow = render(Document(markdown="q", buttons=rows), 20, color=False)
    assert narrow == "q\n\n[1] Show answer\n[2] Hint\n[3] a[2J b"


def test_nothing_to_see_is_refused() -> None:
    with pytest.raises(ValueError, match="blank"):
        plain("\u200b")
