"""Turns, notes, a model's proposals, edits by hand and a file-sync program, all at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memory import LearnerFolder, Profile
from memory.document import parse, serialise
from memory.files import _exchange
from memory.history import log, revisions
from memory.journal import read_day
from tests.memory.helpers import NOON, folder, put

REPOSITORY = Path(__file__).parents[2]
HANDS = ("anna", "berta")
COUNT = 25


def begin(root: Path) -> LearnerFolder:
    home = folder(root)
    headings = "".join(f"## {name}\n\nbelow {name}\n\n" for name in HANDS)
    put(home.profile(Profile.PROFILE), f"# Profile\n\n{headings}## Goals\n\n## Notes\n\n- old\n")
    return home


def run(root: Path, *works: tuple[str, str]) -> None:
    """Let processes do their work side by side, each as (way, name)."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.memory.stress", way, str(root), name, str(COUNT)],
            cwd=REPOSITORY,
            stderr=subprocess.PIPE,
            text=True,
        )
        for way, name in works
    ]
    for process in processes:
        _, trouble = process.communicate(timeout=180)
        assert process.returncode == 0, trouble


def lines_of(*names: str) -> set[str]:
    return {f"{name} {number}." for name in names for number in range(COUNT)}


def missing(text: str, *names: str) -> set[str]:
    return {line for line in lines_of(*names) if line not in text}


def test_processes_that_take_the_lock_lose_nothing(tmp_path: Path) -> None:
    home = begin(tmp_path)
    run(
        tmp_path,
        ("turn", "ada"),
        ("turn", "bob"),
        ("note", "cleo"),
        ("model", "dora"),
        ("model", "emil"),
        *(("hand", name) for name in HANDS),
    )
    path = home.profile(Profile.PROFILE)
    text = path.read_text("utf-8")
    assert missing(text, "cleo", "dora", "emil", *HANDS) == set()
    assert all(text.count(line) == 1 for line in lines_of("cleo", "dora", "emil", *HANDS))
    assert {one.text for one in read_day(home, NOON.date()).events} == lines_of("ada", "bob")
    assert len(log(home)) == 5 * COUNT, "each write is there, and none that is not ours"
    assert serialise(parse(path.read_bytes())) == path.read_bytes()
    assert [one.name for one in path.parent.iterdir()] == ["profile.md"]


@pytest.mark.skipif(_exchange() is None, reason="two files cannot change places in one step here")
def test_what_a_file_sync_program_saves_is_written_over_by_nobody(tmp_path: Path) -> None:
    home = begin(tmp_path)
    run(tmp_path, ("turn", "ada"), ("note", "cleo"), ("model", "dora"), ("sync", "syncer"))
    path = home.profile(Profile.PROFILE)
    present = path.read_text("utf-8")
    # It reads the file, then puts another in its place: what was written in between is in the
    # history.
    kept = "".join(one.read_text("utf-8") for one in revisions(home, path))
    assert missing(present + kept, "cleo", "dora") == set(), "nothing of ours is lost"
    assert missing(present + kept, "syncer") == set(), "nothing of theirs is lost"
    assert {one.text for one in read_day(home, NOON.date()).events} == lines_of("ada")
