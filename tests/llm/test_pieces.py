"""Streams of new pieces and streams of whole texts give the same text."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from core.llm.pieces import SURE, Pieces


def read(pieces: list[str]) -> str:
    reader = Pieces()
    return "".join([*map(reader.feed, pieces), reader.finish()])


@given(st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=20))
@example(["a"])
def test_a_text_that_comes_whole_each_time_is_read_once(pieces: list[str]) -> None:
    whole = list(accumulate(pieces))
    if len(whole) > 2 or len(whole) == 1:
        assert read(whole) == whole[-1]


@given(st.lists(st.text(alphabet="abcdefgh 一二三", min_size=1, max_size=SURE - 1), max_size=20))
@example(["ha", "ha", "ha"])
@example(["1", "10", " is a number"])
@example(["no", "no"])
def test_new_pieces_are_put_together_as_they_are(pieces: list[str]) -> None:
    growing = all(b.startswith(a) and a != b for a, b in pairwise(pieces))
    if not (growing and len(pieces) > 2):
        assert read(pieces) == "".join(pieces)


def test_a_last_chunk_that_repeats_the_whole_text_adds_nothing() -> None:
    text = "All of this answer, from its beginning."
    assert read([text[:20], text[:30], text, text]) == text
