"""Rich messages: what the platform can draw it draws; where it cannot, plain ones are whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from bots.telegram.render import render
from bots.telegram.rich import LONG_QUOTE, rich, text_of
from core.document import Button, Document
from tests.doorway import Inbox, deliver
from tests.rendering.sources import PATHOLOGICAL, SOURCES
from tests.servers.telegram import TelegramServer
from tests.servers.telegram.rich import checked_rich
from tests.telegram.door import at, opened

LESSON = """# Slopes

The slope is $m$, see [this](https://example.org) and **@all of it**:

$$m = \\frac{y_2 - y_1}{x_2 - x_1}$$

| x | y |
|:--|--:|
| 0 | `1` |
| 1 | 3 |

- [x] done
- [ ] to do

1. first
2. second
"""


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        server.state.rich = True
        yield server


def taken(source: str) -> str:
    """What the strict server reads in a source's blocks."""
    blocks = rich(source)
    assert blocks
    return checked_rich({"blocks": list(blocks), "skip_entity_detection": True})[1]


# --- what goes into the blocks -------------------------------------------------------------------


def test_headings_tables_formulas_and_lists_are_the_platforms_own() -> None:
    blocks = rich(LESSON)
    assert blocks
    kinds = [block["type"] for block in blocks]
    assert kinds == [
        "heading",
        "paragraph",
        "mathematical_expression",
        "table",
        "list",
        "list",
    ]
    heading, paragraph, formula, table, tasks, steps = blocks
    assert (heading["text"], heading["size"]) == ("Slopes", 1)
    assert {"type": "mathematical_expression", "expression": "m"} in paragraph["text"]
    assert {"type": "url", "text": "this", "url": "https://example.org"} in paragraph["text"]
    assert formula["expression"] == "m = \\frac{y_2 - y_1}{x_2 - x_1}"
    head, first, _ = table["cells"]
    assert [cell.get("is_header") for cell in (*head, *first)] == [True, True, None, None]
    assert [cell["align"] for cell in head] == ["left", "right"]
    assert [item["is_checked"] for item in tasks["items"]] == [True, False]
    assert [item["value"] for item in steps["items"]] == [1, 2]
    assert "done" in text_of(blocks) and "[x]" not in text_of(blocks)
    assert "first" in taken(LESSON)


@pytest.mark.parametrize("source", ["Plain **bold** `code`.", "- a\n- b", "> quote", "1 < 2", ""])
def test_what_a_plain_message_shows_as_well_stays_one(source: str) -> None:
    assert rich(source) is None


def test_a_long_quotation_is_folded_up() -> None:
    blocks = rich(f"# Said\n\n> {'word ' * LONG_QUOTE}\n>\n> more\n\n> short")
    assert blocks
    assert [block["type"] for block in blocks] == [
        "heading",
        "expandable_blockquote",
        "blockquote",
    ]


@settings(deadline=None)
@given(SOURCES)
def test_whatever_is_made_of_a_source_is_taken_by_a_strict_server(source: str) -> None:
    heading = f"# Title\n\n{source}"
    if (blocks := rich(heading)) is not None:
        checked_rich({"blocks": list(blocks), "skip_entity_detection": True})


@pytest.mark.parametrize("source", PATHOLOGICAL)
def test_sources_that_break_parsers_break_nothing(source: str) -> None:
    if (blocks := rich(f"# Title\n\n{source}")) is not None:
        checked_rich({"blocks": list(blocks), "skip_entity_detection": True})


def test_only_what_is_one_message_either_way_is_rich() -> None:
    assert render(Document(markdown=LESSON))[0].rich
    assert not any(part.rich for part in render(Document(markdown=LESSON + "word " * 2_000)))


# --- through the library -------------------------------------------------------------------------


async def test_a_lesson_is_drawn_by_the_platform_with_its_buttons(server: TelegramServer) -> None:
    ada = server.user(7)
    asked = ada.say("slopes?")
    more = ((Button(label="More", action="more:1"),),)
    async with opened(server) as channel:
        [sent] = await deliver(
            channel, at(7, reply_to=asked.message_id), LESSON, buttons=more, reply=True
        )
        [shown] = ada.private.from_bot
        assert sent.message_id == str(shown.message_id)
        assert (shown.text, shown.labels, shown.reply_to) == ("", ["More"], asked.message_id)
        assert "m = \\frac" in shown.words
        [part] = channel.render(Document(markdown="# Slopes\n\nDone."))
        await channel.edit(at(7), sent.message_id, part)
    now = ada.private.now(shown)
    assert (now.words, now.labels) == ("Slopes\nDone.", [])
    assert not server.requests_of("sendMessage")
    given = json.loads(server.requests_of("sendRichMessage")[0].json["rich_message"])
    assert given["skip_entity_detection"] is True, "no name rings"


async def test_a_plain_preview_becomes_a_rich_answer_and_back(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        [sent] = await deliver(channel, at(7), "The slope")
        for source, words, text in ((LESSON, "Slopes", ""), ("Plain.", "", "Plain.")):
            [part] = channel.render(Document(markdown=source))
            await channel.edit(at(7), sent.message_id, part)
            [shown] = ada.private.from_bot
            assert (shown.words[:6], shown.text) == (words, text)


async def test_an_older_server_gets_plain_messages_and_is_asked_once(
    server: TelegramServer,
) -> None:
    server.state.rich = False
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        for _ in range(2):
            await deliver(channel, at(7), LESSON)
    assert [m.text.splitlines()[0] for m in ada.private.from_bot] == ["Slopes", "Slopes"]
    assert len(server.requests_of("sendRichMessage")) == 1


async def test_an_older_server_is_known_by_an_edit_too(server: TelegramServer) -> None:
    server.state.rich = False
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        [sent] = await deliver(channel, at(7), "The slope")
        for source in (LESSON, LESSON.replace("Slopes", "More")):
            [part] = channel.render(Document(markdown=source))
            await channel.edit(at(7), sent.message_id, part)
    assert ada.private.from_bot[0].text.startswith("More")
    asked = [r for r in server.requests_of("editMessageText") if "rich_message" in r.json]
    assert len(asked) == 1


async def test_a_lesson_that_is_refused_goes_plain_and_the_next_one_is_tried(
    server: TelegramServer,
) -> None:
    ada = server.user(7, started=True)
    server.refuse("sendRichMessage", 400, "Bad Request: RICH_BLOCK_TYPE_INVALID")
    async with opened(server) as channel:
        for _ in range(2):
            await deliver(channel, at(7), LESSON)
    first, second = ada.private.from_bot
    assert first.text.startswith("Slopes") and second.words.startswith("Slopes")


async def test_a_closed_chat_is_told_once_and_not_tried_again(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    ada.block()
    async with opened(server) as channel:
        with pytest.raises(Exception, match="blocked"):
            await deliver(channel, at(7), LESSON)
    assert not server.requests_of("sendMessage")


async def test_a_reply_to_a_rich_message_quotes_its_words(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    inbox = Inbox()
    async with opened(server, inbox) as channel:
        await deliver(channel, at(7), LESSON)
        ada.say("what is m?", reply_to=ada.private.from_bot[0])
        [message] = await inbox.wait(1)
    assert message.quote is not None
    assert message.quote.from_tutor and "Slopes" in message.quote.text
    assert "y_2 - y_1" in message.quote.text
