from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Event, Surface, append, read_day, read_events
from memory.journal import TAIL_BYTES, format_event, parse_day
from tests.memory.helpers import ADA, BOB, NASTY, NOON, SHANGHAI, event, folder, put

DAY = NOON.date()
REPOSITORY = Path(__file__).parents[2]


def as_read(written: Event) -> Event:
    return replace(written, at=written.at.replace(tzinfo=None, microsecond=0))


def test_an_event_stands_in_the_file_as_documented() -> None:
    at = datetime(2026, 11, 30, 14, 2, 11, tzinfo=SHANGHAI)
    assert (
        format_event(event("asked: why?", at=at, key=ADA))
        == f"- 14:02:11 [chat] asked: why? ^e_{ADA}\n"
    )
    assert (
        format_event(event("asked: one\n\n- two", at=at, key=ADA))
        == f"- 14:02:11 [chat] asked: one\n\n  - two ^e_{ADA}\n"
    )


@given(st.lists(NASTY, max_size=4), st.sampled_from(Surface), st.booleans())
def test_reading_undoes_writing_whatever_the_text(
    texts: list[str], surface: Surface, windows: bool
) -> None:
    written = [replace(event(text), surface=surface) for text in texts]
    file = "".join(format_event(one) for one in written)
    assert not set(file) & set("\r\x00\x1b\x85\u2028\ufeff")
    if windows:
        file = file.replace("\n", "\r\n")
    expected = sorted((as_read(one) for one in written), key=lambda one: one.id)
    day = parse_day(file, DAY)
    assert list(day.events) == expected
    assert [line for line in day.other if line.strip()] == []


@given(st.lists(NASTY, min_size=1, max_size=4), st.lists(NASTY, max_size=4))
def test_a_persons_lines_between_events_are_kept_and_disturb_none(
    texts: list[str], words: list[str]
) -> None:
    written = [event(text) for text in texts]
    said = [f"Note: {line}" for word in words for line in word.split("\n")]
    file = "".join(format_event(one) + "".join(f"{s}\n" for s in said) for one in written)
    day = parse_day(file, DAY)
    assert {one.id: one.text for one in day.events} == {one.id: one.text for one in written}
    assert list(day.other) == said * len(written) + [""]


@given(st.binary(max_size=200))
def test_any_bytes_of_a_person_can_be_read(data: bytes) -> None:
    parse_day(data.decode("utf-8", "replace"), DAY)


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    append(folder(tmp_path), event("a\ud800b"))
    assert read_day(folder(tmp_path), DAY).events[0].text == "a\ufffdb"


@pytest.mark.parametrize(
    "line", ["- 25:61:00 [chat] x", "- 14:02:11 [dreams] x", "* 14:02:11 [chat] x"]
)
def test_what_only_looks_like_an_event_is_a_persons(line: str) -> None:
    day = parse_day(f"{line} ^e_{ADA}\n", DAY)
    assert day.events == ()
    assert day.other[0] == f"{line} ^e_{ADA}"


def test_the_first_event_of_a_day_brings_folders_and_heading(tmp_path: Path) -> None:
    home = folder(tmp_path / "deep" / "memory")
    assert append(home, event("hello", key=ADA))
    assert append(home, event("again", key=BOB))
    assert (
        home.day(DAY).read_bytes()
        == (
            f"# 2026-11-30\n\n- 12:00:00 [chat] hello ^e_{ADA}\n- 12:00:00 [chat] again ^e_{BOB}\n"
        ).encode()
    )


def test_the_day_is_the_learners_not_the_servers(tmp_path: Path) -> None:
    home = folder(tmp_path)
    append(home, event("late", at=datetime(2026, 11, 30, 20, 0, tzinfo=UTC).astimezone(SHANGHAI)))
    assert [path.name for path in home.events.iterdir()] == ["2026-12-01.md"]


def test_the_same_event_is_written_once(tmp_path: Path) -> None:
    home = folder(tmp_path)
    once = event("x" * (2 * TAIL_BYTES))
    assert append(home, once)
    assert not append(home, once)
    assert not append(home, once, recovering=True)
    assert len(read_day(home, DAY).events) == 1


def test_events_written_together_are_each_sealed_on_their_day(tmp_path: Path) -> None:
    home = folder(tmp_path)
    there = event("asked", key=ADA)
    append(home, there)
    late = event("late", at=datetime(2026, 12, 1, 9, 0, tzinfo=UTC))
    assert append(home, there, event("answered", key=BOB), late)
    assert [one.text for one in read_day(home, DAY).events] == ["asked", "answered"]
    assert [one.text for one in read_events(home, limit=1)] == ["late"]
    assert not append(home, there, late)


def test_a_bad_event_among_good_ones_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ULID"):
        append(folder(tmp_path), event("good"), event("bad", key="no-ulid"))
    assert not folder(tmp_path).path.exists()


def test_recovery_finds_an_event_however_far_back(tmp_path: Path) -> None:
    home = folder(tmp_path)
    old = event("old")
    append(home, old)
    append(home, event("x" * (2 * TAIL_BYTES)))
    size = home.day(DAY).stat().st_size
    assert not append(home, old, recovering=True)
    assert home.day(DAY).stat().st_size == size
    assert append(home, old)  # beyond the tail an ordinary append does not look
    assert [one.text for one in read_day(home, DAY).events].count("old") == 1


def test_a_text_that_quotes_an_id_does_not_pass_for_that_event(tmp_path: Path) -> None:
    home = folder(tmp_path)
    append(home, event(f"look: ^e_{ADA}\nand ^e_{ADA}"))
    assert append(home, event("the real one", key=ADA))
    assert [one.text for one in read_day(home, DAY).events if one.id == ADA] == ["the real one"]


