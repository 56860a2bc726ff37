"""Two learners' files become one without loss, and two again without a trace of the other."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from memory.document import parse
from memory.journal import format_event, parse_day
from memory.merge_days import part_day, unite_day
from memory.merge_documents import part_document, unite_document
from tests.memory.helpers import ADA, BOB, NASTY, NOON, event, fact

DAY = NOON.date()
HEAD = "# 2026-11-30\n\n"
KEYS = sorted(str(ULID()) for _ in range(6))


def day(*parts: str) -> bytes:
    return (HEAD + "".join(parts)).encode()


def said(number: int, text: str) -> str:
    return format_event(event(text, key=KEYS[number]))


def nobody(_: str) -> bool:
    return False


def ids(data: bytes) -> list[str]:
    return re.findall(r"\^e_(\w+)", data.decode())


# --- days ---------------------------------------------------------------------------------------


def test_the_events_of_both_stand_in_the_order_of_their_ids_each_once() -> None:
    mine = day(said(0, "one"), said(2, "three\nlines\nlong"), said(4, "five"))
    theirs = day(said(1, "two"), said(2, "three\nlines\nlong"), said(3, "four"))
    united = unite_day(mine, theirs, DAY)
    assert ids(united) == KEYS[:5]
    assert united.startswith(HEAD.encode())
    assert united.count(b"# 2026-11-30") == 1
    assert unite_day(united, theirs, DAY) == united


def test_a_persons_lines_stay_byte_for_byte_below_what_they_stood_below() -> None:
    mine = day(said(0, "one"), "my own  words\r\n", said(2, "three"))
    theirs = day("above all\n", said(1, "two"), "\ta *note*  \n\n- and another\n")
    united = unite_day(mine, theirs, DAY)
    text = united.decode()
    assert "one ^e_" + KEYS[0] + "\nmy own  words\r\n" in text
    assert f"^e_{KEYS[1]}\n\ta *note*  \n\n- and another\n" in text
    assert text.index("above all") < text.index("^e_")
    assert unite_day(united, theirs, DAY) == united


def test_a_day_that_only_one_has_is_taken_as_it_is() -> None:
    theirs = b"whatever \xff stands here"
    assert unite_day(b"", theirs, DAY) == theirs
    assert unite_day(theirs, b"", DAY) == theirs


def test_a_day_is_taken_apart_to_the_byte() -> None:
    mine, theirs = day(said(0, "one"), "mine\n"), day(said(1, "two"), "theirs\n")
    assert part_day(unite_day(mine, theirs, DAY), mine, theirs, DAY, nobody) == (mine, theirs)


def test_what_came_since_goes_to_its_side_and_what_was_removed_stays_away() -> None:
    mine, theirs = day(said(0, "one"), "mine\n"), day(said(1, "two"), "theirs\n")
    now = unite_day(mine, theirs, DAY).decode()
    now += said(3, "four") + "by hand\n" + said(4, "five")
    now = now.replace(said(1, "two"), "").replace("mine\n", "")
    first, second = part_day(now.encode(), mine, theirs, DAY, lambda key: key == KEYS[4])
    assert first.decode() == HEAD + said(0, "one") + said(3, "four") + "by hand\n"
    assert second.decode() == HEAD + "theirs\n" + said(4, "five")


def test_a_day_of_only_new_events_begins_with_its_name() -> None:
    now = day(said(0, "one"), said(1, "two"))
    first, second = part_day(now, b"", b"", DAY, lambda key: key == KEYS[1])
    assert second == day(said(1, "two"))
    assert ids(first) == [KEYS[0]]


DAYS = st.lists(st.tuples(st.integers(0, 5), NASTY, NASTY), max_size=4).map(
    lambda found: "".join(f"{said(n, text)}{below}\n" for n, text, below in found).encode()
)


@given(DAYS, DAYS)
def test_no_event_and_no_line_is_lost_whatever_the_days_hold(mine: bytes, theirs: bytes) -> None:
    united = unite_day(mine, theirs, DAY)
    one, two, both = (
        parse_day(data.decode("utf-8", "surrogateescape"), DAY) for data in (mine, theirs, united)
    )
    known = {e.id for e in (*one.events, *two.events)}
    assert {e.id for e in both.events} == known
    for side in (one, two):
        lines = Counter(line for line in side.other if line.strip())
        assert not lines - Counter(both.other)
    assert unite_day(united, theirs, DAY) == united


@given(DAYS, DAYS)
def test_any_two_days_come_apart_as_they_were(mine: bytes, theirs: bytes) -> None:
    united = unite_day(mine, theirs, DAY)
    assert part_day(united, mine, theirs, DAY, nobody) == (mine, theirs)


# --- documents ----------------------------------------------------------------------------------

MINE = (
    "# Profile\n\n"
    + fact("Prepares for a statistics exam", key=ADA)
    + "\n## Notes\n\n- I like cats\n  and dogs\n\n---\n[^1]: m_"
    + KEYS[0]
    + "\n"
)
THEIRS = (
    "# Profile\n\n"
    + fact("prepares for a statistics exam.", key=KEYS[3])
    + fact("Studies economics", "shareable", key=BOB)
    + "\n## Notes\n\n- I like cats\n  and dogs\n- No time limits,  please\n\n## Exams\n\n"
    + "On 12 December\n\n---\n[^1]: m_"
    + KEYS[1]
    + "\n"
)


def test_notes_are_united_below_their_headings_without_near_duplicates() -> None:
    united = unite_document(MINE.encode(), THEIRS.encode()).decode()
    assert united == (
        "# Profile\n\n"
        + fact("Prepares for a statistics exam", key=ADA)
        + fact("Studies economics", "shareable", key=BOB).replace("[^1]", "[^2]")
        + "\n## Notes\n\n- I like cats\n  and dogs\n- No time limits,  please\n\n## Exams\n\n"
        + f"On 12 December\n\n---\n[^1]: m_{KEYS[0]}\n[^2]: m_{KEYS[1]}\n"
    )
    assert unite_document(united.encode(), THEIRS.encode()).decode() == united


def test_a_document_is_taken_apart_to_the_byte() -> None:
    united = unite_document(MINE.encode(), THEIRS.encode())
    parted = part_document(united, MINE.encode(), THEIRS.encode(), nobody)
    assert parted == (MINE.encode(), THEIRS.encode())


def test_notes_made_since_go_to_their_side_and_removed_ones_to_none() -> None:
    now = unite_document(MINE.encode(), THEIRS.encode()).decode()
    now = now.replace("- No time limits,  please\n", "- mine since\n- theirs since\n")
    now = now.replace(fact("Prepares for a statistics exam", key=ADA), "")
    first, second = part_document(
        now.encode(), MINE.encode(), THEIRS.encode(), lambda lines: "theirs" in lines
    )
    assert "- mine since\n" in first.decode() and "theirs since" not in first.decode()
    assert "- theirs since\n" in second.decode() and "mine since" not in second.decode()
    assert "statistics" not in first.decode()
    assert "No time limits" not in second.decode()
    assert "Studies economics" in second.decode() and "economics" not in first.decode()


def test_what_nothing_closes_hides_nothing_of_the_other() -> None:
    mine = "# Profile\n\n- a\n\n```\nopen\n"
    theirs = "# Profile\n\n- b\n\n<!-- hidden\n- c\n"
    united = unite_document(mine.encode(), theirs.encode()).decode()
    assert united.index("- b") < united.index("```")
    assert "<!-- hidden\n- c\n" in united
    assert unite_document(united.encode(), theirs.encode()).decode() == united


@given(NASTY, NASTY)
def test_no_line_of_a_document_is_lost(mine: str, theirs: str) -> None:
    one, two = mine.encode(), theirs.encode()
    united = unite_document(one, two)
    text = united.decode("utf-8", "surrogateescape")
    if one.strip():
        assert all(line in text for line in mine.split("\n") if line.strip())
    for line in parse(two).lines:
        if line.entry is None and line.text.strip() and line.kind.name in ("TEXT", "CODE"):
            assert line.text.rstrip() in text
    assert unite_document(united, two) == united


@given(NASTY, NASTY)
def test_any_two_documents_come_apart_as_they_were(mine: str, theirs: str) -> None:
    one, two = mine.encode(), theirs.encode()
    united = unite_document(one, two)
    assert part_document(united, one, two, nobody) == (one, two)
