"""Markup and entities: what the platform takes, and the exact words in which it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiogram.types import MessageEntity
from aiogram.utils.text_decorations import html_decoration, markdown_decoration
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.telegram import TelegramServer
from tests.servers.telegram.entities import cut, detected, units
from tests.servers.telegram.errors import Refusal
from tests.servers.telegram.html import parse_html
from tests.servers.telegram.markdown import parse_markdown
from tests.servers_self.conftest import BotApi

Parsed = tuple[str, list[tuple[Any, ...]]]


def brief(parsed: tuple[str, list[dict[str, Any]]]) -> Parsed:
    text, entities = parsed
    names = ("type", "offset", "length", "language", "url")
    return text, [tuple(e[name] for name in names if name in e) for e in entities]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "plain &lt;b&gt; &amp; &quot;x&quot; &#33;&#x21; &nbsp;",
            ('plain <b> & "x" !! &nbsp;', []),
        ),
        ("<b>a<i>b</i></b>", ("ab", [("bold", 0, 2), ("italic", 1, 1)])),
        ("🏟<u>🏟</u>", ("🏟🏟", [("underline", 2, 2)])),
        ("<B>x</b >", ("x", [("bold", 0, 1)])),
        ("<b>x</>", ("x", [("bold", 0, 1)])),
        ("<b></b>", ("", [])),
        (
            '<pre><code class="language-python">x</code></pre>',
            ("x", [("pre", 0, 1, "python")]),
        ),
        ("<code>x</code>", ("x", [("code", 0, 1)])),
        ("<b>a<code>x</code>b</b>", ("axb", [("bold", 0, 1), ("code", 1, 1), ("bold", 2, 1)])),
        (
            "<a href='http://a.org/?x=1&amp;y'>l</a>",
            ("l", [("text_link", 0, 1, "http://a.org/?x=1&y")]),
        ),
        ("<a>a.org</a>", ("a.org", [("text_link", 0, 5, "http://a.org/")])),
        ("<a href='nonsense'>l</a>", ("l", [])),
        ("<a href='tg://user?id=5'>l</a>", ("l", [("text_mention", 0, 1)])),
        ("<blockquote expandable>q</blockquote>", ("q", [("expandable_blockquote", 0, 1)])),
        ("<span class='tg-spoiler'>s</span>", ("s", [("spoiler", 0, 1)])),
    ],
)
def test_html_gives_text_and_entities(source: str, expected: Parsed) -> None:
    assert brief(parse_html(source)) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("é<h1>x</h1>", 'Unsupported start tag "h1" at byte offset 2'),
        ("a < b", 'Unsupported start tag "" at byte offset 2'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        (
            "<b><i>x</b></i>",
            'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
        ),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        (
            "<a href>x</a>",
            'Expected equal sign in declaration of an attribute of the tag "a" at byte offset 0',
        ),
        ("<a href='x>y</a>", 'Unclosed start tag "a" at byte offset 0'),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("<br/>", 'Unsupported start tag "br/" at byte offset 0'),
    ],
)
def test_broken_html_is_refused_at_its_byte(source: str, reason: str) -> None:
    with pytest.raises(Refusal) as refusal:
        parse_html(source)
    assert refusal.value.description == f"Bad Request: can't parse entities: {reason}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("🏟 🏟_abac \\* asd _", ("🏟 🏟abac * asd ", [("italic", 5, 11)])),
        ("🏟 🏟_🏟 __🏟___", ("🏟 🏟🏟 🏟", [("italic", 5, 5), ("underline", 8, 2)])),
        ("🏟 🏟`🏟 🏟```", ("🏟 🏟🏟 🏟", [("code", 5, 5)])),
        ("🏟 🏟```🏟\n\n🏟```", ("🏟 🏟\n🏟", [("pre", 5, 3, "🏟")])),
        ("```x```", ("x", [("pre", 0, 1)])),
        ("`a_b*c`", ("a_b*c", [("code", 0, 5)])),
        ("`\\``", ("`", [("code", 0, 1)])),
        ("||test||", ("test", [("spoiler", 0, 4)])),
        ("🏟 🏟**", ("🏟 🏟", [])),
        (
            "[telegram\\.org](https://telegram.dog?\\()",
            ("telegram.org", [("text_link", 0, 12, "https://telegram.dog/?(")]),
        ),
        ("[ ](as)", (" ", [])),
        (
            ">*b\n>ld \n>bo\n>ld*\nasd",
            ("b\nld \nbo\nld\nasd", [("blockquote", 0, 12), ("bold", 0, 11)]),
        ),
        (
            ">asd\n>q||e||w||\nasdad",
            ("asd\nqew\nasdad", [("expandable_blockquote", 0, 8), ("spoiler", 5, 1)]),
        ),
        (">\n**>2", ("\n2", [("blockquote", 0, 1), ("blockquote", 1, 1)])),
    ],
)
def test_markdown_gives_text_and_entities(source: str, expected: Parsed) -> None:
    assert brief(parse_markdown(source)) == expected


@pytest.mark.parametrize("character", "_*[]()~`>#+-=|{}.!")
def test_every_reserved_character_must_be_escaped(character: str) -> None:
    with pytest.raises(Refusal):
        parse_markdown(f"a{character}")
    assert parse_markdown(f"a\\{character}") == (f"a{character}", [])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("🏟 🏟_abacaba", "Can't find end of Italic entity at byte offset 9"),
        ("🏟 🏟_abac * asd ", "Can't find end of Bold entity at byte offset 15"),
        ("🏟 🏟__🏟 🏟_", "Can't find end of Italic entity at byte offset 20"),
        ("🏟 🏟_🏟 🏟__", "Can't find end of Underline entity at byte offset 19"),
        ("🏟 🏟```a", "Can't find end of Pre entity at byte offset 9"),
        ("🏟 🏟```a ", "Can't find end of PreCode entity at byte offset 9"),
        ("🏟 🏟```🏟 🏟`", "Can't find end of Code entity at byte offset 21"),
        ("[telegram\\.org](asd", "Can't find end of a URL at byte offset 16"),
        (">*b\n>ld \n>bo\nld*\nasd", "Can't find end of Bold entity at byte offset 1"),
        (">asd\n>q||ew\n||asdad", "Can't find end of Spoiler entity at byte offset 7"),
        ("2+2", "Character '+' is reserved and must be escaped with the preceding '\\'"),
        ("a!", "Character '!' is reserved and must be escaped with the preceding '\\'"),
    ],
)
def test_broken_markdown_is_refused_at_its_byte(source: str, reason: str) -> None:
    with pytest.raises(Refusal) as refusal:
        parse_markdown(source)
    assert refusal.value.description == f"Bad Request: can't parse entities: {reason}"


_words = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=12)


@given(_words, st.sampled_from(["bold", "italic", "underline", "code", "pre"]), _words)
def test_what_aiogram_writes_in_either_markup_is_read_back(
    before: str, kind: str, inside: str
) -> None:
    text = before + " " + inside
    start = units(before + " ")
    entity = MessageEntity(type=kind, offset=start, length=units(inside))
    wanted = (text, [{"type": kind, "offset": start, "length": units(inside)}])
    assert parse_html(html_decoration.unparse(text, [entity])) == wanted
    if kind == "pre" or inside.strip() == inside:
        marked = markdown_decoration.unparse(text, [entity])
        # Its italic and underline carry a carriage return each, its blocks a line break.
        assert parse_markdown(marked)[0].replace("\r", "").replace("\n", "") == text


@pytest.mark.parametrize(
    ("text", "entities", "reason"),
    [
        ("👉x", [("bold", 1, 1)], "entity begins in a middle of a UTF-16 symbol at byte offset 4"),
        (
            "👉x",
            [("bold", 0, 1)],
            "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol "
            "at byte offset 4",
        ),
        (
            "aba",
            [("bold", 2, 2)],
            "entity beginning at UTF-16 offset 2 ends after the end of the text at UTF-16 offset 4",
        ),
        ("aba", [("bold", 4, 1)], "entity begins after the end of the text at UTF-16 offset 4"),
        ("aba", [("bold", -1, 1)], "receive an entity with incorrect offset -1"),
        ("aba", [("bold", 0, -1)], "receive an entity with incorrect length -1"),
        ("aba", [("glow", 0, 1)], "can't parse MessageEntity: Unsupported type specified"),
        ("aba", [("text_link", 0, 1)], "can't parse MessageEntity: Can't find field \"url\""),
        (
            "aba",
            [("bold", 0, 3), ("code", 1, 1)],
            "can't parse entities: code at UTF-16 offset 1 can't share characters with bold "
            "at UTF-16 offset 0",
        ),
        (
            "aba",
            [("pre", 0, 3), ("italic", 1, 1)],
            "can't parse entities: italic at UTF-16 offset 1 can't share characters with pre "
            "at UTF-16 offset 0",
        ),
        (
            "aba",
            [("blockquote", 0, 3), ("expandable_blockquote", 1, 1)],
            "can't parse entities: expandable_blockquote at UTF-16 offset 1 can't share "
            "characters with blockquote at UTF-16 offset 0",
        ),
        (
            "aba",
            [("pre", 0, 3), ("code", 1, 1)],
            "can't parse entities: code at UTF-16 offset 1 can't share characters with pre "
            "at UTF-16 offset 0",
        ),
        (
            "aba",
            [("bold", 0, 2), ("italic", 1, 2)],
            "can't parse entities: italic at UTF-16 offset 1 can't share characters with bold "
            "at UTF-16 offset 0",
        ),
    ],
)
async def test_wrong_entities_are_refused(
    telegram: TelegramServer, api: BotApi, text: str, entities: list[tuple[Any, ...]], reason: str
) -> None:
    telegram.user(7, started=True)
    given = [{"type": kind, "offset": at, "length": size} for kind, at, size in entities]
    refused = await api.refused("sendMessage", chat_id=7, text=text, entities=given)
    assert refused == (400, f"Bad Request: {reason}")
    assert telegram.state.chats[7].messages == []


async def test_entities_that_are_no_json_are_refused(telegram: TelegramServer, api: BotApi) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("sendMessage", chat_id=7, text="x", entities="[{")
    assert refused == (400, "Bad Request: can't parse entities JSON object")


async def test_legal_nesting_is_taken_and_trimming_moves_entities(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7, started=True)
    entities = [
        {"type": "blockquote", "offset": 2, "length": 4},
        {"type": "code", "offset": 2, "length": 2},
        {"type": "bold", "offset": 6, "length": 4},
        {"type": "italic", "offset": 7, "length": 1},
    ]
    result = await api.result("sendMessage", chat_id=7, text="  👉xybold \n", entities=entities)
    assert result["text"] == "👉xybold"
    assert [(e["type"], e["offset"], e["length"]) for e in result["entities"]] == [
        ("blockquote", 0, 4),
        ("code", 0, 2),
        ("bold", 4, 4),
        ("italic", 5, 1),
    ]
    assert ada.private.messages[0].covered("code") == ["👉"]


async def test_parse_mode_is_applied_and_an_unknown_one_refused(
    telegram: TelegramServer, api: BotApi
) -> None:
    telegram.user(7, started=True)
    result = await api.result("sendMessage", chat_id=7, text="<b>x</b>", parse_mode="HTML")
    assert (result["text"], result["entities"][0]["type"]) == ("x", "bold")
    result = await api.result("sendMessage", chat_id=7, text="*x*", parse_mode="MarkdownV2")
    assert (result["text"], result["entities"][0]["type"]) == ("x", "bold")
    refused = await api.refused("sendMessage", chat_id=7, text="*x", parse_mode="MarkdownV2")
    assert refused[1].startswith("Bad Request: can't parse entities: ")
    refused = await api.refused("sendMessage", chat_id=7, text="x", parse_mode="bbcode")
    assert refused == (400, "Bad Request: unsupported parse_mode")


def test_commands_mentions_and_links_are_found_in_utf16_units() -> None:
    text = "👋 /ask@tutor_bot hi @tutor_bot see https://a.org/x."
    found = detected(text, [])
    assert [(e["type"], cut(text, e)) for e in found] == [
        ("bot_command", "/ask@tutor_bot"),
        ("mention", "@tutor_bot"),
        ("url", "https://a.org/x"),
    ]
    assert found[0]["offset"] == 3
    code = [{"type": "code", "offset": 0, "length": units(text)}]
    assert detected(text, code) == []
    assert json.dumps(detected("me@a.org 1/2 a/b", [])) == json.dumps(
        [{"type": "email", "offset": 0, "length": 8}]
    )
