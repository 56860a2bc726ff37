"""Documents as cards: whatever a model writes fits, shows, and rings at nobody's."""

from __future__ import annotations

import html
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.feishu.render import FeishuPart, card, encoded, render
from bots.rendering.clean import is_blank
from core.document import Button, Document, plain
from tests.servers.feishu import cards
from tests.servers.feishu.cards import Known

NOBODY = Known(image=lambda key: False, person=lambda open_id: False)
THREAD = "omt_" + "0" * 32
LIMIT = 30 * 1024


def rendered(markdown: str, *rows: tuple[Button, ...]) -> tuple[FeishuPart, ...]:
    return render(Document(markdown=markdown, buttons=rows))


def only(markdown: str) -> str:
    """The one markdown element that a source becomes."""
    (part,) = rendered(markdown)
    (element,) = part.elements
    return str(element["content"])


def check(part: FeishuPart) -> dict[str, Any]:
    """Ask the strict server what it thinks of a card."""
    made = card(part, THREAD)
    cards.check(made, NOBODY)
    assert len(encoded(made).encode()) <= LIMIT
    return made


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("**bold** and *italic* and ~~gone~~", "**bold** and *italic* and ~~gone~~"),
        ("# Title\n\ntext", "# Title\ntext"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ("`x = 1`", "`x = 1`"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("- one\n- two", "• one\n• two"),
        ("1. one\n2. two", "1&#46; one\n2&#46; two"),
        ("[words](https://x.y/a_b)", "[words](https://x.y/a_b)"),
        ("https://x.y/a_b", "https://x.y/a_b"),
        (r"2\*3 and a_b", "2&#42;3 and a&#95;b"),
        ("$x^2$", "x²"),
        ("**a *b***", "**a** ***b***"),
        ("**注意：**后面", "**注意**：后面"),
        ("这是**“重点”**内容", "这是“**重点**”内容"),
        ("**注意：** 后面", "**注意：** 后面"),
        ("\\# no title", "&#35; no title"),
    ],
)
def test_styles_are_written_in_the_markdown_of_cards(source: str, shown: str) -> None:
    assert only(source) == shown


def test_a_table_becomes_a_table() -> None:
    (part,) = rendered("before\n\n|a|b|\n|:-|-:|\n|1|**2**|\n|3|4|\n\nafter")
    before, table, after = part.elements
    assert (before["content"], after["content"]) == ("before", "after")
    assert [column["display_name"] for column in table["columns"]] == ["a", "b"]
    assert [column["horizontal_align"] for column in table["columns"]] == ["left", "right"]
    assert [column["data_type"] for column in table["columns"]] == ["text", "lark_md"]
    assert table["rows"] == [{"c0": "1", "c1": "**2**"}, {"c0": "3", "c1": "4"}]
    assert "a | b\n1 | **2**" in part.plain
    check(part)


def test_more_tables_than_a_card_may_hold_go_on_in_the_next() -> None:
    parts = rendered("\n\n".join("|a|b|\n|-|-|\n|1|2|" for _ in range(6)))
    counts = [sum(one["tag"] == "table" for one in part.elements) for part in parts]
    assert counts == [5, 1]
    for part in parts:
        check(part)


def test_a_table_inside_code_a_list_or_a_quotation_is_none() -> None:
    table = "|a|b|\n|-|-|\n|1|2|"
    fenced = "\n\n".join(f"```\n{table}\n```" for _ in range(8))
    quoted = "\n".join(f"> {line}" for line in table.split("\n"))
    (part,) = rendered(f"{fenced}\n\n{quoted}\n\n- item\n\n  |a|b|\n  |-|-|\n  |1|2|")
    assert all(one["tag"] == "markdown" for one in part.elements)
    check(part)


def test_a_table_too_long_for_one_card_keeps_its_header_on_each() -> None:
    rows = [f"|{number}|{'words ' * 30}|" for number in range(400)]
    parts = rendered("|n|text|\n|-|-|\n" + "\n".join(rows))
    assert len(parts) > 1
    numbers = [row["c0"] for part in parts for one in part.elements for row in one["rows"]]
    assert numbers == [str(number) for number in range(400)]
    assert all(one["columns"][0]["display_name"] == "n" for p in parts for one in p.elements)
    for part in parts:
        check(part)


