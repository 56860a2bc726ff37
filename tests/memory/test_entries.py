from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import Audience, Kind, parse
from memory.entries import Noted, changed, noted, own_lines
from tests.memory.helpers import ADA, BOB, NASTY, fact

EVENT = "e_01JDQZ8A5C6M2N7P9R3T5V7XAB"
OTHER = "e_01JDQZ8A5C6M2N7P9R3T5V7XAC"
NEW = "01JDQZ9C8E9F0G1H2J3K4M5N6P"
DAY = date(2026, 12, 1)

FILES = st.lists(
    st.sampled_from(
        ["# Chat\n", "## Goals\n", "## Goals", "### Deeper\n", "## Other\n", "\n", "- mine\n",
         "  more\n", "prose [^1]\n", "---\n", f"[^1]: {EVENT}\n", f"[^2]: {OTHER}\n",
         "[^3]: mine\n",
         "```\n", "<!--\n", "-->\n", "\r\n", "x\r\n", "\ufeff", fact("Knows fractions"),
         fact("Likes proofs", "shareable", ADA), fact("Broken", "x"), f"[^2]:   {EVENT}\r\n"]
    ),
    max_size=12,
).map(lambda parts: "".join(parts).encode()) | st.binary(max_size=60)  # fmt: skip
SECTIONS = st.sampled_from(["", "Goals", "Knowledge"])


def entry(text: str, section: str = "Goals", key: str = NEW, *sources: str) -> Noted:
    return Noted(key, text, DAY, Audience.PRIVATE, section, sources or (EVENT,))


def after(before: str, *put: Noted, gone: tuple[str, ...] = ()) -> str:
    return changed(before.encode(), put, gone, "Chat").decode()


def test_the_first_entry_brings_its_file() -> None:
    assert after("", entry("Wants to pass statistics")) == (
        "# Chat\n\n## Goals\n\n"
        f"- Wants to pass statistics [^1] <!--m_{NEW} 2026-12-01 private-->\n"
        f"\n---\n[^1]: {EVENT}\n"
    )


def test_entries_share_footnotes_and_go_to_the_end_of_their_section() -> None:
    once = after("", entry("One"), entry("Two", "Knowledge", ADA, EVENT, OTHER))
    twice = after(once, entry("Three", "Goals", BOB, OTHER))
    assert twice == (
        "# Chat\n\n## Goals\n\n"
        f"- One [^1] <!--m_{NEW} 2026-12-01 private-->\n"
        f"- Three [^2] <!--m_{BOB} 2026-12-01 private-->\n"
        f"\n## Knowledge\n\n- Two [^1][^2] <!--m_{ADA} 2026-12-01 private-->\n"
        f"\n---\n[^1]: {EVENT}\n[^2]: {OTHER}\n"
    )


def test_an_entry_is_replaced_in_its_place_and_its_footnote_leaves_with_it() -> None:
    before = after("", entry("One"), entry("Two", "Goals", ADA, OTHER))
    now = after(before, entry("New", "Goals", NEW, OTHER))
    assert f"\n- New [^2] <!--m_{NEW}" in now
    assert now.index("New") < now.index("Two")
    assert EVENT not in now
    assert after(now, gone=(ADA, NEW)) == "# Chat\n\n## Goals\n\n\n---\n"


def test_a_footnote_that_a_person_cites_stays() -> None:
    before = after("Mine [^1]\n", entry("One", "Goals", NEW, OTHER))
    assert "[^2]: " in before  # a number that a person uses is not taken
    quoted = before.replace("Mine [^1]", "Mine [^2]")
    assert f"[^2]: {OTHER}" in after(quoted, gone=(NEW,))


def test_an_entry_with_a_damaged_mark_is_a_persons() -> None:
    before = fact("Broken", "oops")
    assert noted(parse(before.encode())) == ()
    assert own_lines(parse(before.encode())) == (before.strip(),)
    assert after(before, gone=(BOB,)) == before


@pytest.mark.parametrize("tail", ["```\ncode\n", "<!-- hidden\n"])
def test_nothing_is_put_where_nobody_would_see_it(tail: str) -> None:
    now = after(f"## Goals\n- mine\n{tail}", entry("Seen"))
    assert [one.text for one in noted(parse(now.encode()))] == ["Seen"]
    assert now.endswith(tail)
    assert [one.sources for one in noted(parse(now.encode()))] == [(EVENT,)]


@given(FILES, st.lists(st.tuples(NASTY, SECTIONS, st.sampled_from([NEW, ADA, BOB])), max_size=3),
       st.sets(st.sampled_from([ADA, BOB])))  # fmt: skip
def test_a_persons_bytes_stay_and_what_is_put_is_read_back(
    before: bytes, put: list[tuple[str, str, str]], gone: set[str]
) -> None:
    entries: dict[str, Noted] = {}
    for text, section, key in put:
        line = re.sub(r"\[\^|\s", " ", text).strip()
        if line and key not in gone:
            entries[key] = entry(line[:200].strip(), section, key)
    now = changed(before, list(entries.values()), gone, "Chat")
    kept, ours = _persons(before), _persons(now)
    position = 0
    for raw in ours:  # a person's lines stand there in their order, the rest is ours to add
        if position < len(kept) and raw.rstrip("\n\r") == kept[position].rstrip("\n\r"):
            position += 1
        else:
            assert raw.strip() in ("", "---", "# Chat", "## Goals", "## Knowledge"), raw
    assert position == len(kept)
    found = {one.id: one for one in noted(parse(now))}
    for key, one in entries.items():
        assert (found[key].text, found[key].day) == (one.text, one.day)
        assert EVENT in found[key].sources
    assert not gone & set(found)
    again = changed(now, list(entries.values()), gone, "Chat")
    assert again == now


def _persons(data: bytes) -> list[str]:
    """All lines but machine entries and footnotes in their form."""
    return [
        line.raw
        for line in parse(data).lines
        if not (line.entry and line.entry.date)
        and not (line.kind is Kind.FOOTNOTE and re.search(r"[em]_[0-9A-Z]{26}\s*$", line.raw))
    ]
