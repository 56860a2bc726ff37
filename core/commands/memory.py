"""Memory in the learner's hands: ``/memory`` and ``/remember``."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import study_date
from core.commands import memory_changes
from core.commands.declare import CommandSpec
from core.commands.request import Answer, Command, Reply, Request
from core.document import LARGEST_FILE, Document, File
from core.i18n import N_, Words
from core.ids import new_id
from core.learning import deck
from memory.journal import Event
from memory.layers import LearnerFolder, MemoryBusy, Profile, Surface
from memory.notes import NoteEmpty, NoteTooLong, Remembered, remember
from memory.recall import Section, overview
from memory.redact import redact

FILE_WORDS = frozenset({"file", "files", "文件"})
LOG_WORDS = frozenset({"log", "history", "记录", "历史"})
UNDO_WORDS = frozenset({"undo", "撤销"})
REFRESH_WORDS = frozenset({"refresh", "update", "刷新", "更新"})
TITLES = {
    Profile.PROFILE: N_("About you"),
    Profile.PREFERENCES: N_("How you like to learn"),
    Profile.KNOWLEDGE: N_("What you know"),
    Profile.RECENT: N_("Lately"),
}
HEADINGS = {
    "Notes": N_("Your notes"),
    "Goals": N_("Goals"),
    "Background": N_("Background"),
    "Knows": N_("Knows"),
    "Difficulties": N_("Difficulties"),
    "Misconceptions": N_("Misconceptions"),
}
"""Those that the machine writes into the files, always in English; others are a person's words."""


def memory(root: Path, refresh: memory_changes.Refresh) -> Command:
    """``/memory``: everything the third layer says, readable, and what is due.

    ``/memory file`` sends the files themselves; ``log``, ``undo`` and ``refresh`` are in
    ``core.commands.memory_changes``.
    """

    async def handle(request: Request) -> Answer:
        folder = LearnerFolder(root, request.learner_id)
        what, _, number = request.arguments.strip().casefold().partition(" ")
        if what in FILE_WORDS:
            return _sent(request.words, await asyncio.to_thread(_files, folder))
        if what in LOG_WORDS:
            return await asyncio.to_thread(memory_changes.changes, folder, request)
        if what in UNDO_WORDS:
            return await asyncio.to_thread(
                memory_changes.take_back, folder, request, number.strip()
            )
        if what in REFRESH_WORDS:
            return await memory_changes.catch_up(request, refresh)
        known = await asyncio.to_thread(overview, folder)
        return partial(_show, request=request, known=known)

    usage = N_("[file | log | undo | refresh]")
    spec = CommandSpec("memory", N_("what I know about you"), usage, private=True, slow=True)
    return Command(spec, handle)


def _files(folder: LearnerFolder) -> tuple[File, ...]:
    """The Markdown files of the third layer, as they are; those too large to send are left out."""
    written = ((kind, folder.read(folder.profile(kind))) for kind in Profile)
    return tuple(
        File(name=f"{kind}.md", mime="text/markdown", data=data)
        for kind, data in written
        if data.strip() and len(data) <= LARGEST_FILE
    )


def _sent(words: Words, files: tuple[File, ...]) -> Reply:
    if not files:
        return Reply(Document(markdown=words("There is nothing in your memory yet.")))
    text = words("Your memory, as it is kept. It is Markdown: any text editor opens it.")
    return Reply(Document(markdown=text, files=files))


def _show(session: Session, request: Request, known: tuple[Section, ...]) -> Reply:
    words = request.words
    today = study_date(request.now, ZoneInfo(request.zone))
    due = len(deck.session_queue(session, request.learner_id, today))
    lines = [_section(words, section) for section in known]
    if not lines:
        lines = [
            words(
                "I know nothing about you yet. Tell me something to keep with /remember, for "
                "example your exam date."
            )
        ]
    if due:
        lines.append(words.plural("{n} question is due.", "{n} questions are due.", due))
    return Reply(Document(markdown="\n\n".join(lines)))


def _section(words: Words, section: Section) -> str:
    items = "\n".join("- " + "\n  ".join(item.lines) for item in section.items)
    known = HEADINGS.get(section.heading)
    heading = words(known) if known else section.heading
    title = words(TITLES[section.document])
    return f"**{title}{' · ' + heading if heading else ''}**\n\n{items}"


def remember_(root: Path) -> Command:
    """``/remember TEXT``: a note in the learner's own words, kept as it is."""

    async def handle(request: Request) -> Answer:
        words = request.words
        try:
            done = await asyncio.to_thread(
                remember, LearnerFolder(root, request.learner_id), request.arguments
            )
        except NoteEmpty:
            text = words(
                "Write what I should remember behind the command, for example\n\n"
                "`/remember My exam is on 12 December`"
            )
            return Reply(Document(markdown=text))
        except NoteTooLong as error:
            text = words(
                "A note has at most {limit} characters, this one has {length}. Split it into "
                "several, please.",
                limit=words.number(error.limit),
                length=words.number(error.length),
            )
            return Reply(Document(markdown=text))
        except MemoryBusy:
            text = words("Your notes are being written right now. Please try again in a moment.")
            return Reply(Document(markdown=text))
        if done is Remembered.KNOWN:
            return Reply(Document(markdown=words("I have that note already. /memory shows it.")))
        event = Event(
            new_id(request.now),
            request.now.astimezone(ZoneInfo(request.zone)),
            Surface.NOTES,
            f"noted: {request.arguments.strip()}",
        )
        text = words("Noted. /memory shows everything I know about you.")
        if redact(request.arguments) != request.arguments:
            text = words(
                "Noted, without what looked like a password, a key or a card number: such things "
                "are not kept. /memory shows everything I know about you."
            )
        return Reply(Document(markdown=text), events=(event,))

    return Command(
        CommandSpec("remember", N_("keep something about you"), N_("TEXT"), private=True), handle
    )
