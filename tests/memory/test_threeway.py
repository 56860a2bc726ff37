from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.threeway import merged

TEXTS = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d", b"\xff\n"]), max_size=8
).map(b"".join)


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "both"),
    [
        (b"a\nb\nc\n", b"x\na\nb\nc\n", b"a\nb\nc\ny\n", b"x\na\nb\nc\ny\n"),
        (b"a\nb\n", b"a\nb\nnew\n", b"a\n", b"a\nnew\n"),
        (b"a\nb\n", b"new\na\nb\n", b"b\n", b"new\nb\n"),
        (b"a\nb\nc\n", b"a\nx\nc\n", b"a\nx\nc\n", b"a\nx\nc\n"),
        (b"a\nb\nc\n", b"a\nb\nmine\nc\n", b"", b"mine\n"),
        (b"a\nb\nc\nd\n", b"a\nd\n", b"a\nb\nd\n", b"a\nd\n"),
    ],
)
def test_changes_of_different_lines_are_both_taken(
    base: bytes, mine: bytes, theirs: bytes, both: bytes
) -> None:
    assert merged(base, mine, theirs) == both == merged(base, theirs, mine)


@pytest.mark.parametrize(
    ("base", "mine", "theirs"),
    [
        (b"a\nb\n", b"a\nx\n", b"a\ny\n"),
        (b"a\nb\n", b"a\nx\n", b"a\n"),
        (b"a\n", b"a\nx\n", b"a\ny\n"),
    ],
)
def test_two_changes_of_one_line_are_a_persons_to_decide(
    base: bytes, mine: bytes, theirs: bytes
) -> None:
    assert merged(base, mine, theirs) is None


@given(TEXTS, TEXTS)
def test_where_only_one_side_changed_its_bytes_are_taken(base: bytes, side: bytes) -> None:
    assert merged(base, side, base) == side == merged(base, base, side)
    assert merged(base, side, side) == side


@given(TEXTS, TEXTS, TEXTS)
def test_no_line_is_invented_and_no_new_one_lost(base: bytes, mine: bytes, theirs: bytes) -> None:
    both = merged(base, mine, theirs)
    assert both == merged(base, theirs, mine)
    if both is not None:
        known = {*base.splitlines(), *mine.splitlines(), *theirs.splitlines()}
        assert (
            base.endswith(b"d")
            or mine.endswith(b"d")
            or theirs.endswith(b"d")
            or (set(both.splitlines()) <= known)
        )
        fresh = (set(mine.splitlines()) | set(theirs.splitlines())) - set(base.splitlines())
        assert b"d" in fresh or fresh <= set(both.splitlines())
