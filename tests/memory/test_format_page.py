from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from memory import Audience, Event, Profile, Surface, remember
from memory.characters import is_blank, printable
from memory.document import parse
from memory.entries import Noted, changed
from memory.history import revisions
from memory.journal import format_event, parse_day
from tests.memory.helpers import ADA, BOB, NASTY, NOON, folder

PAGE = (Path(__file__).parents[2] / "docs" / "memory-format.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_day_on_the_format_page_is_read_as_two_events() -> None:
    (block,) = [block for block in BLOCKS if block.startswith("# 2026")]
    first, second = parse_day(block, date(2026, 11, 30)).events
    assert first.text == "asked: why is 0! = 1?"
    assert second.text.split("\n")[-1] == "- there is one way to arrange nothing"


def test_the_profile_on_the_format_page_has_one_private_and_one_shareable_fact() -> None:
    (block,) = [block for block in BLOCKS if block.startswith("# Profile")]
    entries = [line.entry for line in parse(block.encode()).lines if line.entry]
    assert [entry.audience for entry in entries] == [Audience.PRIVATE, Audience.GROUP]
    assert [entry.citations for entry in entries] == [("1",), ("2",)]


def grammar() -> dict[str, re.Pattern[str]]:
    """The grammar on the format page, each name with what it stands for put in."""
    (block,) = [block for block in BLOCKS if block.startswith("ulid ")]
    rules: dict[str, str] = {}
    for line in block.splitlines():
        name, _, rule = line.partition("=")
        for known, meaning in rules.items():
            rule = rule.replace(f"<{known}>", f"(?:{meaning})")
        rules[name.strip()] = rule.strip(" ") if name.strip() != "event" else rule[1:]
    return {name: re.compile(rule) for name, rule in rules.items()}


RULES = grammar()
SAID = NASTY.filter(str.strip)


@given(NASTY, st.sampled_from(Surface))
def test_an_event_is_written_by_the_grammar(text: str, surface: Surface) -> None:
    written = format_event(Event(ADA, NOON, surface, text))
    assert RULES["event"].fullmatch(written.removesuffix("\n"))


@given(SAID, st.sampled_from(Audience), st.lists(st.sampled_from([f"e_{ADA}", f"m_{BOB}"])))
def test_a_document_is_written_by_the_grammar(
    text: str, audience: Audience, sources: list[str]
) -> None:
    text = " ".join(printable(text).split())
    assume(not is_blank(text))
    entry = Noted(ADA, text, NOON.date(), audience, "Goals", tuple(dict.fromkeys(sources)))
    written = changed(b"", (entry,), (), "Profile").decode().splitlines()
    assert [line for line in written if RULES["entry"].fullmatch(line)]
    for line in written:
        other = not line or line == "---" or line.startswith("#")
        assert other or RULES["entry"].fullmatch(line) or RULES["footnote"].fullmatch(line), line


@given(st.from_regex(RULES["entry"], fullmatch=True))
def test_what_the_grammar_calls_an_entry_is_read_as_one(line: str) -> None:
    words = line[2 : line.index("<!--m_")]
    assume(words.strip() and "<!--" not in words and "-->" not in words)
    assume(not re.fullmatch(r"\s*(\[\^[^\s\[\]^]{1,40}\]\s*)+", words))
    (read,) = parse(line.encode()).lines
    assert read.entry is not None
    assert read.entry.id == line[line.index("<!--m_") + 6 :][:26]


def test_a_kept_revision_is_named_by_the_grammar(tmp_path: Path) -> None:
    home = folder(tmp_path)
    for number in range(3):
        remember(home, f"note {number}")
    kept = revisions(home, home.profile(Profile.PROFILE))
    assert len(kept) == 4
    assert all(RULES["kept"].fullmatch(one.name) for one in kept)
