"""Files at a terminal: handed over by their paths, saved by their names, drawn where possible."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bots.terminal.files import attachment, drawn, fetched, handed_over, saved
from core.channel import AttachmentGone, AttachmentTooLarge
from core.context import AttachmentKind
from core.document import File

PNG = File(name="map.png", mime="image/png", data=b"\x89PNG" + b"x" * 5000)


@pytest.mark.parametrize(
    ("line", "path", "words"),
    [
        ("/file notes.pdf", "notes.pdf", ""),
        ("/file notes.pdf what is this?", "notes.pdf", "what is this?"),
        ('/file "my notes.pdf" why?', "my notes.pdf", "why?"),
        ("  /file 'my notes.pdf'", "my notes.pdf", ""),
        ("/file", "", ""),
    ],
)
def test_a_line_hands_a_file_over(line: str, path: str, words: str) -> None:
    assert handed_over(line) == ((Path(path),), words)


@pytest.mark.skipif(os.name == "nt", reason="there a backslash parts folders")
def test_a_space_may_be_guarded_by_a_backslash() -> None:
    assert handed_over(r"/file my\ notes.pdf why?") == ((Path("my notes.pdf"),), "why?")


def test_a_dropped_path_counts_where_its_file_is(tmp_path: Path) -> None:
    there = tmp_path / "my notes.txt"
    there.write_text("x", encoding="utf-8")
    assert handed_over(f"'{there}'") == ((there,), "")
    assert handed_over(str(tmp_path / "absent.txt")) is None
    assert handed_over("/help") is None
    assert handed_over("/files are nice") is None
    assert handed_over("what is 'this'?") is None


def test_a_file_is_named_and_read_within_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "map.png"
    path.write_bytes(b"x" * 100)
    given = attachment(path)
    assert (given.kind, given.name, given.size) == (AttachmentKind.IMAGE, "map.png", 100)
    assert fetched(given, 100) == b"x" * 100
    with pytest.raises(AttachmentTooLarge):
        fetched(given, 99)
    path.unlink()
    with pytest.raises(AttachmentGone):
        fetched(given, 100)
    with pytest.raises(OSError):
        attachment(tmp_path)
    with pytest.raises(OSError):
        attachment(tmp_path / "absent")


def test_a_file_is_saved_and_overwrites_none(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    paths = [saved(PNG, folder) for _ in range(3)]
    assert [path.name for path in paths] == ["map.png", "map-2.png", "map-3.png"]
    assert paths[2].read_bytes() == PNG.data
    outside = saved(PNG.model_copy(update={"name": "../../etc/pass:wd"}), folder)
    assert outside.parent == folder
    assert saved(PNG.model_copy(update={"name": ".."}), folder).parent == folder


def test_a_picture_is_drawn_only_where_the_terminal_can() -> None:
    assert drawn(PNG, {}) == ""
    assert drawn(PNG, {"TERM_PROGRAM": "iTerm.app"}).startswith(
        "\x1b]1337;File=inline=1;size=5004:"
    )
    kitty = drawn(PNG, {"KITTY_WINDOW_ID": "1"})
    assert kitty.startswith("\x1b_Ga=T,f=100,m=1;")
    assert "\x1b_Gm=0;" in kitty
    notes = File(name="a.md", mime="text/markdown", data=b"x")
    assert drawn(notes, {"KITTY_WINDOW_ID": "1"}) == ""
