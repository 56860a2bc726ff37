"""What it costs to append one event to a learner's journal, beside the disk's own share of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import median, p95, table
from core.ids import new_id
from memory.journal import Event, append
from memory.layers import LearnerFolder, Surface

TEXT = "asked: what do I do first with 2x + 3 = 11? " * 4
LONG_DAY = 20_000
"""Events that a long day file holds before the measure, some 5 MB."""


def appending(times: int) -> None:
    """Print how long an append takes, into a short day file and into a very long one."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        short, long = (LearnerFolder(root, new_id()) for _ in range(2))
        append(long, *(_event() for _ in range(LONG_DAY)))
        with (root / "bare").open("ab", buffering=0) as file:

            def write() -> None:
                file.write(TEXT.encode())
                os.fsync(file.fileno())

            rows = [
                _row("write and fsync alone", write, times),
                _row("append to a new day", lambda: append(short, _event()), times),
                _row(f"append after {LONG_DAY} events", lambda: append(long, _event()), times),
            ]
    table(
        f"One event of the journal, {times} times",
        ("", "ms median", "ms p95", "CPU ms"),
        rows,
    )


def _event() -> Event:
    return Event(new_id(), datetime.now(UTC), Surface.CHAT, TEXT)


def _row(name: str, act: Callable[[], object], times: int) -> list[str]:
    waits = []
    cpu = time.process_time()
    for _ in range(times):
        start = time.perf_counter()
        act()
        waits.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (time.process_time() - cpu) / times
    return [name, f"{median(waits):.2f}", f"{p95(waits):.2f}", f"{cpu:.2f}"]
