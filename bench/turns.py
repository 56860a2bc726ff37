"""What a turn costs: Partners beside the bare bot, run after run against the same servers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.figures import median, p95, table
from bench.world import PARTNERS, Lesson, bare, bot

MEMORY_LEARNERS = 50


@dataclass(frozen=True, slots=True)
class Load:
    """How many learners ask at the same time, and how many questions in all."""

    learners: int
    turns: int


def compare(base_url: str, runs: int, loads: Sequence[Load], platform: str) -> None:
    """Print throughput, waits and processor time of both bots under each load."""
    least: list[list[Lesson]] = []
    ours: list[list[Lesson]] = []
    for _ in range(runs):
        least.append(_run(bare(platform), base_url, loads, platform))
        ours.append(_run(PARTNERS, base_url, loads, platform))
    rows = []
    for i, load in enumerate(loads):
        pairs = [(a[i], b[i]) for a, b in zip(least, ours, strict=True)]
        rows += [
            [str(load.learners), "bare bot", *_row([a for a, _ in pairs])],
            ["", "partners", *_row([b for _, b in pairs])],
            ["", "added", "", *_added(pairs)],
        ]
    table(
        f"A turn on {platform.capitalize()}, the model answering at once; medians of {runs} runs",
        ("conversations", "", "turns/s", "ms median", "ms p95", "CPU ms/turn"),
        rows,
    )


def last(base_url: str, turns: int, one: int) -> None:
    """Print memory over many turns, and the cost of a turn as one conversation grows."""
    marks = sorted({0, turns // 4, turns // 2, turns})
    with tempfile.TemporaryDirectory() as folder, bot(PARTNERS, Path(folder), base_url) as partners:
        resident = [partners.resident]
        for before, after in pairwise(marks):
            partners.teach(MEMORY_LEARNERS, after - before)
            resident.append(partners.resident)
    table(
        f"Resident memory of partners serve over {MEMORY_LEARNERS} conversations",
        ("turns", *map(str, marks)),
        [["MB", *(f"{mb:.1f}" for mb in resident)]],
    )
    tenth = one // 10
    with tempfile.TemporaryDirectory() as folder, bot(PARTNERS, Path(folder), base_url) as partners:
        partners.teach(1, 10)  # whatever is loaded late is loaded now
        lessons = [partners.teach(1, size) for size in (tenth, one - 2 * tenth, tenth)]
    table(
        f"One conversation of {one} turns",
        ("", "CPU ms/turn", "ms median", "ms p95"),
        [
            [name, f"{lesson.cpu_ms:.1f}", *_waits(lesson)]
            for name, lesson in (
                (f"first {tenth} turns", lessons[0]),
                (f"last {tenth} turns", lessons[-1]),
            )
        ],
    )


def _run(
    arguments: Sequence[str], base_url: str, loads: Sequence[Load], platform: str
) -> list[Lesson]:
    with (
        tempfile.TemporaryDirectory() as folder,
        bot(arguments, Path(folder), base_url, platform) as running,
    ):
        # Every learner's first turn is outside the measure: accounts and folders are made then.
        running.teach(max(load.learners for load in loads), max(load.learners for load in loads))
        return [running.teach(load.learners, load.turns) for load in loads]


def _row(lessons: Sequence[Lesson]) -> list[str]:
    return [
        f"{median([lesson.turns_per_second for lesson in lessons]):.0f}",
        f"{median([1000 * median(lesson.waits) for lesson in lessons]):.1f}",
        f"{median([1000 * p95(lesson.waits) for lesson in lessons]):.1f}",
        f"{median([lesson.cpu_ms for lesson in lessons]):.1f}",
    ]


def _added(pairs: Sequence[tuple[Lesson, Lesson]]) -> list[str]:
    return [
        f"{median([1000 * (median(b.waits) - median(a.waits)) for a, b in pairs]):+.1f}",
        f"{median([1000 * (p95(b.waits) - p95(a.waits)) for a, b in pairs]):+.1f}",
        f"{median([b.cpu_ms - a.cpu_ms for a, b in pairs]):+.1f}",
    ]


def _waits(lesson: Lesson) -> tuple[str, str]:
    return f"{1000 * median(lesson.waits):.1f}", f"{1000 * p95(lesson.waits):.1f}"
