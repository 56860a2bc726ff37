"""What is wrong in a persona file, said so that its writer can mend it.

A problem always names the file and the key, and what to do. It never carries more of the file's
text than the word that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one file. ``str(problem)`` is the line to print."""

    path: Path
    """The file (or folder) at fault."""
    key: str
    """Dotted key in the front matter (``greeting.zh``), ``body.zh`` for the section of a language,
    ``front matter`` or ``file`` where no single key is at fault."""
    line: int | None
    """Line of the file, counted from 1; for something missing, the line it should stand under."""
    message: str
    """What is wrong, as the end of a sentence that begins with the key."""
    fix: str
    """What to do, a whole sentence."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        return f"{place}: {self.key} {self.message}. {self.fix}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that a writer most likely meant, or None when nothing is near."""
    matches = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return matches[0] if matches else None
