"""A process that changes one learner's profile again and again, in one of several ways.

``python -m tests.memory.stress WAY ROOT NAME COUNT``. Every change adds a line ``NAME N``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ulid import ULID

from memory import Audience, LearnerFolder, Profile, append, history, remember
from memory.editing import hand_in
from memory.entries import Noted, changed
from memory.history import Cause, Drifted, write
from memory.layers import revision_of
from tests.memory.helpers import NOON, event, folder

history.MOST = 1_000_000  # type: ignore[misc]  # so that the test can look for every line


def turn(home: LearnerFolder, line: str) -> None:
    """A turn writes what was said."""
    append(home, event(line))


def note(home: LearnerFolder, line: str) -> None:
    """A learner asks for a note."""
    remember(home, line)


def model(home: LearnerFolder, line: str) -> None:
    """A model proposes an entry for the file as it was some time ago."""
    path = home.profile(Profile.PROFILE)
    while True:
        was = home.read(path)
        entry = Noted(str(ULID()), line, NOON.date(), Audience.PRIVATE, "Goals", (f"e_{ULID()}",))
        data = changed(was, (entry,), (), "Profile")
        try:
            with home.lock():
                return write(home, path, data, revision=revision_of(was), cause=Cause.CONSOLIDATE)
        except Drifted:
            continue


def hand(home: LearnerFolder, line: str) -> None:
    """A person hands in an edited copy (``partners memory edit``), with lines at their place."""
    path = home.profile(Profile.PROFILE)
    base = home.read(path)
    anchor = f"## {line.split()[0]}\n".encode()
    hand_in(home, path, base.replace(anchor, anchor + f"{line}\n".encode()), base=base)


def sync(home: LearnerFolder, line: str) -> None:
    """A program that knows nothing of locks puts its own file in the place of ours."""
    path = home.profile(Profile.PROFILE)
    fresh = path.with_name(f"{line.split()[0]}.part")
    fresh.write_bytes(home.read(path) + f"{line}\n".encode())
    fresh.replace(path)


WAYS: dict[str, Callable[[LearnerFolder, str], None]] = {
    way.__name__: way for way in (turn, note, model, hand, sync)
}


def main(way: str, root: str, name: str, count: str) -> None:
    home = folder(Path(root))
    for number in range(int(count)):
        WAYS[way](home, f"{name} {number}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
