"""``partners export`` and ``partners forget``, as the one who runs the tutor uses them."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest
import typer

from bots.app import user_name
from tests.command_line.inside import Run, runner
from tests.process import Installation

ME = f"terminal:{user_name()}"


@pytest.fixture
def run(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(installation, monkeypatch)


@pytest.fixture
def lived(installation: Installation) -> Path:
    """The memory of somebody who was here; returns their folder."""
    installation.say("chat", stdin="/remember I draw zebra maps")
    installation.say("chat", stdin="/add zebra front :: zebra back")
    [folder] = (installation.data / "memory").iterdir()
    return folder


def test_everything_is_written_into_an_archive_that_a_person_can_read(
    run: Run, installation: Installation, lived: Path
) -> None:
    done = run("export", ME)
    [place] = installation.folder.glob("partners-*.zip")
    assert (done.status, done.err) == (0, "") and place.name in done.out
    if os.name != "nt":
        assert place.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(place) as archive:
        assert "zebra maps" in archive.read("memory/profile/profile.md").decode()
        assert "zebra front,zebra back" in archive.read("cards.csv").decode("utf-8-sig")
        assert archive.read("README.txt").decode().startswith("This is everything")
    again = run("export", ME, "--to", place.name)
    assert again.status == 1 and "--to" in again.err
    other = run("export", lived.name.lower(), "--to", "ada.zip")
    assert other.status == 0 and (installation.folder / "ada.zip").exists()
    nowhere = run("export", ME, "--to", "no/such/folder/x.zip")
    assert nowhere.status == 1 and "cannot be written" in nowhere.err


def test_everything_is_erased_without_a_trace(
    run: Run, installation: Installation, lived: Path
) -> None:
    done = run("forget", ME, "--yes")
    assert (done.status, done.err) == (0, "")
    assert not lived.exists()
    for path in installation.data.rglob("*"):
        assert not path.is_file() or b"zebra" not in path.read_bytes(), path
    assert run("learners").out == "Nobody yet.\n"
    again = run("forget", ME, "--yes")
    assert again.status == 1 and "partners learners" in again.err


@pytest.mark.parametrize("answer", [True, False])
def test_it_is_asked_before_and_a_no_changes_nothing(
    run: Run, lived: Path, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    asked: list[str] = []

    def confirm(question: str) -> bool:
        asked.append(question)
        return answer

    monkeypatch.setattr(typer, "confirm", confirm)
    assert run("forget", ME).status == 0
    assert len(asked) == 1 and ME in asked[0] and "partners export" in asked[0]
    assert lived.exists() is not answer


def test_without_anybody_to_ask_nothing_is_erased(run: Run, lived: Path) -> None:
    assert run("forget", ME).status == 1
    assert lived.exists()


def test_files_without_a_learner_are_erased_by_their_id(
    run: Run, installation: Installation, lived: Path
) -> None:
    copy = installation.folder / "copy"
    shutil.copytree(lived, copy)
    run("forget", ME, "--yes")
    shutil.move(copy, lived)
    assert run("forget", lived.name, "--yes").status == 0
    assert not lived.exists()


def test_nobody_is_neither_exported_nor_forgotten(run: Run) -> None:
    for command in (("export", "telegram:7"), ("forget", "telegram:7", "--yes")):
        refused = run(*command)
        assert refused.status == 1 and "partners learners" in refused.err