def test_an_append_changes_no_byte_that_was_there(tmp_path: Path) -> None:
    home = folder(tmp_path)
    append(home, event("one"))
    mine = home.day(DAY).read_bytes() + "\r\nmy own words \t\r\n- 14:00 tea\n  \xff".encode(
        "latin-1"
    )
    home.day(DAY).write_bytes(mine)
    append(home, event("two"))
    assert home.day(DAY).read_bytes().startswith(mine + b"\n- ")
    assert [one.text for one in read_day(home, DAY).events] == ["one", "two"]


def test_a_day_torn_at_any_byte_loses_only_what_was_not_sealed() -> None:
    first, torn, after = event("first\n\nline ^e_"), event("为什么\n\n  - 三\nend"), event("after")
    with TemporaryDirectory() as name:
        home = folder(Path(name))
        append(home, first)
        start = home.day(DAY).stat().st_size
        append(home, torn)
        whole = home.day(DAY).read_bytes()
        for cut in range(start, len(whole)):
            home.day(DAY).write_bytes(whole[:cut])
            append(home, after)
            append(home, torn)
            day = read_day(home, DAY)
            assert day.events == tuple(
                sorted(map(as_read, (first, torn, after)), key=lambda one: one.id)
            ), cut


@pytest.mark.parametrize(
    "broken",
    [event("x", key="01"), event("x", key=ADA.lower()), event("x", at=NOON.replace(tzinfo=None))],
)
def test_an_event_without_identity_or_zone_is_refused(tmp_path: Path, broken: Event) -> None:
    with pytest.raises(ValueError, match=r"ULID|zone"):
        append(folder(tmp_path), broken)
    assert list(tmp_path.iterdir()) == []


def test_secrets_do_not_reach_the_disk(tmp_path: Path) -> None:
    append(folder(tmp_path), event("my key is sk-abcdefghijklmnopqrstuvwx, ok?"))
    written = folder(tmp_path).day(DAY).read_text("utf-8")
    assert "[redacted], ok?" in written
    assert "sk-" not in written


def test_events_come_newest_first_and_old_days_stay_closed(tmp_path: Path) -> None:
    home = folder(tmp_path)
    for back in (2, 1, 0):
        for text in ("morning", "evening"):
            append(home, event(f"{text} -{back}", at=NOON - timedelta(days=back)))
    (home.events / "2026-11-28.md").unlink()
    (home.events / "2026-11-28.md").mkdir()  # opening this day would fail
    for stray in ("2026-02-30.md", "notes.md", ".2026-11-30.md.tmp"):
        (home.events / stray).write_text("- 12:00:00 [chat] x", "utf-8")
    got = [one.text for one in read_events(home, limit=3)]
    assert got == ["evening -0", "morning -0", "evening -1"]
    since = read_events(home, since=DAY - timedelta(days=1))
    assert [one.text for one in since] == [*got, "morning -1"]
    assert read_events(folder(tmp_path, BOB)) == []


def test_the_same_event_from_many_threads_at_once_is_written_once(tmp_path: Path) -> None:
    home = folder(tmp_path)
    start = threading.Barrier(8)
    for number in range(10):
        once = event(f"once {number}")

        def write(one: Event = once) -> bool:
            start.wait()
            return append(home, one)

        with ThreadPoolExecutor(8) as pool:
            written = [job.result() for job in [pool.submit(write) for _ in range(8)]]
        assert written.count(True) == 1
    assert home.day(DAY).read_text("utf-8").count("once") == 10


def test_an_event_that_went_into_a_file_put_aside_meanwhile_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder(tmp_path)
    append(home, event("first"))
    path = home.day(DAY)
    before, opened = path.read_bytes(), Path.open

    def replaced(place: Path, *given: Any, **named: Any) -> Any:
        file = opened(place, *given, **named)
        if place == path and given == ("a+b",):
            monkeypatch.undo()
            put(path.with_name("copy"), before + b"- by hand\n").replace(path)
        return file

    monkeypatch.setattr(Path, "open", replaced)
    assert append(home, event("second"))
    assert [one.text for one in read_day(home, DAY).events] == ["first", "second"]
    assert b"- by hand\n" in path.read_bytes()


def start_writer(root: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.memory.writer", str(root), ADA, name, str(count)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_append_side_by_side_and_lose_nothing(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, name, 60) for name in ("ada", "bob")]
    said = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    day = read_day(folder(tmp_path), DAY)
    assert sorted(one.id for one in day.events) == sorted(said[0] + said[1])
    for one in day.events:
        first, *rest = one.text.split("\n")
        assert rest == [first.split()[0]] * 40 + [""]
    assert day.other == ("# 2026-11-30", "", "")


def test_a_killed_writer_loses_nothing_it_had_said_and_blocks_nobody(tmp_path: Path) -> None:
    home = folder(tmp_path)
    said: list[str] = []
    for round_ in range(5):
        writer = start_writer(tmp_path, f"round{round_}", 100_000)
        assert writer.stdout is not None
        said += [writer.stdout.readline().strip() for _ in range(5 + 3 * round_)]
        writer.kill()
        said += [line for line in writer.stdout.read().split("\n")[:-1] if line]
        writer.stdout.close()
        writer.wait()
        survivor = event("still here")
        append(home, survivor)
        said.append(survivor.id)
    found = [one.id for one in read_day(home, DAY).events]
    assert set(said) <= set(found)
    assert len(found) <= len(said) + 5  # at most the one under way at each kill
    raw = home.day(DAY).read_text("utf-8")
    assert all(raw.count(f" ^e_{id_}\n") == 1 for id_ in said)
