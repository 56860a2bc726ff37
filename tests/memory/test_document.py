from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Audience
from memory.document import MAX_ENTRY_CHARACTERS, Entry, Kind, parse, serialise
from tests.memory.helpers import ADA, HUMAN, NASTY

MARK = f"<!--m_{ADA} 2026-11-30 shareable-->"


def entries(text: str) -> list[Entry]:
    return [line.entry for line in parse(text.encode()).lines if line.entry is not None]


@given(st.binary() | NASTY.map(str.encode) | st.lists(HUMAN).map(lambda one: "".join(one).encode()))
def test_every_file_is_written_as_it_was_read(data: bytes) -> None:
    document = parse(data)
    assert serialise(document) == data
    for line in document.lines:
        assert (line.entry is not None) is (line.kind is Kind.ENTRY)
        assert line.entry is None or f"m_{line.entry.id}" in line.raw, "without an id a person's"


def test_an_entry_is_read_with_all_it_carries() -> None:
    text = f"- Confuses permutation with combination [^1][^2] <!--m_{ADA} 2026-11-30 private-->\n"
    assert entries(text) == [
        Entry(
            "Confuses permutation with combination",
            ("1", "2"),
            ADA,
            date(2026, 11, 30),
            Audience.PRIVATE,
        )
    ]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  \n"])
def test_line_ends_and_spaces_behind_do_not_matter(end: str) -> None:
    (entry,) = entries(f"- Knows fractions {MARK}{end}")
    assert (entry.text, entry.audience) == ("Knows fractions", Audience.GROUP)


@pytest.mark.parametrize(
    "line",
    [
        f"- Knows fractions <!--m_{ADA} 2026-13-40 shareable-->",
        f"- Knows fractions <!--m_{ADA} 2026-11-30 Shareable-->",
        f"- Knows fractions <!--m_{ADA} 2026-11-30 shareable, private-->",
        f"- Knows fractions <!--m_{ADA} shareable-->",
        f"- Knows fractions <!--m_{ADA}-->",
    ],
)
def test_a_damaged_mark_makes_an_entry_private(line: str) -> None:
    (entry,) = entries(line)
    assert (entry.text, entry.id, entry.audience) == ("Knows fractions", ADA, Audience.PRIVATE)


@pytest.mark.parametrize(
    "line",
    [
        "- Knows fractions",
        f"- Knows fractions {MARK} and hates my boss",
        f"- Knows fractions {MARK} {MARK}",
        f"- Knows <!-- secretly --> fractions {MARK}",
        f"  - Knows fractions {MARK}",
        f"* Knows fractions {MARK}",
        f"Knows fractions {MARK}",
        f"- {MARK}",
        f"- [^1] {MARK}",
        f"- my secret\r- Knows fractions {MARK}",
        f"- my secret\u2028- Knows fractions {MARK}",
        f"- Knows fractions <!--m_{ADA.lower()} 2026-11-30 shareable-->",
        f"- Knows fractions <!--{ADA} 2026-11-30 shareable-->",
        f"- {'x' * MAX_ENTRY_CHARACTERS} {MARK}",
    ],
)
def test_whatever_a_person_touched_is_no_entry(line: str) -> None:
    assert entries(line) == []
    assert parse(line.encode()).lines[0].kind is Kind.TEXT


@pytest.mark.parametrize(
    "around",
    ["```\n{}\n```\n", "~~~~ text\n~~~\n{}\n~~~~\n", "```\n{}\n",
     "<!--\n{}\n-->\n", "<!-- off\n{}\n",
     f"<!--\n- Other {MARK}\n{{}}\n-->\n"],
)  # fmt: skip
def test_an_entry_that_a_person_fenced_or_commented_out_is_none(around: str) -> None:
    assert entries(around.format(f"- Knows fractions {MARK}")) == []


@pytest.mark.parametrize(
    "before",
    ["```\nx\n```\n", "<!-- x -->\n", "<!-->\n", "a `<!--` b\n", "text <!-- x\n", "\ufeff# A\n"],
)
def test_an_entry_after_a_closed_block_counts(before: str) -> None:
    assert len(entries(f"{before}- Knows fractions {MARK}\n")) == 1


def test_lines_are_told_apart() -> None:
    text = "# Profile\n\nprose\n- bullet\n---\n[^1]: e_X\n## Notes ##\n#hashtag\n```py\nx\n```\n"
    assert [line.kind for line in parse(text.encode()).lines] == [
        Kind.HEADING, Kind.BLANK, Kind.TEXT, Kind.TEXT, Kind.RULE, Kind.FOOTNOTE, Kind.HEADING,
        Kind.TEXT, Kind.CODE, Kind.CODE, Kind.CODE,
    ]  # fmt: skip
    lines = parse(text.encode()).lines
    assert (lines[0].text, lines[0].level) == ("Profile", 1)
    assert (lines[6].text, lines[6].level) == ("Notes", 2)
