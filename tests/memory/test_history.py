from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import LearnerFolder, MemoryBusy, Profile, Surface, files, history, remember
from memory.files import exchange_file, replace_file
from memory.history import Cause, Contradicted, Drifted, Unknown, amend, log, revisions, undo, write
from tests.memory.helpers import BOB, NASTY, folder, put

CHANGES = st.lists(
    st.tuples(st.booleans(), st.binary(max_size=20) | NASTY.map(str.encode)), max_size=8
)


def writes(home: LearnerFolder, path: Path, data: bytes, cause: Cause = Cause.EDIT) -> None:
    with home.lock():
        write(home, path, data, revision=home.revision(path), cause=cause)


def test_a_write_is_listed_with_its_time_and_cause_and_undone_byte_for_byte(tmp_path: Path) -> None:
    at = datetime(2026, 11, 30, 6, 2, 11, tzinfo=UTC)
    home = replace(folder(tmp_path), clock=lambda: at)
    path = put(home.profile(Profile.PROFILE), b"\xef\xbb\xbfmine\r\nno end")
    writes(home, path, b"new\n", Cause.CONSOLIDATE)
    (change,) = log(home)
    assert (change.at, change.cause, change.document) == (at, Cause.CONSOLIDATE, "profile/profile")
    assert change.after.name == "00000002-20261130T060211Z-consolidate.md"
    undo(home, change.number)
    assert path.read_bytes() == b"\xef\xbb\xbfmine\r\nno end"
    assert [one.cause for one in log(home)] == [Cause.UNDO, Cause.CONSOLIDATE]
    undo(home, log(home)[0].number)
    assert path.read_bytes() == b"new\n"


@settings(max_examples=40, deadline=None)
@given(CHANGES)
def test_undoing_everything_from_the_newest_on_leads_back_byte_for_byte(
    changes: list[tuple[bool, bytes]],
) -> None:
    with TemporaryDirectory() as name:
        home = folder(Path(name))
        path = put(home.surface(Surface.CHAT), "begin\n")
        writes(home, path, b"ours\n")
        for by_hand, data in changes:
            if by_hand:
                put(path, data)
            else:
                writes(home, path, data)
        last = path.read_bytes()
        writes(home, path, last + b"x")
        for change in log(home):
            undo(home, change.number)
        assert path.read_bytes() == b"begin\n"


def test_a_write_for_another_revision_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "one\n")
    revision = home.revision(path)
    put(path, "a person was faster\n")
    with pytest.raises(Drifted, match=r"profile/profile has changed"), home.lock():
        write(home, path, b"two\n", revision=revision, cause=Cause.EDIT)
    assert path.read_bytes() == b"a person was faster\n"
    assert log(home) == ()


