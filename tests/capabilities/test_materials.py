"""What came with a message gets its place and its room in the prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.capabilities.materials import FILE_TOKENS, file_tokens, shares
from core.capabilities.prompt import SMALL_PROMPT_TOKENS, prompt, small_prompt
from core.context import Material
from core.llm.port import PICTURE_TOKENS, Picture
from tests.capabilities.test_prompt import SOCRATES, context

PICTURE = Picture("image/png", b"")


@given(st.lists(st.integers(0, 1_000), max_size=12), st.integers(0, 5_000))
def test_room_is_shared_so_that_none_is_left_while_somebody_needs_it(
    sizes: list[int], total: int
) -> None:
    granted = shares(sizes, total)
    assert all(got <= size for got, size in zip(granted, sizes, strict=True))
    assert sum(granted) <= total
    short = [got for got, size in zip(granted, sizes, strict=True) if got < size]
    if short:
        assert total - sum(granted) < len(sizes)
        assert max(granted) <= max(short) + len(sizes)


def test_pictures_leave_less_room_for_files() -> None:
    shown = context(materials=(Material(name="a", picture=PICTURE), Material(name="b")))
    assert file_tokens(context(), 1_000_000) == FILE_TOKENS
    assert file_tokens(context(), 8_000) == 4_000
    assert file_tokens(shown, 8_000) == 4_000 - PICTURE_TOKENS
    assert file_tokens(shown, 1_000) == 0


def test_what_a_file_leaves_out_is_named() -> None:
    pages = Material(name="a.pdf", text="word " * 4_000, left_out="pages 301 to 400")
    short = Material(name="b.pdf", text="Short.", left_out="pages 301 to 400")
    said = prompt(context(materials=(pages, short)), SOCRATES, "", "abcd", file_tokens=1_000)[
        -1
    ].content
    assert "of 20000 characters, and pages 301 to 400]\n[end abcd]" in said
    assert "Short.\n[left out here: pages 301 to 400]\n[end abcd]" in said
    assert len(said) < 4_600


def test_a_small_model_gets_names_and_a_short_cut() -> None:
    materials = (Material(name="a.pdf", text="word " * 4_000), Material(name="b.jpg", trouble="no"))
    system, *_, last = small_prompt(context(materials=materials), SOCRATES, "", "abcd")
    assert "You could not open: b.jpg." in system.content
    assert "[file a.pdf abcd]\nword word" in last.content
    assert len(system.content + last.content) < 4 * SMALL_PROMPT_TOKENS
