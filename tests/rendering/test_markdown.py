from __future__ import annotations

import pytest

from bots.rendering.compose import Style, compose
from bots.rendering.styled import Kind

STYLE = Style(table_width=36, can_link=lambda url: url.startswith("http"))


def shown(source: str) -> str:
    return compose(source, STYLE).text


def spans(source: str) -> list[tuple[Kind, str, str]]:
    styled = compose(source, STYLE)
    return [(s.kind, styled.text[s.start : s.end], s.value) for s in styled.spans]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\(a^2+b^2=c^2\)", "a²+b²=c²"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"$$\int x\,dx$$", "∫ x dx"),
        ("so\n\\[\nx = 1\n\\]\nholds", "so\n\nx = 1\n\nholds"),
        ("so\n$$x = 1$$.\nholds", "so\n\nx = 1.\n\nholds"),
        (r"both \[x\] and $$y$$ inline", "both x and y inline"),
        (r"$ \alpha + 1 $ padded", "α + 1 padded"),
        (r"函数$f(x)$在 the $n$th place, $k$-means", "函数f(x)在 the nth place, k-means"),
        (r"left bare: \frac{a}{b+1}", "left bare: a/(b+1)"),
        ("```math\nx^2\n```", "x²"),
        (r"line \\[2pt] stays", "line \\[2pt] stays"),
        (r"$$\begin{aligned}a &= b \\[2pt] &= c\end{aligned}$$", "a = b\n  = c"),
    ],
)
def test_F011_every_delimiter_of_mathematics_is_read(source: str, text: str) -> None:  # noqa: N802
    assert shown(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "$5 and $6",
        "from $5-$6",
        "US$5 or HK$6",
        "$20,000 to $30,000 a year",
        "$HOME and $PATH",
        "$HOME/$PATH",
        "an open $x",
        "an open \\frac{ end",
        "cost: 5$, 6$",
    ],
)
def test_money_and_variables_are_no_formulas(source: str) -> None:
    assert shown(source) == source


def test_money_before_a_formula_stays_money() -> None:
    assert shown("$5 and $6, then $x^2$") == "$5 and $6, then x²"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"`$x^2$` and `\(y\)`", r"$x^2$ and \(y\)"),
        ("```\n$x^2$ \\[y\\]\n```", r"$x^2$ \[y\]"),
        ("    $x^2$", "$x^2$"),
        ("costs $5, and `a$` too", "costs $5, and a$ too"),
    ],
)
def test_nothing_inside_code_is_a_formula(source: str, text: str) -> None:
    assert shown(source) == text


def test_raw_html_is_shown_as_text() -> None:
    assert shown("<b>x</b>\n\n<div>\ny\n</div>") == "<b>x</b>\n\n<div>\ny\n</div>"


def test_F143_think_tags_in_code_samples_survive() -> None:  # noqa: N802
    assert shown("```xml\n<think>a</think>\n```") == "<think>a</think>"


def test_F008_an_image_is_its_words_and_its_address() -> None:  # noqa: N802
    assert shown("![alt](http://x.com/a_b.png)") == "alt (http://x.com/a_b.png)"
    assert shown("![](http://x.com/a_b.png)") == "http://x.com/a_b.png"
    assert shown("![plot](data:image/png;base64,AAAA)") == "plot"


@pytest.mark.parametrize(
    ("source", "bold"),
    [
        ("**注意：**后面", ["注意："]),
        ("这是**“重点”**内容", ["“重点”"]),
        ("**한국어(Korean)**는", ["한국어(Korean)"]),
        ("先**加粗**，再**《书名》**。", ["加粗", "《书名》"]),
        ("**note:**then", []),
        ("长 ** 宽 ** 高", []),
        ("__注意：__后面", []),
    ],
)
def test_bold_may_end_in_punctuation_where_words_have_no_spaces(
    source: str, bold: list[str]
) -> None:
    assert [text for kind, text, _ in spans(source) if kind is Kind.BOLD] == bold


def test_a_link_is_carried_by_its_words_or_spelled_out() -> None:
    assert spans("[here](http://x.com)") == [(Kind.LINK, "here", "http://x.com")]
    assert shown("[here](ftp://x.com/a)") == "here (ftp://x.com/a)"
    assert shown("<http://x.com>") == "http://x.com"
    assert shown("[](http://x.com)") == "http://x.com"
    assert shown("[a]: http://x.com") == "[a]: http://x.com"


def test_lists_keep_numbers_and_indentation() -> None:
    source = "3. three\n   - sub\n     more\n4. four\n\n- [ ] open\n- [x] done\n-"
    assert shown(source) == "3. three\n   • sub\n     more\n4. four\n\n• ☐ open\n• ☑ done\n• "


def test_blocks_are_parted_and_a_heading_stands_above_its_text() -> None:
    source = "# A *b*\ntext\n\n---\n> q\n\n```py\nx\n```"
    assert shown(source) == "A b\ntext\n\n────────────\n\nq\n\nx"
    assert spans(source) == [
        (Kind.HEADING, "A b", "1"),
        (Kind.ITALIC, "b", ""),
        (Kind.QUOTE, "q", ""),
        (Kind.PRE, "x", "py"),
    ]


def test_code_in_a_list_starts_on_its_own_line() -> None:
    assert shown("- a\n  ```\n  x\n    y\n  ```\n- ```\n  z\n  ```") == "• a\nx\n  y\n• \nz"


def test_a_source_that_nests_too_deep_is_shown_as_written() -> None:
    source = ">" * 200 + " a"
    assert shown(source) == source


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a\x1b[31mred", "a[31mred"),
        ("a\x00b\x9bc\x7fd", "abcd"),
        ("a&#27;b &#x202e;c \u2066d", "a\ufffdb c d"),
        ("`\x1b]0;t\x07`", "]0;t"),
        ("a\r\nb\u2028c\ud800", "a\nb\nc\ufffd"),
        ("\u200fא\u200d", "\u200fא\u200d"),
    ],
)
def test_controls_and_direction_overrides_are_removed_however_written(
    source: str, text: str
) -> None:
    assert shown(source) == text
