"""``partners``: the command line. Commands load what they need when they run."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Annotated

import typer

from bots.command_line import (
    belongings,
    consolidate,
    doctor,
    memory,
    nudge,
    people,
    personas,
    setup,
    talk,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A tutor in the chat apps people already use.",
)
app.command()(talk.chat)
app.command()(talk.serve)
app.command()(setup.init)
app.command()(doctor.doctor)
app.command()(nudge.nudge)
app.command()(people.learners)
app.command()(belongings.export)
app.command()(belongings.forget)
app.add_typer(people.access, name="access")
memory.memory.command("consolidate")(consolidate.consolidate)
app.add_typer(memory.memory, name="memory")
app.add_typer(personas.persona, name="persona")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("partners"))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of every command."""


def _let_go_of_output() -> None:
    """Write out what is left; where nobody reads any more, let it go without a word.

    The interpreter would try once more at its end, complain and change the status.
    """
    if sys.stdout is None:  # closed by whoever started us
        return
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def main() -> None:
    """Entry point of the console script."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An answer may hold characters that the host's encoding lacks.
        sys.stdout.reconfigure(errors="replace")
    try:
        app()
    finally:
        _let_go_of_output()
        # What lives now ends with the process; to search it for garbage once more takes a second.
        gc.freeze()


if __name__ == "__main__":
    main()
