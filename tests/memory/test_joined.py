"""Folders of two learners become one and two again, also when they are killed in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from memory import append, remember
from memory.files import replace_file
from memory.joined import Join, has_more, part, settle, unite
from memory.layers import LearnerFolder
from memory.notes import Remembered
from tests.memory.helpers import ADA, BOB, NOON, event, fact, folder, put

LINK = "01JDQZ7Y3WJ5M8RKT2V4X6C0CC"


@pytest.fixture
def join(tmp_path: Path) -> Join:
    """Ada and Bob, each with days, notes, revisions and a file of a machine's."""
    ada, bob = folder(tmp_path, ADA), folder(tmp_path, BOB)
    for one, name in ((ada, "ada"), (bob, "bob")):
        append(one, event(f"asked: {name} today"), event(f"{name} later", at=NOON + timedelta(1)))
        remember(one, f"{name} likes cats")
        remember(one, f"{name} likes dogs")
        put(one.path / "surfaces" / "chat.md", fact(f"{name} knows", key=one.learner))
        put(one.path / "index.bin", name)
    put(bob.path / "events" / "2026-01-01.md", "# 2026-01-01\n\nby hand\n")
    return Join(ada, bob, LINK)


def everything(one: LearnerFolder) -> dict[str, bytes]:
    return {
        path.relative_to(one.path).as_posix(): path.read_bytes()
        for path in sorted(one.path.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def text(one: LearnerFolder) -> str:
    files = everything(one).items()
    return "\n".join(data.decode() for name, data in files if not name.startswith(".history"))


def nobody(_: str) -> bool:
    return False


def test_both_stand_in_the_kept_folder_and_the_other_is_empty(join: Join) -> None:
    unite(join)
    for word in ("ada today", "bob today", "bob later", "bob likes dogs", "bob knows", "by hand"):
        assert word in text(join.kept)
    assert everything(join.other) == {}
    assert not has_more(join.other)
    assert join.kept.read(join.kept.path / "index.bin") == b"ada"


def test_taken_apart_at_once_everything_is_as_it_was(join: Join) -> None:
    before = everything(join.kept), everything(join.other)
    unite(join)
    part(join, nobody)
    assert (everything(join.kept), everything(join.other)) == before
    part(join, nobody)
    assert (everything(join.kept), everything(join.other)) == before


def test_what_came_since_goes_to_its_side(join: Join) -> None:
    unite(join)
    theirs = event("noted: for bob\nalone")
    remember(join.kept, "for bob\nalone")
    remember(join.kept, "for ada")
    append(join.kept, theirs, event("noted: for ada"))
    part(join, lambda key: key == theirs.id)
    assert "for bob" in text(join.other) and "for bob" not in str(everything(join.kept))
    assert "for ada" in text(join.kept) and "for ada" not in str(everything(join.other))
    assert "bob" not in str(everything(join.kept)), "nor in any revision"
    assert "ada" not in str(everything(join.other))


def test_what_comes_late_for_the_other_is_taken_over_and_given_back(join: Join) -> None:
    unite(join)
    append(join.other, event("bob too late"))
    assert remember(join.other, "bob too late") is Remembered.SAVED
    assert has_more(join.other)
    unite(join)
    assert text(join.kept).count("bob too late") == 2
    assert everything(join.other) == {}
    part(join, nobody)
    assert text(join.other).count("bob too late") == 2
    assert "bob" not in str(everything(join.kept))


def test_after_its_time_nothing_can_be_taken_out_any_more(join: Join) -> None:
    unite(join)
    settle(join)
    assert not join.home.exists()
    before = everything(join.kept)
    part(join, nobody)
    assert everything(join.kept) == before


class _Killed(Exception):
    pass


def _dies_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let the ``step``-th change of the disk be the one before which the process dies."""
    left = step

    def dying(change: Callable[..., object]) -> Callable[..., object]:
        def changed(*given: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise _Killed
            return change(*given, **named)

        return changed

    monkeypatch.setattr("memory.joined.replace_file", dying(_replace))
    monkeypatch.setattr(Path, "unlink", dying(_unlink))
    monkeypatch.setattr(Path, "rename", dying(_rename))


_replace, _unlink, _rename = replace_file, Path.unlink, Path.rename


@pytest.mark.parametrize("step", range(0, 30))
def test_killed_while_uniting_it_is_finished_without_loss_or_double(
    join: Join, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    before = everything(join.kept), everything(join.other)
    with monkeypatch.context() as patched:
        _dies_at(patched, step)
        with suppress(_Killed):
            unite(join)
    unite(join)
    for word in ("ada today", "bob today", "bob later", "bob likes dogs", "bob knows", "by hand"):
        assert text(join.kept).count(word) == 1
    part(join, nobody)
    assert (everything(join.kept), everything(join.other)) == before


@pytest.mark.parametrize("step", range(0, 60, 3))
def test_killed_while_taking_apart_it_is_finished_the_same(
    join: Join, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    before = everything(join.kept), everything(join.other)
    unite(join)
    with monkeypatch.context() as patched:
        _dies_at(patched, step)
        with suppress(_Killed):
            part(join, nobody)
    part(join, nobody)
    assert (everything(join.kept), everything(join.other)) == before
