"""``partners memory show|edit|log|undo``, as the one who runs the tutor uses it."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from bots.app import user_name
from memory import Profile
from memory.layers import LearnerFolder
from memory.notes import remember
from tests.command_line.inside import Run, runner
from tests.memory.helpers import fact, put
from tests.process import Installation

ME = f"terminal:{user_name()}"


@pytest.fixture
def run(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(installation, monkeypatch)


@pytest.fixture
def folder(installation: Installation) -> LearnerFolder:
    installation.say("chat", stdin="/remember I draw maps")
    [learner] = [one.name for one in (installation.data / "memory").iterdir()]
    return LearnerFolder(installation.data / "memory", learner)


@pytest.fixture
def profile(folder: LearnerFolder) -> Path:
    return folder.profile(Profile.PROFILE)


def editor(place: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Let the person's editor be a program that does ``body`` to ``path``."""
    script = place / "my editor.py"
    script.write_text(
        f"import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{body}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" "{script}"')


def test_what_is_remembered_is_shown_by_account_and_by_learner(
    run: Run, folder: LearnerFolder
) -> None:
    nobody = run("memory", "show", "telegram:7")
    assert (nobody.status, nobody.out) == (1, "")
    assert "partners learners" in nobody.err
    for who in (ME, folder.learner, folder.learner.lower()):
        shown = run("memory", "show", who)
        assert shown.status == 0
        assert "I draw maps" in shown.out
        assert str(folder.path) in shown.out


def test_a_change_is_listed_and_undone_and_so_is_the_undoing(
    run: Run, folder: LearnerFolder, profile: Path
) -> None:
    remember(folder, "and love rivers")
    listed = run("memory", "log", ME).out.splitlines()
    assert len(listed) == 2
    assert listed[0].split("  ")[0] == "3"
    assert "profile/profile.md  a note was asked for  +1 -0" in listed[0]
    with_rivers = profile.read_bytes()
    undone = run("memory", "undo", ME, "3")
    assert (undone.status, undone.err) == (0, "")
    assert b"rivers" not in profile.read_bytes() and b"I draw maps" in profile.read_bytes()
    assert run("memory", "log", ME).out.startswith("4  ")
    assert run("memory", "undo", ME, "4").status == 0
    assert profile.read_bytes() == with_rivers


def test_what_cannot_be_undone_says_why_and_what_to_do(
    run: Run, folder: LearnerFolder, profile: Path
) -> None:
    unknown = run("memory", "undo", ME, "9")
    assert unknown.status == 1 and "partners memory log" in unknown.err
    put(profile, profile.read_bytes().replace(b"maps", b"charts"))
    refused = run("memory", "undo", ME, "2")
    assert refused.status == 1
    assert ".history" in refused.err and str(profile) in refused.err
    assert b"charts" in profile.read_bytes()
    assert folder.path.exists()


def test_nothing_written_is_said(run: Run, installation: Installation, openai: object) -> None:
    installation.say("chat", stdin="/help")
    assert run("memory", "log", ME).out == "Nothing was written yet.\n"


def test_an_editor_of_ones_own_changes_a_file_byte_for_byte(
    run: Run, profile: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(installation.folder, monkeypatch, r"path.write_bytes(path.read_bytes() + b'- mine\r\n')")
    before = profile.read_bytes()
    done = run("memory", "edit", ME)
    assert (done.status, done.out, done.err) == (0, "Saved.\n", "")
    assert profile.read_bytes() == before + b"- mine\r\n"
    assert "edited  +1 -0" in run("memory", "log", ME).out


def test_what_was_written_while_the_editor_was_open_is_kept_too(
    run: Run, profile: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        installation.folder,
        monkeypatch,
        f"path.write_bytes(b'by hand\\n' + path.read_bytes())\n"
        f"other = Path({str(profile)!r})\n"
        "other.write_bytes(other.read_bytes() + b'- meanwhile\\n')",
    )
    done = run("memory", "edit", ME)
    assert done.out == "Saved, together with what was written meanwhile.\n"
    assert profile.read_bytes().startswith(b"by hand\n# Profile")
    assert profile.read_bytes().endswith(b"- meanwhile\n")


def test_two_changes_of_one_line_are_refused_and_the_persons_text_is_kept(
    run: Run, profile: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        installation.folder,
        monkeypatch,
        f"other = Path({str(profile)!r})\n"
        "other.write_bytes(other.read_bytes().replace(b'maps', b'charts'))\n"
        "path.write_bytes(path.read_bytes().replace(b'maps', b'plans'))",
    )
    refused = run("memory", "edit", ME)
    assert refused.status == 1 and str(profile) in refused.err
    assert b"charts" in profile.read_bytes()
    [kept] = installation.folder.glob("edited-*/profile.md")
    assert b"plans" in kept.read_bytes()
    assert kept.parent.name in refused.err


def test_an_editor_that_fails_or_changes_nothing_changes_nothing(
    run: Run, profile: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = profile.read_bytes()
    editor(installation.folder, monkeypatch, "")
    assert run("memory", "edit", ME).out == "Nothing was changed.\n"
    editor(installation.folder, monkeypatch, "path.write_bytes(b'x'); sys.exit(3)")
    failed = run("memory", "edit", ME)
    assert failed.status == 1 and "failed" in failed.err
    assert profile.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="there is always an editor there")
def test_without_an_editor_a_file_is_handed_in(
    run: Run, profile: Path, installation: Installation
) -> None:
    none = run("memory", "edit", ME)
    assert none.status == 1 and "--file" in none.err
    copy = put(installation.folder / "copy.md", profile.read_bytes() + b"- handed in\n")
    assert run("memory", "edit", ME, "profile/profile.md", "--file", str(copy)).out == "Saved.\n"
    assert profile.read_bytes() == copy.read_bytes()
    gone = run("memory", "edit", ME, "--file", "nowhere.md")
    assert gone.status == 1 and "nowhere.md cannot be read" in gone.err
    wrong = run("memory", "edit", ME, "portrait", "--file", str(copy))
    assert wrong.status == 1 and "knowledge" in wrong.err


def test_a_copy_of_an_earlier_revision_loses_nothing_that_was_written_since(
    run: Run, folder: LearnerFolder, profile: Path, installation: Installation
) -> None:
    copy = put(installation.folder / "copy.md", b"by hand\n" + profile.read_bytes())
    revision = hashlib.sha256(profile.read_bytes()).hexdigest()
    remember(folder, "later")
    done = run("memory", "edit", ME, "--file", str(copy), "--revision", revision)
    assert done.out == "Saved, together with what was written meanwhile.\n"
    assert b"by hand" in profile.read_bytes() and b"- later\n" in profile.read_bytes()
    unknown = run("memory", "edit", ME, "--file", str(copy), "--revision", "0" * 64)
    assert unknown.status == 1 and str(profile) in unknown.err


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\0b", b"x" * 1_000_001])
def test_what_is_no_text_is_refused(
    run: Run, profile: Path, installation: Installation, data: bytes
) -> None:
    before = profile.read_bytes()
    refused = run("memory", "edit", ME, "--file", str(put(installation.folder / "x", data)))
    assert refused.status == 1 and "UTF-8" in refused.err
    assert profile.read_bytes() == before


def test_what_a_person_may_not_have_meant_is_remarked(
    run: Run, profile: Path, installation: Installation
) -> None:
    text = fact("whole") + fact("broken").replace("private-->", "priv-->") + "\n```\nopen\n"
    done = run("memory", "edit", ME, "--file", str(put(installation.folder / "x.md", text)))
    assert (done.status, done.out) == (0, "Saved.\n")
    assert "Line 4 opens a block" in done.err and "line 2 is not whole" in done.err
    assert "line 1" not in done.err
    assert profile.read_bytes() == text.encode()


def test_nobody_has_nothing_to_edit(run: Run) -> None:
    for command in (("log", "x"), ("undo", "x", "1"), ("edit", "x")):
        refused = run("memory", *command)
        assert refused.status == 1 and "partners learners" in refused.err
