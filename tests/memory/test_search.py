"""Searching: all layers are found, never behind the files, in a group only what may be shared."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ulid import ULID

from memory import Audience, LearnerFolder, MemoryBusy, Profile, Surface, append
from memory.index import NAME, discard, matches
from memory.joined import Join, part, unite
from memory.places import Layer, Place
from memory.search import scan, search
from memory.words import asked_words, stored_words
from tests.memory.helpers import ADA, BOB, NASTY, NOON, event, fact, folder, put

LINK = "01JDQZ7Y3WJ5M8RKT2V4X6C0CC"


def found(home: LearnerFolder, query: str, audience: Audience = Audience.PRIVATE) -> list[str]:
    return [place.text for place in search(home, query, audience=audience)]


def said(home: LearnerFolder, *texts: str, at: datetime = NOON) -> None:
    append(home, *(event(text, at=at) for text in texts))


def test_every_layer_is_found_with_its_day_and_what_it_rests_on(tmp_path: Path) -> None:
    home = folder(tmp_path)
    key = str(ULID())
    append(home, event("asked: what is a limit?", key=key))
    put(home.surface(Surface.CHAT), f"# Chat\n{fact('Asks about limits')}\n---\n[^1]: e_{key}\n")
    put(home.profile(Profile.PROFILE), "## Notes\n- No limit on homework, please\n")
    day = date(2026, 11, 30)
    places = search(home, "limits", audience=Audience.PRIVATE)
    assert set(places) == {
        Place("asked: what is a limit?", f"e_{key}", day, Layer.EVENT, shared=False),
        Place("Asks about limits", f"m_{BOB}", day, Layer.SURFACE, False, (f"e_{key}",)),
        Place("No limit on homework, please", "profile", None, Layer.PROFILE, shared=False),
    }
    assert [place.own for place in places].count(True) == 1


def test_words_are_found_in_other_forms_and_scripts(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "asked: Combinations confuse me", "问：为什么导数在这里不存在", "Ou est le café?")
    said(home, "미분을 모르겠어요", "ทำไมต้องเรียนแคลคูลัส")
    assert found(home, "combination") == ["asked: Combinations confuse me"]
    assert found(home, "confused") == ["asked: Combinations confuse me"]
    assert found(home, "导数") == found(home, "数") == ["问：为什么导数在这里不存在"]
    assert found(home, "CAFE") == ["Ou est le café?"]
    assert found(home, "미분") == ["미분을 모르겠어요"]
    assert found(home, "เรียน") == ["ทำไมต้องเรียนแคลคูลัส"]
    assert found(home, "数导") == found(home, "integral") == found(home, "?!") == []


def test_in_a_group_only_what_is_marked_shareable_is_looked_at(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "zebra")
    for n in range(300):
        said(home, f"zebra {n}")
    put(home.profile(Profile.KNOWLEDGE), fact("Knows zebras", "shareable") + fact("zebra", key=ADA))
    put(home.surface(Surface.QUIZ), "zebra of my own\n" + fact("zebra", "privat"))
    assert found(home, "zebra", Audience.GROUP) == ["Knows zebras"]
    assert [match.place.text for match in scan(home, "zebra", shared=True)] == ["Knows zebras"]
    assert len(search(home, "zebra", audience=Audience.PRIVATE, most=20)) == 20


def test_what_is_surer_and_newer_comes_first(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "old talk of sets", at=NOON - timedelta(days=400))
    said(home, "new talk of sets")
    put(home.surface(Surface.CHAT), fact("some talk of sets"))
    put(home.profile(Profile.KNOWLEDGE), fact("much talk of sets", key=ADA) + "my talk of sets\n")
    assert found(home, "sets") == [
        "my talk of sets",
        "much talk of sets",
        "some talk of sets",
        "new talk of sets",
        "old talk of sets",
    ]


def test_many_events_do_not_crowd_out_the_entry_made_from_them(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, *("sets" for _ in range(400)))
    put(home.surface(Surface.CHAT), fact("Has asked about sets and little else for many weeks now"))
    layers = [match.place.layer for match in matches(home, ["sets", "set"], shared=False)]
    assert Layer.SURFACE in layers


def test_a_word_that_stands_everywhere_does_not_hide_a_rare_one(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, *(f"what is number {n}" for n in range(500)), "what is a quokka")
    assert found(home, "what is a quokka") == ["what is a quokka"]
    assert len(found(home, "what is")) == 8


def test_edits_by_hand_deletes_and_torn_files_are_seen_at_once(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "one apple", "one pear")
    notes = put(home.profile(Profile.PROFILE), "- aaaa plum\n")
    assert found(home, "plum") == ["aaaa plum"]
    before = notes.stat()
    put(notes, "- bbbb plum\n")  # as long as before, and with its times set back
    os.utime(notes, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(home, "plum") == ["bbbb plum"]
    notes.unlink()
    assert found(home, "plum") == []
    day = home.day(NOON.date())
    put(day, day.read_bytes()[:-20])
    assert found(home, "apple") == ["one apple"]
    assert found(home, "pear") == []
    day.unlink()
    assert found(home, "apple") == []


FILES = st.sampled_from(["events/2026-11-30.md", "events/2026-12-01.md", "profile/profile.md"])
BODY = st.lists(
    NASTY
    | st.just("\nzebra\n")
    | st.just("\n" + fact("zebra fact", "shareable"))
    | st.integers(0, 3).map(lambda n: f"\n- 10:00:00 [chat] zebra {n} ^e_{ADA[:-1]}{n}\n"),
    max_size=4,
).map("".join)


@settings(deadline=None)
@given(st.lists(st.tuples(FILES, BODY | st.none()), min_size=1, max_size=6), st.booleans())
def test_the_index_always_tells_what_the_files_tell(
    steps: list[tuple[str, str | None]], shared: bool
) -> None:
    with TemporaryDirectory() as name:
        home = folder(Path(name))
        for path, body in steps:
            if body is None:
                (home.path / path).unlink(missing_ok=True)
            else:
                put(home.path / path, body)
            told = {match.place for match in matches(home, ["zebra"], shared=shared)}
            assert told == {match.place for match in scan(home, "zebra", shared=shared)}


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 500, b"SQLite format 3\x00"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    home = folder(tmp_path)
    said(home, "one apple")
    assert found(home, "apple") == ["one apple"]
    put(home.path / NAME, damage)
    assert found(home, "apple") == ["one apple"]
    assert [match.place.text for match in matches(home, ["apple"], shared=False)] == ["one apple"]


def test_an_index_with_damaged_pages_or_of_another_version_is_made_anew(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, *(f"apple {n}" for n in range(50)))
    found(home, "apple")
    path = home.path / NAME
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    assert len(found(home, "apple")) == 8
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    assert len(matches(home, ["apple"], shared=False)) == 50
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA user_version").fetchone() != (99,)
    database.close()


def test_where_there_can_be_no_index_the_files_are_scanned(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "one apple", "问：导数")
    (home.path / NAME / "in the way").mkdir(parents=True)
    assert found(home, "apples") == ["one apple"]
    assert found(home, "导数") == ["问：导数"]


def test_a_writer_at_work_delays_a_search_and_does_not_stop_it(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, "one apple")
    with home.lock():
        assert found(home, "apple") == ["one apple"]
        with pytest.raises(MemoryBusy):
            discard(home)


def test_what_was_deleted_is_not_in_the_index_any_more(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said(home, *(f"apple {n}" for n in range(200)))
    day = put(home.day(date(2026, 12, 1)), f"- 10:00:00 [chat] xylophone 秘密 ^e_{ADA}\n")
    assert found(home, "xylophone") == ["xylophone 秘密"]
    assert b"xylophon" in (home.path / NAME).read_bytes()
    day.unlink()
    assert found(home, "xylophone") == []
    data = (home.path / NAME).read_bytes()
    assert b"xylophon" not in data
    assert "秘密".encode() not in data


def test_an_index_that_is_a_link_out_is_not_followed(tmp_path: Path) -> None:
    home, other = folder(tmp_path), folder(tmp_path, BOB)
    said(home, "one apple")
    said(other, "two apples")
    found(other, "apple")
    before = (other.path / NAME).read_bytes()
    (home.path / NAME).symlink_to(other.path / NAME)
    (home.events / "2026-12-02.md").symlink_to(other.day(NOON.date()))
    home.profile(Profile.PROFILE).parent.mkdir()
    home.profile(Profile.PROFILE).symlink_to(other.day(NOON.date()))
    for _ in range(2):
        assert found(home, "apple") == ["one apple"]
        assert (other.path / NAME).read_bytes() == before


def test_a_learner_without_memory_gets_no_folder_by_searching(tmp_path: Path) -> None:
    assert found(folder(tmp_path), "apple") == []
    assert list(tmp_path.iterdir()) == []


def test_learners_who_join_and_part_find_what_is_theirs(tmp_path: Path) -> None:
    home, other = folder(tmp_path), folder(tmp_path, BOB)
    said(home, "one apple")
    said(other, "two apples, xylophone")
    found(home, "apple")
    found(other, "apple")
    join = Join(home, other, LINK)
    unite(join)
    assert sorted(found(home, "apple")) == ["one apple", "two apples, xylophone"]
    assert found(other, "apple") == []
    part(join, lambda _: False)
    assert not (home.path / NAME).exists()
    assert found(home, "apple") == ["one apple"]
    assert found(other, "apple") == ["two apples, xylophone"]


WORKER = """
import sys
from pathlib import Path
from memory import Audience, LearnerFolder, append
from memory.search import search
from tests.memory.helpers import event
home = LearnerFolder(Path(sys.argv[1]), sys.argv[2])
for n in range(15):
    word = f"word{sys.argv[3]}x{n}"
    append(home, event(f"apple {word}"))
    [place] = search(home, word, audience=Audience.PRIVATE)
    assert place.text == f"apple {word}"
"""


def test_processes_write_and_search_at_once(tmp_path: Path) -> None:
    home = folder(tmp_path)
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), ADA, str(n)])
        for n in range(3)
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    assert len(matches(home, ["apple"], shared=False)) == 45


@given(st.text(max_size=60))
def test_a_text_is_found_by_each_word_it_is_looked_up_by(text: str) -> None:
    assert set(asked_words(text)) <= set(stored_words(text))
    for word in stored_words(text):
        assert not any(c.isspace() or (c.isascii() and not c.isalnum()) for c in word)
