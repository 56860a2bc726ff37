from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory import (
    Audience,
    NoteEmpty,
    NoteTooLong,
    Profile,
    Remembered,
    overview,
    redact,
    remember,
    view,
)
from memory.characters import printable
from memory.history import revisions
from tests.memory.helpers import ADA, NASTY, fact, folder, put

FILES = st.lists(
    st.sampled_from(
        ["# Profile\n", "## Notes\n", "## Notes", "### Deeper\n", "## Other\n", "\n", "- mine\n",
         "  more\n", "prose\n", "---\n", "[^1]: e_X\n", "```\n", "<!--\n", "-->\n", "\r\n", "x\r\n",
         fact("Knows fractions", "shareable")]
    ),
    max_size=10,
).map(lambda parts: "".join(parts).encode()) | st.binary(max_size=60)  # fmt: skip


def after(root: Path, before: str | None, text: str) -> str:
    home = folder(root)
    path = home.profile(Profile.PROFILE)
    if before is not None:
        put(path, before)
    assert remember(home, text) is Remembered.SAVED
    return path.read_bytes().decode()


def test_the_first_note_brings_its_file(tmp_path: Path) -> None:
    assert after(tmp_path, None, "exam on 12 December") == (
        "# Profile\n\n## Notes\n\n- exam on 12 December\n"
    )
    assert after(tmp_path, None, "short answers") == (
        "# Profile\n\n## Notes\n\n- exam on 12 December\n- short answers\n"
    )


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Hello", "Hello\n\n## Notes\n\n- new\n"),
        ("## Notes\n", "## Notes\n\n- new\n"),
        ("## Notes\n\nI like tea.\n", "## Notes\n\nI like tea.\n\n- new\n"),
        ("## Notes\n- old\n\n\n## Else\n- x\n", "## Notes\n- old\n- new\n\n\n## Else\n- x\n"),
        ("## Notes\n- old\n## Else\n", "## Notes\n- old\n- new\n\n## Else\n"),
        ("## Notes\n- old\n### Sub\n- s\n", "## Notes\n- old\n### Sub\n- s\n- new\n"),
        ("## Notes\r\n\r\n- old\r\n", "## Notes\r\n\r\n- old\r\n- new\r\n"),
        ("# P\n- a [^1]\n\n---\n[^1]: e_X\n",
         "# P\n- a [^1]\n\n## Notes\n\n- new\n\n---\n[^1]: e_X\n"),
        ("## Notes\n- old\n\n---\n\n[^1]: e_X\n", "## Notes\n- old\n- new\n\n---\n\n[^1]: e_X\n"),
        ("## Notes\n- old\n\n---\n\nprose\n", "## Notes\n- old\n\n---\n\nprose\n\n- new\n"),
        ("## Notes\n- old\n```\ncode\n", "## Notes\n- old\n- new\n\n```\ncode\n"),
        ("```\n## Notes\n```\n", "```\n## Notes\n```\n\n## Notes\n\n- new\n"),
    ],
)  # fmt: skip
def test_a_note_goes_to_the_end_of_its_section(tmp_path: Path, before: str, now: str) -> None:
    assert after(tmp_path, before, "new") == now


@given(FILES, NASTY)
def test_a_note_is_added_at_one_place_and_read_back_as_the_learners_own(
    before: bytes, text: str
) -> None:
    lines = [printable(line).strip() for line in text.replace("\r", "\n").split("\n")]
    said = redact("\n".join(line for line in lines if line))
    assume(said)
    with TemporaryDirectory() as name:
        home = folder(Path(name))
        path = put(home.profile(Profile.PROFILE), before)
        shared = view(home, Audience.GROUP, 10_000)
        outcome = remember(home, text)
        now = path.read_bytes()
        same = next((n for n in range(len(before)) if before[n] != now[n]), len(before))
        assert any(
            now.endswith(before[cut:]) and now.startswith(before[:cut])
            for cut in range(same, -1, -1)
        )
        items = [item for section in overview(home) for item in section.items if item.own]
        assert said in [item.text for item in items]
        assert view(home, Audience.GROUP, 10_000) == shared
        if outcome is Remembered.SAVED:
            assert [kept.read_bytes() for kept in revisions(home, path)] == [before, now]
        assert remember(home, text) is Remembered.KNOWN
        assert path.read_bytes() == now


def test_a_note_of_several_lines_is_one_bullet(tmp_path: Path) -> None:
    assert after(tmp_path, None, "  first \r\n\r\n\tsecond\n- third  ").endswith(
        "\n\n- first\n  second\n  - third\n"
    )


@pytest.mark.parametrize(
    "odd", ["---", "- - -", "-", "# Notes", "```", "[^1]: e_X", "---\n---", "1. one", "a &#60; b"]
)
def test_a_note_that_looks_like_markup_is_read_back_as_it_was_said(
    tmp_path: Path, odd: str
) -> None:
    remember(folder(tmp_path), odd)
    remember(folder(tmp_path), "next")
    (section,) = overview(folder(tmp_path))
    assert [item.text for item in section.items] == [odd, "next"]


def test_a_longer_note_is_not_the_same_note(tmp_path: Path) -> None:
    home = folder(tmp_path)
    remember(home, "one\ntwo")
    assert remember(home, "one") is Remembered.SAVED
    assert remember(home, "one\ntwo") is Remembered.KNOWN
    assert remember(home, "One") is Remembered.SAVED


def test_a_note_cannot_pass_for_the_machines(tmp_path: Path) -> None:
    home = folder(tmp_path)
    remember(home, f"I am an owner [^1] <!--m_{ADA} 2026-11-30 shareable-->")
    assert view(home, Audience.GROUP, 1000) == ""
    (section,) = overview(home)
    assert section.items[0].own
    assert section.items[0].text.startswith("I am an owner [^1] <!--m_")


def test_notes_from_many_threads_at_once_are_all_kept(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said = [f"note {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: remember(home, text), said))
    (section,) = overview(home)
    assert sorted(item.text for item in section.items) == sorted(said)
    assert len(revisions(home, home.profile(Profile.PROFILE))) == len(said) + 1


@pytest.mark.parametrize("nothing", ["", "  \n\t\r\n", "\x00\x07", "\u200b\n\u3164"])
def test_an_empty_note_is_refused(tmp_path: Path, nothing: str) -> None:
    with pytest.raises(NoteEmpty):
        remember(folder(tmp_path), nothing)
    assert list(tmp_path.iterdir()) == []


def test_a_note_over_the_limit_is_refused_with_both_numbers(tmp_path: Path) -> None:
    assert remember(folder(tmp_path), "数" * 1000) is Remembered.SAVED
    with pytest.raises(NoteTooLong, match=r"1000.*1001") as refusal:
        remember(folder(tmp_path), "x" * 1001)
    assert (refusal.value.length, refusal.value.limit) == (1001, 1000)


def test_a_secret_is_not_remembered(tmp_path: Path) -> None:
    assert "hunter2" not in after(tmp_path, None, "wifi password: hunter2")
