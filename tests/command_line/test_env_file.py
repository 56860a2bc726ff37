"""``.env`` changed for a person: what they wrote stays, what is set can be read again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.command_line.env_file import changed, values_in, write
from core.environment import SettingsError, text_of
from core.i18n import words_for

WORDS = words_for("en")

values = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" "),
    max_size=30,
).map(str.strip)
names = st.sampled_from(["A", "B", "PARTNERS_MODEL", "X_1"])


def test_lines_and_comments_stay_and_only_what_was_asked_for_changes() -> None:
    text = (
        "# mine\n\nexport A=1  # why\nOTHER='two words'\nnot a line at all\n"
        '#B=\n# B is fine\nLONG="one\ntwo"\nA=2'
    )
    assert changed(text, {"A": "9", "B": "x", "C": "new"}) == (
        "# mine\n\nexport A=9  # why\nOTHER='two words'\nnot a line at all\n"
        '#B=\nB=x\n# B is fine\nLONG="one\ntwo"\nA=9\nC=new\n'
    )


def test_the_line_ends_of_the_file_are_kept() -> None:
    assert changed("A=1\r\n#B=\r\n", {"A": "2", "B": "3", "C": "4"}) == (
        "A=2\r\n#B=\r\nB=3\r\nC=4\r\n"
    )
    assert changed("", {"A": "1"}) == "A=1\n"
    assert changed("A=1", {"A": "", "B": "2"}) == "A=\nB=2\n"


@pytest.mark.parametrize("value", ["two\nlines", "a\x00b", "${HOME}", "it's #1 \\"])
def test_a_value_that_the_file_cannot_hold_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        changed("A=1\n", {"A": value})


@given(st.dictionaries(names, values), st.dictionaries(names, values), st.booleans())
def test_what_is_set_is_read_again_and_all_else_is_as_it_was(
    before: dict[str, str], after: dict[str, str], ends: bool
) -> None:
    try:
        first = changed("# a comment with 'one quote\n", before)
        second = changed(first if ends else first.rstrip("\n"), after)
    except ValueError:
        return
    assert values_in(second) == {k: v for k, v in (before | after).items() if v}
    assert changed(second, after) == second
    assert second.startswith("# a comment with 'one quote")


@pytest.mark.skipif(os.name != "posix", reason="there, rights and links are another matter")
def test_the_file_is_for_its_owner_alone_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.env"
    real.write_text("A=1\n", encoding="utf-8")
    real.chmod(0o644)
    link = tmp_path / ".env"
    link.symlink_to(real)
    write(link, "A=ü\r\n", WORDS)
    assert link.is_symlink()
    assert real.read_bytes() == "A=ü\r\n".encode()
    assert text_of(link, WORDS) == "A=ü\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == [".env", "real.env"]


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert text_of(path, WORDS) is None
    path.write_bytes(b"\xff\xfeA")
    with pytest.raises(SettingsError, match="UTF-8"):
        text_of(path, WORDS)
    with pytest.raises(SettingsError, match="cannot be written"):
        write(tmp_path / "nowhere" / ".env", "A=1\n", WORDS)
