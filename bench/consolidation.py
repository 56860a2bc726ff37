"""What it costs to keep notes of what happens: calls and tokens, beside two simpler ways.

A learner says ten things an evening, and each evening notes are made. The same events go through
three ways in the same run:

- proposals: what Partners does, with a model that notes one thing in ten and confirms another;
- rewriting: a model gets all notes and the new events, and writes all notes anew;
- from everything: a model gets all that ever happened, and writes the notes anew.

Tokens are estimated in the same way for all three (four Latin characters each); the instructions
are the same, and the two others may write the very notes that the first one has by then.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path

from ulid import ULID

from bench.figures import table
from memory.consolidate import conclude, tend
from memory.journal import Event, append
from memory.layers import LearnerFolder, Profile, Surface
from memory.recall import estimate_tokens
from memory.tasks import Stage, Task, next_task

A_DAY = 10
REQUEST_TOKENS = 8_000
FIRST_DAY = date(2026, 1, 5)

_TOPICS = (
    "limits", "knots", "verbs", "orbits", "sonnets", "enzymes", "chess", "vectors", "maps", "tones",
    "primes", "tides", "graphs", "fugues", "cells", "treaties", "lenses", "idioms", "crystals",
)  # fmt: skip
_DOING = ("mixes up", "asks about", "likes", "practises", "finds hard", "teaches a friend")


@dataclass(slots=True)
class _Cost:
    calls: int = 0
    prompt: int = 0
    answer: int = 0
    seconds: float = 0.0

    def add(self, prompt: str, answer: str) -> None:
        self.calls += 1
        self.prompt += estimate_tokens(prompt)
        self.answer += estimate_tokens(answer)

    def row(self, name: str, events: int) -> list[str]:
        share = 1_000 / events
        return [
            name,
            f"{self.calls * share:.0f}",
            f"{self.prompt * share:,.0f}",
            f"{self.answer * share:,.0f}",
            f"{1_000 * self.seconds / events:.2f}" if self.seconds else "",
        ]


def consolidating(events: int) -> None:
    """Print what so many events cost, in each of the three ways, for a thousand of them."""
    proposals, rewriting, everything = _Cost(), _Cost(), _Cost()
    numbers = count(1)
    with tempfile.TemporaryDirectory() as name:
        folder = LearnerFolder(Path(name), str(ULID()))
        so_far = ""
        for evening in range(events // A_DAY):
            today = FIRST_DAY + timedelta(days=evening)
            new = list(_evening(today, evening))
            began = time.perf_counter()
            append(folder, *new)
            system = ""
            while task := next_task(folder, REQUEST_TOKENS, night=today):
                said = _answer(task)
                proposals.add(task.system + task.user, said)
                moment = new[-1].at + timedelta(milliseconds=next(numbers) % 1_000)
                conclude(folder, task, said, today, lambda at=moment: str(ULID.from_datetime(at)))  # type: ignore[misc]
                system = system or task.system
            tend(folder, today)
            proposals.seconds += time.perf_counter() - began
            told = "\n".join(f"{event.at:%Y-%m-%d %H:%M} {event.text}" for event in new)
            so_far += told
            notes = _notes(folder)
            rewriting.add(system + notes + told, notes)
            everything.add(system + so_far, notes)
    table(
        f"Notes made of {events:,} events, {A_DAY} an evening; for 1,000 of them",
        ("", "calls", "prompt tokens", "answer tokens", "own ms an event"),
        [
            proposals.row("proposals, with weekly audits", events),
            rewriting.row("rewriting all notes", events),
            everything.row("from everything", events),
        ],
    )


def _evening(today: date, evening: int) -> Iterator[Event]:
    for number in range(A_DAY):
        place = evening * A_DAY + number
        at = datetime(today.year, today.month, today.day, 18, number * 5, tzinfo=UTC)
        topic = _TOPICS[place % len(_TOPICS)]
        if number % 2:
            text = f"answered: What do you already know about {topic}? " + "Look at it again. " * 8
        else:
            text = f"asked: I still do not see why {topic} work like that, can you help? " * 2
        yield Event(str(ULID.from_datetime(at)), at, Surface.CHAT, text)


def _answer(task: Task) -> str:
    """One thing in ten is noted, and one note is confirmed."""
    operations: list[dict[str, object]] = []
    new = re.findall(r"^(e\d+) .*asked: .*? why (\w+) work", task.user.partition("New:")[2], re.M)
    if task.stage is Stage.LEARN and new:
        name, topic = new[0]
        doing = _DOING[sum(map(ord, task.user)) % len(_DOING)]
        text = f"{doing.capitalize()} {topic}, {len(task.user) % 97} minutes at a time"
        operations.append({"op": "add", "section": "Knowledge", "text": text, "cites": [name]})
        known = re.search(r"^(m\d+) \S+ Knowledge: (.*)$", task.user, re.M)
        if known:
            operations.append(
                {"op": "edit", "id": known[1], "text": known[2], "cites": [new[-1][0]]}
            )
    elif task.stage is Stage.RAISE:
        seen = re.findall(r"^(e\d+) \[chat\] \S+ \w+: (.*)$", task.user, re.M)
        operations += [
            {"op": "add", "document": "knowledge", "section": "Knows", "text": text,
             "cites": [name]} for name, text in seen[:1]
        ]  # fmt: skip
    return json.dumps({"operations": operations})


def _notes(folder: LearnerFolder) -> str:
    files = [folder.surface(one) for one in Surface] + [folder.profile(one) for one in Profile]
    return "\n".join(folder.read(file).decode() for file in files)
