"""What memory costs as it grows: one event appended, the notes for a prompt, a search.

Each is measured over a short and a long history; the search also beside the way without an index,
which reads all files, in the same run.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.figures import median, p95, table
from core.ids import new_id
from memory.document import Audience
from memory.index import NAME
from memory.journal import Event, append
from memory.layers import LearnerFolder, Profile, Surface
from memory.recall import view
from memory.search import scan, search

A_DAY = 100
"""Events of one day."""
ENTRIES = 150
"""Entries of each of the four documents, about what their size limit lets stand."""
BUDGET = 1_500
"""Tokens of a view, as in a turn."""
QUESTION = "what is the derivative of w0700 at 极限?"
_SETTLED = 2.1
"""Seconds after which the index trusts what the disk says of files just written."""
_START = datetime(2024, 1, 1, 8, tzinfo=UTC)
_WORDS = [*(f"w{n:04d}" for n in range(3_000)), "limit", "derivative", "极限", "导数"]
_FREQUENCY = [1 / (n + 1) ** 0.8 for n in range(len(_WORDS))]
"""Words of a language come about as often as the inverse of their rank (Zipf)."""


def remembering(sizes: tuple[int, ...], times: int) -> None:
    """Print what append, view and search take with histories of so many events."""
    rows: list[list[str]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = LearnerFolder(Path(name), new_id())
            for events in _days(size):
                append(folder, *events)
            _profile(folder)
            rows += _measured(folder, size, times)
    table(
        f"Memory as it grows, {times} times",
        ("", "events", "ms median", "ms p95"),
        rows,
    )


def _measured(folder: LearnerFolder, size: int, times: int) -> Iterator[list[str]]:
    last = _START + timedelta(days=size // A_DAY + 1)

    def searched() -> None:
        search(folder, QUESTION, audience=Audience.PRIVATE)

    def said_and_searched() -> None:
        append(folder, _event(last))
        searched()

    yield _row("append", size, times, lambda: append(folder, _event(last)))
    yield _row("view", size, times, lambda: view(folder, Audience.PRIVATE, BUDGET, QUESTION))
    yield _row("search for the first time, no index yet", size, 1, searched)
    time.sleep(_SETTLED)
    searched()
    yield _row("search", size, times, searched)
    yield _row("append, then search", size, times, said_and_searched)
    yield _row("search by reading all files", size, 3, lambda: scan(folder, QUESTION, shared=False))
    (folder.path / NAME).unlink()


def _row(name: str, size: int, times: int, act: Callable[[], object]) -> list[str]:
    waits = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        waits.append(1000 * (time.perf_counter() - start))
    return [name, f"{size:,}", f"{median(waits):.2f}", f"{p95(waits):.2f}"]


def _days(size: int) -> Iterator[list[Event]]:
    for day in range(size // A_DAY):
        begin = _START + timedelta(days=day)
        yield [_event(begin + timedelta(minutes=n)) for n in range(A_DAY)]


def _event(at: datetime) -> Event:
    return Event(new_id(at), at, Surface.CHAT, f"asked: what is {_sentence(25)}?")


def _profile(folder: LearnerFolder) -> None:
    for document in Profile:
        lines = (
            f"- Knows {_sentence(15)} <!--m_{new_id()} 2026-11-30 private-->\n"
            for _ in range(ENTRIES)
        )
        path = folder.profile(document)
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")


def _sentence(words: int) -> str:
    return " ".join(_RANDOM.choices(_WORDS, _FREQUENCY, k=words))


_RANDOM = random.Random(1)
"""The same words in every run."""
