"""Text off the wire made whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.llm.whole import Whole, whole

ANY = st.text(st.characters(exclude_categories=()))
"""Also halves of surrogate pairs."""


@given(ANY)
def test_a_text_made_whole_can_be_encoded_and_stays_so(text: str) -> None:
    made = whole(text)
    made.encode()
    assert whole(made) == made


@given(st.text(), st.data())
def test_a_proper_text_comes_out_the_same_however_its_utf_16_was_cut(
    text: str, data: st.DataObject
) -> None:
    units = text.encode("utf-16-le")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units) // 2))))
    pieces = [units[2 * a : 2 * b] for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)]
    stream = Whole()
    made = "".join(stream.feed(p.decode("utf-16-le", "surrogatepass")) for p in pieces)
    assert made == text
    assert stream.length == len(text)
