from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from memory import LearnerFolder, MemoryBusy, Profile, Surface, append, overview
from tests.memory.helpers import ADA, BOB, NOON, event, folder, put


@pytest.mark.parametrize(
    "learner",
    [
        "", ".", "..", "../x", f"../{ADA}", f"{ADA}/..", f"{ADA}/../{BOB}", f"/{ADA}", f"{ADA}\n",
        f"{ADA}\x00", ADA.lower(), ADA[:-1], ADA + "0", "8" + ADA[1:], "CON", "terminal:ada",
        "０" + ADA[1:], "I" * 26, "C:\\" + ADA[3:],
    ],
)  # fmt: skip
def test_only_a_ulid_names_a_learner(tmp_path: Path, learner: str) -> None:
    with pytest.raises(ValueError, match="ULID"):
        LearnerFolder(tmp_path, learner)


def test_naming_a_learner_creates_nothing(tmp_path: Path) -> None:
    home = folder(tmp_path / "memory")
    assert home.revision(home.profile(Profile.PROFILE)) == hashlib.sha256(b"").hexdigest()
    assert overview(home) == ()
    assert not (tmp_path / "memory").exists()


def test_layers_lie_where_people_are_told(tmp_path: Path) -> None:
    home = folder(tmp_path)
    assert home.day(NOON.date()) == tmp_path / ADA / "events" / "2026-11-30.md"
    assert home.surface(Surface.QUIZ) == tmp_path / ADA / "surfaces" / "quiz.md"
    assert home.profile(Profile.RECENT) == tmp_path / ADA / "profile" / "recent.md"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_does_not_make_one_learners_memory_anothers(tmp_path: Path) -> None:
    other = folder(tmp_path, BOB)
    put(other.profile(Profile.PROFILE), "- likes cats\n")
    append(other, event("hello"))
    before = other.day(NOON.date()).read_bytes()
    home = folder(tmp_path)
    home.path.mkdir()
    (home.path / "events").symlink_to(other.events)
    (home.path / "profile").symlink_to(other.path / "profile")
    with pytest.raises(ValueError, match="leads out"):
        append(home, event("mine"))
    assert overview(home) == ()
    assert other.day(NOON.date()).read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_linked_learner_folder_is_refused_but_a_linked_root_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    home = folder(tmp_path / "root")
    assert append(home, event("hello"))
    (tmp_path / "real" / BOB).symlink_to(tmp_path / "real" / ADA)
    with pytest.raises(ValueError, match="leads out"):
        append(folder(tmp_path / "root", BOB), event("hello"))


def test_a_revision_follows_the_bytes(tmp_path: Path) -> None:
    home = folder(tmp_path)
    path = put(home.profile(Profile.PROFILE), "a\n")
    first = home.revision(path)
    path.write_bytes(b"a\r\n")
    assert home.revision(path) != first
    path.write_bytes(b"a\n")
    assert home.revision(path) == first == hashlib.sha256(b"a\n").hexdigest()


def test_a_lock_that_stays_taken_says_busy_and_is_free_afterwards(tmp_path: Path) -> None:
    home = folder(tmp_path)
    taken, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with home.lock():
            taken.set()
            leave.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert taken.wait(30)
        with pytest.raises(MemoryBusy, match=ADA), home.lock(timeout=0):
            pass
        with folder(tmp_path, BOB).lock(timeout=0):
            pass  # another learner never waits
    finally:
        leave.set()
        holder.join()
    with home.lock(timeout=0):
        pass


def test_a_failure_under_the_lock_releases_it(tmp_path: Path) -> None:
    home = folder(tmp_path)
    with pytest.raises(RuntimeError), home.lock():
        raise RuntimeError
    with home.lock(timeout=0):
        pass
