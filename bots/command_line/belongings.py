"""``partners export`` and ``partners forget``: everything of a learner, handed over or erased."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.people import Who, find_learner, no_learner
from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from bots.app import Ground


def export(
    learner: Who,
    to: Annotated[
        Path | None, typer.Option(help="The archive to write; in this folder when left out.")
    ] = None,
) -> None:
    """Write everything of a learner into a zip archive that a person can read.

    Example: partners export telegram:123 --to ada.zip
    """
    from core.belongings.export import collect, packed
    from core.clock import SystemClock
    from memory.layers import MemoryBusy

    with ground(quiet=True) as base:
        words, now = base.settings.words, SystemClock().now()
        found = _found(base, learner)
        place = to or Path(f"partners-{found}-{now:%Y-%m-%d}.zip")
        try:
            data = packed(collect(base.store, base.memory, found, words), now)
            with place.open("xb") as file:
                place.chmod(0o600)
                file.write(data)
        except FileExistsError:
            fail(words("{path} is there already. Name another file with --to.", path=place))
        except MemoryBusy:
            fail(words("The files are being written right now. Please try again in a moment."))
        except OSError as error:
            fail(words("{path} cannot be written: {reason}.", path=place, reason=error.strerror))
        typer.echo(words("Written: {path}", path=place))


def forget(
    learner: Who,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase everything of a learner for good: memory, cards, answers, conversations, settings.

    Of an account that was let in or kept out remains its id with that decision.

    Example: partners forget telegram:123
    """
    from core.belongings.forgetting import forget as erase
    from core.clock import SystemClock
    from memory.layers import MemoryBusy

    with ground(quiet=True) as base:
        words = base.settings.words
        found = _found(base, learner)
        question = words(
            "Erase everything of the learner {learner}? It cannot be undone; `partners export` "
            "makes a copy.",
            learner=learner,
        )
        if not yes and not typer.confirm(question):
            typer.echo(words("Nothing was erased."))
            return
        try:
            erase(base.store, base.memory, found, SystemClock().now())
        except MemoryBusy:
            fail(words("The files are being written right now. Please try again in a moment."))
        except OSError as error:
            fail(
                words(
                    "Not everything could be erased: {reason}. Write the same once more.",
                    reason=error,
                )
            )
        typer.echo(words("Erased. Copies that you made of the data folder are yours to erase."))


def _found(base: Ground, name: str) -> str:
    """Return the id of a learner, also of one of whom only files are left."""
    from memory.layers import is_ulid

    found = base.store.submit(partial(find_learner, name=name)).result()
    left = name.upper()
    if found is None and is_ulid(left) and (base.memory / left).is_dir():
        found = left
    if found is None:
        fail(no_learner(base.settings.words, name))
    return found