def test_a_table_with_more_columns_than_the_platform_has_is_text() -> None:
    wide = "|" + "|".join(f"c{n}" for n in range(60)) + "|"
    (part,) = rendered(f"{wide}\n|{'-|' * 60}\n{wide}")
    assert part.elements[0]["tag"] == "markdown"
    check(part)


@pytest.mark.parametrize(
    "source",
    [
        '<at id=all></at> <at user_id="ou_x">Bob</at>',
        "`<at id=all></at>`",
        "```\n<at id=all></at> ![x](img_1)\n```",
        "|a|\n|-|\n|<at id=all></at>|\n|**<at id=ou_x></at>**|",
        "    <AT ids=ou_x></AT>",
        "![picture](img_1)",
    ],
)
def test_nobody_is_called_and_no_picture_is_asked_for(source: str) -> None:
    for part in rendered(source):
        written = encoded(check(part))
        assert "<at" not in written.lower()
        assert "<at" not in part.plain.lower()


def test_buttons_stand_in_rows_and_remember_action_and_thread() -> None:
    row = (Button(label="Good", action="grade:3"), Button(label="Easy", action="grade:4"))
    (part,) = rendered("How was it?", row, (Button(label="Stop", action="stop:"),))
    made = check(part)
    shown = cards.buttons(made)
    assert [cards.label(button) for button in shown] == ["Good", "Easy", "Stop"]
    assert cards.value(shown[0]) == {"action": "grade:3", "thread": THREAD}
    assert cards.value(cards.buttons(card(part, None))[0]) == {"action": "grade:3"}
    assert made["config"]["summary"]["content"] == "How was it?"


def test_buttons_stand_under_the_last_card_and_never_too_many_on_one() -> None:
    rows = [(Button(label=f"b{n}", action=f"a:{n}"),) for n in range(90)]
    parts = rendered("many", *rows)
    labels = [button.label for part in parts for row in part.buttons for button in row]
    assert labels == [f"b{n}" for n in range(90)]
    for part in parts:
        check(part)
        assert not is_blank(part.plain)
    parts = rendered("word " * 20000, rows[0])
    assert [bool(part.buttons) for part in parts] == [False] * (len(parts) - 1) + [True]


@pytest.mark.parametrize("markdown", ["", " \n ", "\u200b"])
def test_a_document_that_shows_nothing_is_refused(markdown: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        rendered(markdown)


@pytest.mark.parametrize(
    "button",
    [
        Button(label=" ", action="a:"),
        Button(label="x", action=""),
        Button(label="x", action="ä" * 33),
    ],
)
def test_a_button_that_cannot_be_is_refused(button: Button) -> None:
    with pytest.raises(ValueError, match=r"label|bytes"):
        rendered("text", (button,))


SNIPPETS = (
    *("**bold**", "*i*", "~~s~~", "`code`", "`<at id=all></at>`", "<at id=all></at>"),
    *("[a](https://x.y)", "![i](img_1)", "\n\n", "\n", "\n# h\n", "\n> q\n", "\n- i\n", "\n1. n\n"),
    *("\n```py\nx\n```\n", "```", "\n|a|b|\n|-|-|\n|1|**2**|\n\n", "|", "$x^2$", "\\", "*", "_"),
    *(
        "&lt;",
        "&amp;",
        ":OK:",
        "<",
        "中文。",
        "😀",
        "word ",
        '"',
        "\t",
        "#",
        "!",
        "[",
        "]",
        "(",
        ")",
    ),
)
PIECES = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=60).map("".join)


@given(PIECES, st.integers(1, 60))
def test_every_document_becomes_cards_the_platform_takes(source: str, times: int) -> None:
    try:
        parts = rendered(source * times)
    except ValueError:
        return
    for part in parts:
        check(part)
        assert not is_blank(part.plain)


@given(st.text(alphabet=st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=40))
def test_plain_words_are_shown_letter_for_letter(words: str) -> None:
    shown = html.unescape(only(f"a {plain(words)} z"))
    assert shown == f"a {words} z"


@given(st.integers(1, 60_000))
def test_no_word_of_a_long_answer_is_lost(count: int) -> None:
    source = " ".join(f"w{number}" for number in range(count % 9000 + 1))
    parts = rendered(source)
    assert " ".join(str(one["content"]) for p in parts for one in p.elements) == source
