"""The learner's folder: where each layer lies, and who may write now.

Rules that stand here and nowhere else: a learner is a ULID and its folder lies directly under the
root; one lock file a learner, held across processes; a revision is the SHA-256 of the bytes.
Documents are written by ``memory.history``, days by ``memory.journal``. Everything here blocks;
asynchronous callers use a thread.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_LOCK_POLL_SECONDS = 0.01


class MemoryBusy(Exception):
    """Somebody else is writing the learner's memory; nothing was written. Try again."""

    def __init__(self, learner: str, why: str) -> None:
        super().__init__(f"memory of learner {learner}: {why}")
        self.learner = learner


class MemoryElsewhere(ValueError):
    """A link leads out of the learner's folder: nothing there is read or written."""


class Surface(StrEnum):
    """Where something happened; the tag of an event and the name of a file of the second layer."""

    CHAT = "chat"
    QUIZ = "quiz"
    REVIEW = "review"
    MASTERY = "mastery"
    MATERIALS = "materials"
    NOTES = "notes"


class Profile(StrEnum):
    """The four documents of the third layer."""

    RECENT = "recent"
    PROFILE = "profile"
    KNOWLEDGE = "knowledge"
    PREFERENCES = "preferences"


def is_ulid(text: str) -> bool:
    """Tell whether a text is a ULID in its canonical spelling (26 capitals and digits).

    Lower case is refused: two spellings would be one folder on some file systems, two on others.
    """
    return _ULID.fullmatch(text) is not None


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LearnerFolder:
    """One learner's memory under ``root``. Creating the value touches no file.

    Raises ValueError for a learner that is no ULID, so no name from outside can leave the root.
    """

    root: Path
    """The folder that holds all learners' folders."""
    learner: str
    clock: Callable[[], datetime] = field(default=_now, repr=False, compare=False)
    """Tells when a kept revision was written."""

    def __post_init__(self) -> None:
        if not is_ulid(self.learner):
            raise ValueError(f"a learner id is a ULID, not {self.learner!r}")

    @property
    def path(self) -> Path:
        """The learner's folder; it exists after the first write."""
        return self.root / self.learner

    @property
    def events(self) -> Path:
        """Folder of the first layer."""
        return self.path / "events"

    def day(self, day: date) -> Path:
        """File of the first layer for a day of the learner's calendar."""
        return self.events / f"{day.isoformat()}.md"

    def surface(self, surface: Surface) -> Path:
        """File of the second layer."""
        return self.path / "surfaces" / f"{surface}.md"

    def profile(self, document: Profile) -> Path:
        """File of the third layer."""
        return self.path / "profile" / f"{document}.md"

    def contained(self, path: Path) -> Path:
        """Return ``path`` if it truly lies in this learner's folder, links followed.

        Raises MemoryElsewhere otherwise, so that a link never turns one learner's memory into
        another's. The root itself may be a link.
        """
        home = os.path.join(os.path.realpath(self.root), self.learner)  # noqa: PTH118
        real = os.path.realpath(path)
        if not real.startswith(home + os.sep):
            raise MemoryElsewhere(f"{path} leads out of the folder of learner {self.learner}")
        return path

    @contextmanager
    def lock(self, timeout: float = 10.0) -> Iterator[None]:
        """Hold the learner's lock, against other threads and processes; not re-entrant.

        Waits up to ``timeout`` seconds, then raises MemoryBusy. A killed holder loses the lock
        with its process. Creates the learner's folder, readable by its owner only.
        """
        from filelock import FileLock, Timeout  # 60 ms to import, and only writers need it

        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(
            self.contained(self.path / ".lock"), timeout=timeout, poll_interval=_LOCK_POLL_SECONDS
        )
        try:
            lock.acquire()
        except Timeout:
            raise MemoryBusy(self.learner, f"locked for {timeout:g} s") from None
        try:
            yield
        finally:
            lock.release()

    def read(self, path: Path) -> bytes:
        """Return a file's bytes; a missing file is an empty one."""
        try:
            return self.contained(path).read_bytes()
        except FileNotFoundError:
            return b""

    def revision(self, path: Path) -> str:
        """Return the revision of a file: SHA-256 of its bytes in hex, a missing file being empty.

        It changes with every edit, a person's too, and only with one.
        """
        return revision_of(self.read(path))


def revision_of(data: bytes) -> str:
    """Return the revision that bytes have: their SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()
