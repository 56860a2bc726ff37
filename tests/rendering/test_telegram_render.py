from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import assume, given

from bots.rendering.clean import is_blank
from bots.telegram.render import EntitySpec, TelegramPart, plain_part, render
from core.document import Button, Document
from tests.rendering.sources import PATHOLOGICAL, SOURCES


def parts(source: str) -> tuple[TelegramPart, ...]:
    return render(Document(markdown=source))


def units(text: str) -> bytes:
    return text.encode("utf-16-le")


def covered(part: TelegramPart, entity: EntitySpec) -> str:
    """Return what an entity covers; decoding fails where it cuts a surrogate pair."""
    return units(part.text)[2 * entity.offset : 2 * (entity.offset + entity.length)].decode(
        "utf-16-le"
    )


def entities(source: str) -> list[tuple[str, str]]:
    [part] = parts(source)
    return [(entity.type, covered(part, entity)) for entity in part.entities]


def check(part: TelegramPart) -> None:
    """Assert what Telegram demands of a message."""
    size = len(units(part.text)) // 2
    assert 1 <= size <= 4096
    assert not is_blank(part.text)
    assert part.text == part.text.rstrip()
    assert len(part.entities) <= 100
    ranges = []
    for entity in part.entities:
        assert entity.length > 0
        assert entity.offset >= 0
        assert entity.offset + entity.length <= size
        text = covered(part, entity)
        assert not is_blank(text)
        assert text == text.rstrip()
        assert (entity.url is not None) == (entity.type == "text_link")
        assert entity.language is None or entity.type == "pre"
        ranges.append((entity.offset, entity.offset + entity.length, entity.type))
    assert ranges == sorted(ranges, key=lambda r: (r[0], -r[1]))
    for index, (start, end, kind) in enumerate(ranges):
        for other_start, other_end, other in ranges[index + 1 :]:
            if other_start >= end:
                break
            assert other_end <= end or {kind, other} <= {"bold", "italic", "strikethrough"}
            assert not {kind, other} & {"pre", "code"}
            assert kind != other
        assert start < end


@given(SOURCES)
def test_every_part_is_one_that_telegram_takes(source: str) -> None:
    try:
        rendered = parts(source)
    except ValueError:
        assume(False)
        raise
    for part in rendered:
        check(part)
        assert plain_part(part).entities == ()
        assert len(units(plain_part(part).text)) == len(units(part.text))


@given(SOURCES)
def test_no_name_can_be_pinged(source: str) -> None:
    try:
        rendered = parts(source)
    except ValueError:
        assume(False)
        raise
    for part in rendered:
        coded = bytearray(units(part.text))
        for entity in part.entities:
            if entity.type in ("pre", "code"):
                coded[2 * entity.offset : 2 * (entity.offset + entity.length)] = units(
                    "." * entity.length
                )
        rest = coded.decode("utf-16-le")
        assert not re.search(r"(?<!\w)@[A-Za-z0-9_]", rest)
        assert not re.search(r"(?<![A-Za-z0-9_])@[A-Za-z0-9_]", plain_part(part).text)


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_hostile_sources_are_rendered_within_the_limits(name: str) -> None:
    for part in parts(PATHOLOGICAL[name]):
        check(part)


def test_styles_become_entities_in_utf16_units() -> None:
    source = "👍 **bold** *it* ~~no~~ `x` [link](https://x.org) # no\n\n> quote"
    assert entities(source) == [
        ("bold", "bold"),
        ("italic", "it"),
        ("strikethrough", "no"),
        ("code", "x"),
        ("text_link", "link"),
        ("blockquote", "quote"),
    ]
    assert parts(source)[0].entities[0].offset == 3


def test_F001_code_that_crosses_a_message_is_closed_and_reopened() -> None:  # noqa: N802
    first, second, *_ = parts("intro\n\n```python\n" + "print('x')\n" * 500 + "```")
    for part in (first, second):
        [entity] = part.entities
        assert (entity.type, entity.language) == ("pre", "python")
        assert set(covered(part, entity).split("\n")) == {"print('x')"}


