"""A long talk in a prompt: it fits, and its beginning stands still for many turns."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.capabilities.talk import MOST_LINES, STEP, beginning

SIZES = st.lists(st.integers(1, 500), max_size=200)


def window(sizes: list[int], room: int) -> tuple[int, int]:
    """The first and the last line, counted from the beginning of the talk."""
    newest = sizes[-MOST_LINES:]
    before = len(sizes) - len(newest)
    return before + beginning(newest, before, room), len(sizes)


@given(SIZES, st.integers(0, 20_000))
def test_it_fits_and_leaves_out_no_more_than_steps(sizes: list[int], room: int) -> None:
    first, last = window(sizes, room)
    assert first % STEP == 0
    assert last - first <= MOST_LINES
    step = min(STEP, len(sizes))
    assert sum(sizes[first:]) <= room or last - first <= step
    earlier = first - STEP
    if earlier >= 0 and last - earlier <= MOST_LINES:
        assert sum(sizes[earlier:]) > room, "a step more would have fitted"


def test_its_beginning_moves_once_in_many_turns() -> None:
    firsts = [window([100] * length, 4_000)[0] for length in range(0, 400, 2)]
    moves = sum(a != b for a, b in pairwise(firsts))
    assert firsts == sorted(firsts)
    assert moves == firsts[-1] // STEP <= 400 // STEP
