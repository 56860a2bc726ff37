from __future__ import annotations

from bots.rendering.compose import Style, compose
from bots.rendering.styled import Kind

STYLE = Style(table_width=36, can_link=lambda url: True)


def test_F010_a_narrow_table_is_aligned_by_columns_of_the_screen() -> None:  # noqa: N802
    styled = compose(
        "| 词 | word | n |\n|---|:-:|--:|\n| 导数 | slope | 5 |\n| e | `x` | 10 |", STYLE
    )
    assert styled.text == "词    word    n\n────  ─────  ──\n导数  slope   5\ne       x    10"
    assert [span.kind for span in styled.spans] == [Kind.GRID]


def test_F010_a_wide_table_is_a_group_of_lines_for_each_row() -> None:  # noqa: N802
    source = (
        "| Name | Meaning | Note |\n|---|---|---|\n"
        "| slope | how steep a **curve** is at one point | |\n| area | under it | b<br>c |"
    )
    styled = compose(source, STYLE)
    assert styled.text == (
        "• Name: slope\n  Meaning: how steep a curve is at one point\n"
        "• Name: area\n  Meaning: under it\n  Note: b\n  c"
    )
    assert [span.kind for span in styled.spans] == [Kind.BOLD]
    rows = [styled.text[a:b] for a, b in styled.atoms]
    assert [row[:9] for row in rows] == ["• Name: s", "• Name: a"]


def test_a_table_with_links_keeps_them_usable() -> None:
    styled = compose("| a |\n|---|\n| [x](http://x.com) |", STYLE)
    assert styled.text == "• a: x"
    assert styled.spans[0].value == "http://x.com"


def test_a_table_of_nothing_but_a_header_is_shown() -> None:
    assert "long header" in compose("| " + "long header " * 5 + "|\n|---|", STYLE).text


def test_rows_shorter_than_the_header_are_filled() -> None:
    assert compose("| a | b |\n|---|---|\n| 1 |", STYLE).text == "a  b\n─  ─\n1"
