"""``partners memory show|edit|log|undo``: what is remembered of a learner, looked at and mended."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.people import Who, find_learner, no_learner
from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from bots.app import Ground
    from core.i18n import Words
    from memory.layers import LearnerFolder

memory = typer.Typer(no_args_is_help=True, help="Look at what is remembered of a learner.")


@memory.command("show")
def show(learner: Who) -> None:
    """Show what is remembered of a learner.

    Example: partners memory show telegram:123
    """
    from memory.recall import overview

    with _folder_of(learner) as (base, folder):
        words = base.settings.words
        typer.echo(words("Files: {folder}", folder=folder.path))
        sections = overview(folder)
        for section in sections:
            heading = f" · {section.heading}" if section.heading else ""
            typer.echo(f"\n{section.document}.md{heading}")
            for item in section.items:
                typer.echo("- " + "\n  ".join(item.lines))
        if not sections:
            typer.echo(words("Nothing is remembered yet."))


@memory.command("log")
def log_(learner: Who) -> None:
    """Show what was written into a learner's files, the newest first.

    Example: partners memory log telegram:123
    """
    from difflib import ndiff

    from memory.history import log

    with _folder_of(learner) as (base, folder):
        words = base.settings.words
        causes = _causes(words)
        changes = log(folder)
        for change in changes:
            before, after = change.before.read_bytes(), change.after.read_bytes()
            old, new = (
                [line.decode("utf-8", "replace") for line in data.splitlines()]
                for data in (before, after)
            )
            marks = [line[0] for line in ndiff(old, new)]
            day = words.date(change.at.astimezone().date())
            typer.echo(
                f"{change.number}  {day} {change.at.astimezone():%H:%M}  {change.document}.md  "
                f"{causes[change.cause.value]}  +{marks.count('+')} -{marks.count('-')}"
            )
        if not changes:
            typer.echo(words("Nothing was written yet."))


@memory.command("undo")
def undo_(
    learner: Who,
    number: Annotated[int, typer.Argument(help="Number of the change, from the log.")],
) -> None:
    """Take one change of a learner's files back; what came after it stays.

    Example: partners memory undo telegram:123 12
    """
    from memory.history import Contradicted, Unknown, undo

    with _folder_of(learner) as (base, folder):
        words = base.settings.words
        try:
            change = undo(folder, number)
        except Unknown:
            fail(
                words(
                    "There is no change {number}. `partners memory log` shows those that can be "
                    "undone.",
                    number=number,
                )
            )
        except Contradicted as error:
            fail(
                words(
                    "The same lines were changed again since, so nothing was undone. What was "
                    "before is in {before}; take from it what you want into {present}.",
                    before=error.change.before,
                    present=error.present,
                )
            )
        typer.echo(
            words(
                "Change {number} of {document} is undone. `partners memory log` shows it, and it "
                "can be undone too.",
                number=number,
                document=f"{change.document}.md",
            )
        )


@memory.command("edit")
def edit(
    learner: Who,
    document: Annotated[
        str, typer.Argument(help="profile, preferences, knowledge, recent, chat, quiz, …")
    ] = "profile",
    file: Annotated[
        Path | None, typer.Option(help="Take this edited copy, instead of opening an editor.")
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="SHA-256 of the file from which the copy was made; else the present."),
    ] = None,
) -> None:
    """Edit one of a learner's files; what the tutor writes meanwhile is kept as well.

    The editor is the one in VISUAL or EDITOR.

    Example: partners memory edit telegram:123 knowledge
    """
    from memory.editing import revision_named

    with _folder_of(learner) as (base, folder):
        words = base.settings.words
        path = _document(words, folder, document)
        before = folder.read(path) if revision is None else revision_named(folder, path, revision)
        if before is None:
            fail(
                words(
                    "The revision {revision} of {document} is not kept any more. Copy the present "
                    "file, {path}, and edit that.",
                    revision=revision,
                    document=document,
                    path=path,
                )
            )
        if file is not None:
            try:
                data = file.read_bytes()
            except OSError as error:
                fail(words("{path} cannot be read: {reason}.", path=file, reason=error.strerror))
            _take(words, folder, path, data, before)
            return
        data = _edited(words, path.name, before)
        if data == before:
            typer.echo(words("Nothing was changed."))
            return
        with _kept_if_refused(words, path.name, data):
            _take(words, folder, path, data, before)


def _take(words: Words, folder: LearnerFolder, path: Path, data: bytes, before: bytes) -> None:
    """Look an edited document over and write it, or say why not."""
    from memory.editing import Conflicting, Unfit, hand_in, remarks

    try:
        seen = remarks(data)
        united = hand_in(folder, path, data, base=before)
    except Unfit:
        fail(words("A memory file is a text in UTF-8 of at most 1 MB. Nothing was changed."))
    except Conflicting:
        fail(
            words(
                "The same lines were changed meanwhile, so nothing was written. The present file "
                "is {path}: put your changes there.",
                path=path,
            )
        )
    if seen.hidden_from is not None:
        typer.echo(
            words(
                "Line {number} opens a block that nothing closes: the tutor sees nothing below it.",
                number=seen.hidden_from,
            ),
            err=True,
        )
    for number in seen.damaged:
        typer.echo(
            words("The mark in line {number} is not whole: the line is yours now.", number=number),
            err=True,
        )
    saved = words("Saved.")
    if united:
        saved = words("Saved, together with what was written meanwhile.")
    typer.echo(saved)


def _edited(words: Words, name: str, before: bytes) -> bytes:
    """Let the person edit a copy, as bytes; return what it is afterwards."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor and os.name == "nt":
        editor = "notepad"
    if not editor:
        fail(
            words(
                "No editor is known. Set EDITOR, or edit a copy of the file and hand it in with "
                "--file."
            )
        )
    command = [editor] if Path(editor).is_file() else shlex.split(editor, posix=os.name != "nt")
    with tempfile.TemporaryDirectory(prefix="partners-") as place:
        copy = Path(place) / name
        copy.write_bytes(before)
        try:
            subprocess.run([*command, str(copy)], check=True)  # noqa: S603 - the person's own
            return copy.read_bytes()
        except (OSError, subprocess.CalledProcessError) as error:
            fail(
                words(
                    "The editor {editor} failed, so nothing was changed: {reason}.",
                    editor=editor,
                    reason=error,
                )
            )


