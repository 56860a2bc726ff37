"""Documents as Discord messages: nothing lost, nothing over the limit, no markup but ours."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bots.discord.render import MAX_TEXT, render, size
from bots.discord.write import escaped, muted
from bots.rendering.clean import is_blank
from bots.rendering.compose import Style, compose
from core.document import Button, Document, plain

_STYLE = Style(table_width=44, can_link=lambda url: True)
_FENCE = re.compile(r"^```[A-Za-z0-9_+.#-]*$", re.MULTILINE)


def shown(markdown: str) -> str:
    (part,) = render(Document(markdown=markdown))
    return part.text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**bold** and *it*", "**bold** and *it*"),
        ("***both***", "***both***"),
        ("**a *b* c**", "**a** ***b*** **c**"),
        ("~~gone~~", "~~gone~~"),
        ("**a**b", "**a**b"),
        ("**a***b*", "**a**\u2060*b*"),
        ("# Title", "# Title"),
        ("#### Deep", "### Deep"),
        ("- # in a list", "• **in a list**"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ("> one\n>\n> two", "> one\n> \n> two"),
        ("1. one\n2. two", "1\\. one\n2\\. two"),
        ("`code`", "`code`"),
        ("`` a`b ``", "``a`b``"),
        ("`` `a` ``", "`` `a` ``"),
        ("[it](https://x.org)", "[it](https://x.org)"),
        ("[**it** is](https://x.org)", "[**it** is](https://x.org)"),
        ("[a](<https://x.org/a b(c)>)", "[a](https://x.org/a%20b%28c%29)"),
        ("[mail](mailto:a@b.org)", "mail (mailto:a@b.org)"),
        ("https://x.org/a_b_c", "https://x.org/a_b_c"),
        ("```python\nx = 1\n\n  y\n```", "```python\nx = 1\n\n  y\n```"),
        ("```\nx\n```", "```\nx\n```"),
        ("``` c++ extra\nx\n```", "```c++\nx\n```"),
        ("````\n```\n````", "```\n`\u2060``\n```"),
        ("$x^2$", "x²"),
        ("> ```\n> x\n> ```", "```\nx\n```"),
        ("> a\n>\n> ```\n> x\n> ```\n>\n> b", "> a\n> \n```\nx\n```\n> \n> b"),
    ],
)
def test_styles(markdown: str, text: str) -> None:
    assert shown(markdown) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2*3*4", "2\\*3\\*4"),
        ("snake_case_name", "snake\\_case\\_name"),
        ("||secret||", "\\|\\|secret\\|\\|"),
        ("`tick`", "\\`tick\\`"),
        ("[a](b)", "\\[a\\](b)"),
        ("¯\\_(ツ)_/¯", "¯\\\\\\_(ツ)\\_/¯"),
        ("<#1> <t:1:R> <:a:1>", "\\<#1> \\<t\\:1:R> \\<\\:a:1>"),
        (":smile: 10:30", "\\:smile: 10:30"),
        ("@everyone @here", "@\u2060everyone @\u2060here"),
        ("<@123> <@!1> <@&2>", "\\<@\u2060123> \\<@\u2060!1> \\<@\u2060&2>"),
        ("@ada a@b.org", "@ada a@b.org"),
    ],
)
def test_words_stay_words(text: str, written: str) -> None:
    assert shown(plain(text)) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# no title", "\\# no title"),
        ("-# small", "\\-# small"),
        ("- item", "\\- item"),
        ("> quote", "\\> quote"),
        (">>> quote", "\\>>> quote"),
        ("7. seven", "7\\. seven"),
        ("+ plus", "\\+ plus"),
        ("-5 degrees", "-5 degrees"),
        ("#tag", "#tag"),
        ("7.5 kg", "7.5 kg"),
    ],
)
def test_what_would_begin_a_block_does_not(text: str, written: str) -> None:
    assert escaped(text, line_start=True) == written
    assert shown(plain(text)) == written


def test_a_table_is_aligned_or_told_in_lines() -> None:
    assert shown("| a | b |\n|--|--:|\n| x | 10 |") == "```\na   b\n─  ──\nx  10\n```"
    wide = "word " * 12
    told = shown(f"| name | text |\n|--|--|\n| x | {wide}|")
    assert told.startswith("• name: x") and "```" not in told


def test_mentions_in_code_ring_nobody_and_stay_as_they_are() -> None:
    assert shown("`@everyone`") == "`@everyone`"
    assert shown("```\n@everyone\n```") == "```\n@everyone\n```"


# --- splitting -----------------------------------------------------------------------------------


def test_a_block_of_code_goes_on_in_its_language() -> None:
    code = "\n".join(f"line{number} = '*_*'" for number in range(400))
    parts = render(Document(markdown=f"before\n\n```python\n{code}\n```\n\nafter"))
    assert len(parts) > 3
    inner = []
    for part in parts:
        assert size(part.text) <= MAX_TEXT
        for block in re.findall(r"```python\n(.*?)\n```", part.text, re.DOTALL):
            inner.append(block)
        assert part.text.count("```") % 2 == 0
    assert "\n".join(inner) == code


def test_a_quotation_goes_on_as_one() -> None:
    parts = render(Document(markdown="> " + "word " * 900))
    assert len(parts) > 1
    assert all(part.text.startswith("> ") for part in parts)


def test_a_text_full_of_markup_still_fits() -> None:
    source = " ".join(f"[*a*](https://example.org/{'x' * 300}{n})" for n in range(60))
    for markdown in (source, "*" * 3 + "a" * 1990 + "*" * 3, "\\*" * 1999, "😀" * 1999):
        parts = render(Document(markdown=markdown))
        assert all(size(part.text) <= MAX_TEXT for part in parts)
    assert "".join(part.text for part in parts).count("😀") == 1999


_WORD = st.text(
    string.ascii_letters + string.digits + "中文é*_~`|[]()<>@#:\\.-+!&$\"' ", max_size=30
)
_LINE = st.lists(
    st.one_of(
        _WORD,
        _WORD.map(lambda w: f"**{w}**"),
        _WORD.map(lambda w: f"*{w}*"),
        _WORD.map(lambda w: f"~~{w}~~"),
        _WORD.map(lambda w: f"`{w}`"),
        st.just("https://example.org/a_b"),
    ),
    max_size=8,
).map(" ".join)
_BLOCK = st.one_of(
    _LINE,
    _LINE.map(lambda line: f"# {line}"),
    _LINE.map(lambda line: f"> {line}\n> {line}"),
    _LINE.map(lambda line: f"- {line}\n  - {line}"),
    _LINE.map(lambda line: f"```\n{line}\n\n  {line}\n```"),
    _LINE.map(lambda line: f"| a | b |\n|---|---|\n| {line.replace('|', '')} | x |"),
    st.integers(1, 900).map(lambda n: "word " * n),
    st.integers(1, 2500).map(lambda n: "w" * n),
    st.integers(1, 120).map(lambda n: "```\n" + "code = 1\n" * n + "```"),
)
_SOURCE = st.lists(_BLOCK, min_size=1, max_size=6).map("\n\n".join)


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


@settings(max_examples=150, deadline=None)
@given(_SOURCE)
@example("`a` `b`\n\n```\n```\n\n" + "x" * 4000)
def test_nothing_is_lost_and_every_message_is_whole(source: str) -> None:
    wanted = compose(source, _STYLE).text
    if is_blank(wanted):
        with pytest.raises(ValueError, match="blank"):
            render(Document(markdown=source))
        return
    parts = render(Document(markdown=source))
    for part in parts:
        assert 0 < size(part.text) <= MAX_TEXT
        assert not is_blank(part.text)
        assert len(_FENCE.findall(part.text)) == part.text.count("```")
        assert part.text.count("```") % 2 == 0
    assert letters("".join(part.text for part in parts)) == letters(wanted)


@settings(max_examples=150, deadline=None)
@given(st.text("abc<@!&0123456789>everyonehere `*_#:\n", max_size=60))
def test_whatever_is_written_rings_nobody(text: str) -> None:
    if is_blank(text):
        return
    bare = re.sub(r"```.*?```|`[^`\n]+`", " ", shown(plain(text)), flags=re.DOTALL)
    assert not re.search(r"<@[!&]?\d+>|@everyone|@here", bare)
    assert muted(compose(plain(text), _STYLE)).text.replace("\u2060", "") == (
        compose(plain(text), _STYLE).text
    )


# --- buttons -------------------------------------------------------------------------------------


def buttons(*rows: int) -> tuple[tuple[Button, ...], ...]:
    number = iter(range(100))
    return tuple(
        tuple(Button(label=f"b{n}", action=f"a:{n}") for n in (next(number) for _ in range(row)))
        for row in rows
    )


@pytest.mark.parametrize(
    ("rows", "laid"),
    [((2, 1), [2, 1]), ((7,), [5, 2]), ((2,) * 6, [5, 5, 2]), ((5,) * 5, [5] * 5), ((0, 1), [1])],
)
def test_rows_fit_the_platform(rows: tuple[int, ...], laid: list[int]) -> None:
    (part,) = render(Document(markdown="Choose", buttons=buttons(*rows)))
    assert [len(row) for row in part.buttons] == laid
    ids = [button.custom_id for row in part.buttons for button in row]
    assert ids == [f"a:{n}" for n in range(sum(rows))]


def test_buttons_stand_under_the_last_part_once_each() -> None:
    twice = Button(label="Again", action="a:1")
    parts = render(Document(markdown="word " * 900, buttons=((twice, twice), (twice,))))
    assert [len(part.buttons) for part in parts] == [0] * (len(parts) - 1) + [1]
    assert len(parts[-1].buttons[0]) == 1


@pytest.mark.parametrize(
    "rows",
    [
        ((Button(label="x", action=""),),),
        ((Button(label="x", action="a" * 101),),),
        ((Button(label=" ", action="a"),),),
        buttons(*[5] * 5, 1),
    ],
)
def test_buttons_of_no_use_are_the_callers_fault(rows: tuple[tuple[Button, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"custom id|label|more buttons"):
        render(Document(markdown="Choose", buttons=rows))


def test_a_blank_document_is_the_callers_fault() -> None:
    with pytest.raises(ValueError, match="blank"):
        render(Document(markdown=" \n "))