def test_F002_a_long_answer_shows_no_markup() -> None:  # noqa: N802
    rendered = parts("Some **bold words** and [a link](https://x.org/a). " * 300)
    assert len(rendered) > 2
    for part in rendered:
        check(part)
        assert "**" not in part.text
        assert "](" not in part.text
    links = [e for part in rendered for e in part.entities if e.type == "text_link"]
    assert len(links) == 300


def test_F005_F007_the_plain_fallback_is_the_same_text_and_as_short() -> None:  # noqa: N802
    rendered = parts("Sure! Step 1 - done. (**ok**) " * 300)
    for part in rendered:
        assert plain_part(part).text == part.text
        assert "\\" not in part.text
    assert plain_part(rendered[0]).text.startswith("Sure! Step 1 - done. (ok)")


def test_F011_no_formula_is_shown_as_source() -> None:  # noqa: N802
    [part] = parts(r"so \(\frac{1}{2}\), $$\frac{a}{b}$$ and \frac{x}{y}; $5 and $6")
    assert part.text == "so 1/2, a/b and x/y; $5 and $6"


def test_aligned_rows_are_monospaced() -> None:
    assert entities("| a | b |\n|---|---|\n| 1 | 2 |") == [("pre", "a  b\n─  ─\n1  2")]
    assert entities("$$\\begin{pmatrix}1\\\\2\\end{pmatrix}$$") == [("pre", "⎛1⎞\n⎝2⎠")]


def test_code_stands_alone_on_its_range() -> None:
    assert entities("**a `b` c**") == [("bold", "a"), ("code", "b"), ("bold", "c")]
    assert entities("> q `x`\n>\n> ```\n> y\n> ```\n> z") == [
        ("blockquote", "q x"),
        ("pre", "y"),
        ("blockquote", "z"),
    ]
    assert entities("[`f`](https://x.org)") == [("text_link", "f")]
    assert entities("> a\n> > b") == [("blockquote", "a\n\nb")]
    assert entities("# a **b**") == [("bold", "a b")]


def test_indentation_of_code_survives_at_the_start_of_a_message() -> None:
    [part] = parts("```\n    x\n  y\n```")
    assert part.text == "    x\n  y"
    assert covered(part, part.entities[0]) == part.text


def test_a_link_that_telegram_does_not_take_is_spelled_out() -> None:
    assert parts("[a](tg://user?id=1)")[0] == TelegramPart("a (tg://user?id=1)")


def test_decorators_in_code_stay_as_they_are() -> None:
    [part] = parts("`@property` for @alice, mail a@b.org")
    assert part.text == "@property for @\u2060alice, mail a@b.org"
    assert parts("> `@property`")[0].text == "＠property"
    assert plain_part(part).text == "＠property for @\u2060alice, mail a@b.org"


def test_more_styles_than_fit_lose_the_least_important_first() -> None:
    [part] = parts("*i* " * 60 + "`c` " * 60 + "[l](https://x.org) " * 30)
    kinds = [entity.type for entity in part.entities]
    assert len(kinds) == 100
    assert kinds.count("text_link") == 30
    assert kinds.count("code") == 60


def test_buttons_stand_under_the_last_part_only() -> None:
    rows = ((Button(label="Show", action="card:1"),), (Button(label="提示", action="hint"),))
    rendered = render(Document(markdown="word " * 2000, buttons=rows))
    assert [bool(part.buttons) for part in rendered] == [False, False, True]
    assert [b.callback_data for row in rendered[-1].buttons for b in row] == ["card:1", "hint"]


@pytest.mark.parametrize(
    ("label", "action"), [("x", "a" * 65), ("x", "题" * 22), ("x", ""), ("\u200b", "a")]
)
def test_a_button_that_telegram_refuses_is_refused_early(label: str, action: str) -> None:
    button = Button(label=label, action=action)
    with pytest.raises(ValueError, match=r"callback data|label"):
        render(Document(markdown="x", buttons=((button,),)))


@pytest.mark.parametrize("source", ["", " \n", "\u200b\u2060", "```\n\n```", "&nbsp;", "\x00\x1b"])
def test_F034_nothing_to_see_is_refused(source: str) -> None:  # noqa: N802
    with pytest.raises(ValueError, match="blank"):
        parts(source)


def test_rendering_loads_no_client_library() -> None:
    code = (
        "import sys, bots.telegram.render; print('aiogram' in sys.modules, 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
