from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import grapheme_boundary_before

from bots.rendering.clean import is_blank
from bots.rendering.compose import Style, compose
from bots.rendering.split import split, utf16
from bots.rendering.styled import Kind, Styled
from tests.rendering.sources import PATHOLOGICAL, SOURCES

STYLE = Style(table_width=36, can_link=lambda url: True)
LIMITS = st.one_of(st.integers(4, 60), st.sampled_from([200, 1000, 4096]))


def size(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def visible(text: str) -> str:
    return re.sub(r"\s", "", text)


def pieces(source: str, limit: int) -> list[str]:
    return [piece.text for piece in split(compose(source, STYLE), limit)]


def placed(styled: Styled, parts: list[Styled]) -> list[tuple[int, int]]:
    """Return where the pieces stand in the text; what lies between them must not be seen."""
    ranges = []
    at = 0
    for part in parts:
        start = styled.text.index(part.text, at)
        assert is_blank(styled.text[at:start])
        at = start + len(part.text)
        ranges.append((start, at))
    assert is_blank(styled.text[at:])
    return ranges


@given(SOURCES, LIMITS)
def test_nothing_is_lost_and_no_piece_is_too_long_or_blank(source: str, limit: int) -> None:
    styled = compose(source, STYLE)
    parts = split(styled, limit)
    placed(styled, parts)
    for part in parts:
        assert 0 < size(part.text) <= limit
        assert not is_blank(part.text)


@given(SOURCES, LIMITS)
def test_no_cut_falls_inside_an_atom_that_fits_a_piece(source: str, limit: int) -> None:
    styled = compose(source, STYLE)
    for start, end in placed(styled, split(styled, limit)):
        for first, last in styled.atoms:
            if size(styled.text[first:last]) <= limit:
                for cut in (start, end):
                    before, after = styled.text[first:cut], styled.text[cut:last]
                    assert not (first < cut < last and before.strip() and after.strip())


@given(SOURCES, LIMITS)
def test_no_cut_falls_inside_a_line_of_code_that_fits_a_piece(source: str, limit: int) -> None:
    styled = compose(source, STYLE)
    for start, _ in placed(styled, split(styled, limit)):
        for span in styled.spans:
            if span.kind is Kind.PRE and span.start < start < span.end:
                first = styled.text.rindex("\n", 0, start) if "\n" in styled.text[:start] else -1
                last = styled.text.find("\n", start, span.end)
                line = styled.text[max(first + 1, span.start) : last if last >= 0 else span.end]
                assert size(line) > limit or not styled.text[first + 1 : start]


@given(SOURCES, LIMITS)
def test_styles_go_on_in_every_piece(source: str, limit: int) -> None:
    styled = compose(source, STYLE)
    parts = split(styled, limit)
    for part, (start, end) in zip(parts, placed(styled, parts), strict=True):
        wanted = {
            (s.kind, max(s.start, start) - start, min(s.end, end) - start, s.value)
            for s in styled.spans
            if s.start < end and s.end > start
        }
        assert {(s.kind, s.start, s.end, s.value) for s in part.spans} == wanted


FAMILIES = ["👩\u200d👩\u200d👧\u200d👦", "🇫🇷", "e\u0301", "👍🏽", "नि"]


@given(st.lists(st.sampled_from(FAMILIES), max_size=40), st.integers(22, 60))
def test_composed_characters_stay_whole(characters: list[str], limit: int) -> None:
    text = "".join(characters)
    at = 0
    for piece in split(Styled(text), limit):
        at += len(piece.text)
        assert at == len(text) or grapheme_boundary_before(text, at + 1) == at


def test_a_character_longer_than_a_piece_is_cut_and_the_work_advances() -> None:
    parts = split(Styled("e" + "\u0301" * 100), 10)
    assert [len(part.text) for part in parts] == [10] * 10 + [1]


def test_F001_code_goes_on_as_code_in_the_same_language() -> None:  # noqa: N802
    source = "text\n\n```python\n" + "    line = 1\n" * 20 + "```"
    parts = split(compose(source, STYLE), 60)
    assert len(parts) > 3
    for part in parts[1:]:
        [span] = part.spans
        assert (span.kind, span.value) == (Kind.PRE, "python")
        assert (span.start, span.end) == (0, len(part.text))
        assert set(part.text.split("\n")) == {"    line = 1"}


def test_a_cut_prefers_blocks_then_lines_then_sentences_then_words() -> None:
    assert pieces("aaaa aaaa\naaaa\n\nbb bb", 18) == ["aaaa aaaa\naaaa", "bb bb"]
    assert pieces("aaaa aaaa\nbb bb cc", 16) == ["aaaa aaaa", "bb bb cc"]
    assert pieces("One two. Three four", 14) == ["One two.", "Three four"]
    assert pieces("one two three", 9) == ["one two", "three"]
    assert pieces("你想到的是对的。那反过来呢？", 12) == ["你想到的是对的。", "那反过来呢？"]


def test_a_heading_stays_with_its_text() -> None:
    assert pieces("aaaa aaaa aaaa\n\n# Head\nbbbb bbbb", 26) == [
        "aaaa aaaa aaaa",
        "Head\nbbbb bbbb",
    ]


def test_a_block_of_code_that_fits_the_next_piece_is_not_cut() -> None:
    source = "some words before it\n\n```\n" + "x = 1\n" * 5 + "```"
    assert pieces(source, 40) == ["some words before it", "\n".join(["x = 1"] * 5)]


def test_links_formulas_and_rows_are_not_cut() -> None:
    assert pieces("words [a long label](http://x.com) end", 14) == ["words", "a long label", "end"]
    assert pieces(r"words $a + b + c + d$ end", 15) == ["words", "a + b + c + d", "end"]
    assert pieces("词语https://x.org/abc/def", 20) == ["词语https://x.org/abc/", "def"]
    assert pieces("词语https://x.org/abc/de", 20) == ["词语", "https://x.org/abc/de"]


def test_another_measure_counts_in_its_own_unit() -> None:
    parts = split(Styled("中" * 10), 9, lambda c: len(c.encode()))
    assert [part.text for part in parts] == ["中中中", "中中中", "中中中", "中"]


def test_a_limit_that_holds_no_character_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        split(Styled("a"), 3)


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_hostile_sources_are_split_without_loss(name: str) -> None:
    styled = compose(PATHOLOGICAL[name], STYLE)
    parts = split(styled, 4096, utf16)
    assert visible("".join(part.text for part in parts)) == visible(styled.text)
    assert max(size(part.text) for part in parts) <= 4096
