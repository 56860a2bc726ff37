"""``/memory log``, ``undo`` and ``refresh``: what was written of a learner, and taking it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from zoneinfo import ZoneInfo

from core.commands.request import Reply, Request
from core.document import Document, plain
from core.i18n import N_, Words
from core.scheduling.consolidation import Report
from memory import history
from memory.history import Cause, Change, Contradicted, NotUndoable
from memory.layers import LearnerFolder, MemoryBusy

Refresh = Callable[[str], Awaitable[Report]]
"""Consolidates what waits for a learner."""

SHOWN: Final = 12
_CAUSES: Final = {
    Cause.FOUND: N_("changed by hand"),
    Cause.REMEMBER: N_("a note of yours"),
    Cause.CONSOLIDATE: N_("from our talks"),
    Cause.TEND: N_("tidied up"),
    Cause.EDIT: N_("a file you sent"),
    Cause.JOIN: N_("accounts joined"),
    Cause.UNDO: N_("taken back"),
}


def changes(folder: LearnerFolder, request: Request) -> Reply:
    """Show the last changes, the newest first. It reads files."""
    words = request.words
    found = history.log(folder)[:SHOWN]
    if not found:
        return _told(words("Nothing has been written about you yet."))
    lines = [f"- `{one.number}` {_what(words, one, request.zone)}" for one in found]
    text = words("What was written about you, the newest first:")
    hint = words("`/memory undo NUMBER` takes one back.")
    return _told("\n".join((text, "", *lines, "", hint)))


def take_back(folder: LearnerFolder, request: Request, number: str) -> Reply:
    """Take a change back, the newest one where ``number`` is empty. It writes files."""
    words = request.words
    newest = next(iter(history.log(folder)), None)
    if newest is None:
        return _told(words("Nothing has been written about you yet."))
    if number and not number.isdecimal():
        return _told(words("`/memory undo NUMBER` takes one back."))
    try:
        done = history.undo(folder, int(number) if number else newest.number)
    except Contradicted:
        return _told(
            words(
                "Those lines were changed again since, so I leave them. /memory file sends you "
                "everything as it is now."
            )
        )
    except NotUndoable:
        return _told(words("There is no such change any more. /memory log shows them."))
    except MemoryBusy:
        return _told(words("Your notes are being written right now. Please try again in a moment."))
    text = words(
        "Taken back: {what}. `/memory undo` brings it again.", what=_what(words, done, request.zone)
    )
    return _told(text)


async def catch_up(request: Request, refresh: Refresh) -> Reply:
    """Let what was said lately become notes now. It asks the model."""
    words = request.words
    report = await refresh(request.learner_id)
    changed = sum(n for kind, n in report.counts.items() if not kind.startswith("refused:"))
    if report.held is not None and not changed:
        return _told(words("I can't get to it just now. It happens by itself a little later."))
    if not report.calls:
        return _told(words("There is nothing new to write down. /memory shows what I know."))
    if not changed:
        return _told(words("I went through it and found nothing to keep. /memory shows the rest."))
    text = words.plural(
        "I went through our talks: {n} change. /memory shows it, /memory undo takes it back.",
        "I went through our talks: {n} changes. /memory shows them, /memory log lists them.",
        changed,
    )
    return _told(text)


def _what(words: Words, change: Change, zone: str) -> str:
    at = change.at.astimezone(ZoneInfo(zone))
    return f"{at:%Y-%m-%d %H:%M}, {plain(change.document)}: {words(_CAUSES[change.cause])}"


def _told(text: str) -> Reply:
    return Reply(Document(markdown=text))