@contextmanager
def _kept_if_refused(words: Words, name: str, data: bytes) -> Iterator[None]:
    """Keep what a person wrote in this folder when it cannot be taken."""
    from memory.layers import MemoryBusy

    try:
        yield
    except (SystemExit, MemoryBusy, OSError):
        place = Path(tempfile.mkdtemp(prefix="edited-", dir=".")) / name
        place.write_bytes(data)
        typer.echo(words("Your text is in {path}.", path=place), err=True)
        raise


def _document(words: Words, folder: LearnerFolder, name: str) -> Path:
    from memory.layers import Profile, Surface

    paths = {one.value: folder.surface(one) for one in Surface}
    paths |= {one.value: folder.profile(one) for one in Profile}
    path = paths.get(name.removesuffix(".md").rpartition("/")[2])
    if path is None:
        fail(
            words("There is no file {name}. There are: {names}.", name=name, names=", ".join(paths))
        )
    return path


def _causes(words: Words) -> dict[str, str]:
    """Why a document was written, by ``memory.history.Cause``."""
    from memory.history import Cause

    return {
        Cause.FOUND: words("somebody else saved it"),
        Cause.REMEMBER: words("a note was asked for"),
        Cause.CONSOLIDATE: words("made from what was said"),
        Cause.TEND: words("what had faded was removed"),
        Cause.EDIT: words("edited"),
        Cause.JOIN: words("joined with another learner"),
        Cause.UNDO: words("a change was undone"),
    }


@contextmanager
def _folder_of(learner: str) -> Iterator[tuple[Ground, LearnerFolder]]:
    """Find a learner's folder; a lock that stays taken and a failing disk become sentences."""
    from memory.layers import LearnerFolder, MemoryBusy

    with ground(quiet=True) as base:
        words = base.settings.words
        learner_id = base.store.submit(partial(find_learner, name=learner)).result()
        if learner_id is None:
            fail(no_learner(words, learner))
        try:
            yield base, LearnerFolder(base.memory, learner_id)
        except MemoryBusy:
            fail(words("The files are being written right now. Please try again in a moment."))