def test_what_a_person_saved_between_two_writes_is_kept_and_can_be_undone(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = home.profile(Profile.KNOWLEDGE)
    writes(home, path, b"a\nb\nc\n")
    put(path, "a\nb\nc\nby hand\n")
    writes(home, path, b"x\na\nb\nc\nby hand\n")
    newest, found, first = log(home)
    assert (newest.cause, found.cause, first.cause) == (Cause.EDIT, Cause.FOUND, Cause.EDIT)
    undo(home, found.number)
    assert path.read_bytes() == b"x\na\nb\nc\n"


def test_undoing_an_older_note_keeps_later_ones_and_a_persons_lines(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = home.profile(Profile.PROFILE)
    remember(home, "first")
    remember(home, "second")
    put(path, path.read_bytes() + b"  and more\n\nby hand\n")
    remember(home, "third")
    second = next(
        one
        for one in log(home)
        if b"second" in one.after.read_bytes() and b"second" not in one.before.read_bytes()
    )
    assert second.cause is Cause.REMEMBER
    undo(home, second.number)
    text = path.read_text(encoding="utf-8")
    assert "second" not in text and "first" in text and "by hand" in text and "third" in text


def test_a_line_that_was_changed_again_is_left_to_the_person(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")
    writes(home, path, b"b\n")
    put(path, "c\n")
    kept = revisions(home, path)
    with pytest.raises(Contradicted) as caught:
        undo(home, log(home)[0].number)
    assert caught.value.present == path and caught.value.change.before.read_bytes() == b"a\n"
    assert path.read_bytes() == b"c\n" and revisions(home, path) == kept


def test_an_unknown_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unknown):
        undo(folder(tmp_path), 1)


def test_the_same_bytes_again_are_no_change(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")
    writes(home, path, b"a\n")
    assert revisions(home, path) == []


def test_only_so_many_revisions_are_kept_and_no_number_is_given_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST", 5)
    home = folder(tmp_path)
    path = home.profile(Profile.RECENT)
    for number in range(12):
        writes(home, path, b"revision %d" % number)
    kept = revisions(home, path)
    assert [one.read_bytes() for one in kept] == [b"revision %d" % n for n in range(7, 12)]
    assert [one.number for one in log(home)] == [13, 12, 11, 10]
    with pytest.raises(Unknown):
        undo(home, 3)
    writes(home, home.profile(Profile.PROFILE), b"other")
    assert log(home)[0].number == 15, "the numbers go on over all documents"


def test_large_revisions_are_kept_for_less_long_but_the_last_change_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_BYTES", 100)
    home = folder(tmp_path)
    path = home.profile(Profile.RECENT)
    for number in range(4):
        writes(home, path, b"%d" % number * 80)
    assert [one.read_bytes()[:1] for one in revisions(home, path)] == [b"2", b"3"]


def test_a_strange_file_in_the_history_is_left_alone(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = home.profile(Profile.PROFILE)
    writes(home, path, b"a")
    for name in ("00000009.md", "00000009-20261399T000000Z-edit.md", "00000009-x.md", "a.txt"):
        put(home.path / ".history" / "profile" / "profile" / name, "strange")
    writes(home, path, b"b")
    assert [one.number for one in log(home)] == [3, 2]


def test_a_leftover_of_a_killed_write_does_no_harm(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "whole\n")
    put(path.with_name(".profile.md.tmp"), "half of someth")
    writes(home, path, b"new\n")
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["profile.md"]
    assert path.read_bytes() == b"new\n"


def test_a_write_whose_revision_could_not_be_kept_afterwards_is_found_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")

    def killed(place: Path, data: bytes) -> None:
        if data == b"b\n":
            raise OSError("no space left on device")
        replace_file(place, data)

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no space"):
        patched.setattr(history, "replace_file", killed)
        writes(home, path, b"b\n")
    assert path.read_bytes() == b"b\n"
    writes(home, path, b"c\n")
    assert [one.cause for one in log(home)] == [Cause.EDIT, Cause.FOUND]
    for change in log(home):
        undo(home, change.number)
    assert path.read_bytes() == b"a\n"


@pytest.mark.skipif(os.name == "nt", reason="no file modes there")
def test_a_write_leaves_the_files_mode_alone_and_the_folder_closed(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = home.profile(Profile.PROFILE)
    writes(home, path, b"a\n")
    path.chmod(0o640)
    writes(home, path, b"b\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert home.path.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_neither_a_document_nor_its_history_leads_out_of_the_folder(tmp_path: Path) -> None:
    other = folder(tmp_path, BOB)
    put(other.profile(Profile.PROFILE), "- likes cats\n")
    home = folder(tmp_path)
    home.path.mkdir()
    (home.path / "profile").symlink_to(other.path / "profile")
    with pytest.raises(ValueError, match="leads out"):
        writes(home, home.profile(Profile.PROFILE), b"")
    (home.path / ".history").symlink_to(other.path)
    with pytest.raises(ValueError, match="leads out"):
        writes(home, home.surface(Surface.CHAT), b"x")
    assert sorted(one.name for one in other.path.iterdir()) == ["profile"]


def test_a_program_that_saves_in_between_has_its_words_kept(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")
    left = 3

    def change(data: bytes) -> bytes:
        nonlocal left
        if left:
            left -= 1
            put(path, data + b"saved meanwhile\n")
        return data + b"ours\n"

    with home.lock():
        amend(home, path, change, Cause.EDIT)
    assert path.read_bytes() == b"a\n" + 3 * b"saved meanwhile\n" + b"ours\n"


def test_one_that_saves_without_end_is_busy(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")

    def change(data: bytes) -> bytes:
        put(path, data + b"x\n")
        return b"ours\n"

    with pytest.raises(MemoryBusy), home.lock():
        amend(home, path, change, Cause.EDIT)
    assert b"ours" not in path.read_bytes()


@pytest.mark.parametrize("present", [b"", b"theirs\n"])
def test_a_file_that_is_not_as_expected_is_not_replaced(tmp_path: Path, present: bytes) -> None:
    path = put(tmp_path / "a.md", present)
    assert exchange_file(path, b"ours\n", b"something else\n") == present
    assert path.read_bytes() == present
    assert exchange_file(path, b"ours\n", present) is None
    assert path.read_bytes() == b"ours\n"
    assert [one.name for one in tmp_path.iterdir()] == ["a.md"]


def test_a_file_that_is_gone_or_came_meanwhile_is_not_as_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert exchange_file(path, b"ours\n", b"was there\n") == b""
    assert not path.exists()
    assert exchange_file(path, b"ours\n", b"") is None
    assert exchange_file(path, b"again\n", b"") == b"ours\n"
    assert path.read_bytes() == b"ours\n"


def test_without_the_systems_exchange_a_file_is_looked_at_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.files._exchange", lambda: None)
    path = put(tmp_path / "a.md", "a\n")
    assert exchange_file(path, b"ours\n", b"b\n") == b"a\n"
    assert exchange_file(path, b"ours\n", b"a\n") is None
    assert path.read_bytes() == b"ours\n"


@pytest.mark.skipif(files._exchange() is None, reason="there is no such step here")
def test_what_is_saved_at_the_very_moment_of_a_write_stays_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = files._exchange()
    assert exchange is not None
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")
    saves = [b"saved during the step back\n", b"saved before the step\n"]

    def disturbed(one: bytes, other: bytes) -> int:
        if saves:
            put(tmp_path / "other.md", saves.pop()).replace(path)
        return exchange(one, other)

    monkeypatch.setattr(files, "_exchange", lambda: disturbed)
    with pytest.raises(Drifted):
        writes(home, path, b"ours\n")
    assert path.read_bytes() == b"saved during the step back\n", "the newest"
    kept = [one.read_bytes() for one in revisions(home, path)]
    assert kept == [b"a\n", b"saved before the step\n"]
    assert [one.name for one in path.parent.iterdir()] == ["profile.md"]
