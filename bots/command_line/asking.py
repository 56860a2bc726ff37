"""Questions to the person at this terminal."""

from __future__ import annotations

from getpass import getpass
from typing import Protocol

import typer


class Person(Protocol):
    """Who answers. Every method raises typer.Abort when they want to stop."""

    def line(self, question: str, default: str = "") -> str:
        """Return one line without spaces around it; ``default`` when it is empty."""

    def secret(self, question: str) -> str:
        """Return one line that is not shown while it is typed; it may be empty."""

    def yes(self, question: str, *, default: bool) -> bool:
        """Return a yes or a no."""

    def say(self, *lines: str) -> None:
        """Show some lines."""


class Keyboard:
    """The person at this terminal, who stops with Ctrl-C or Ctrl-D."""

    def line(self, question: str, default: str = "") -> str:
        """See ``Person``."""
        return str(typer.prompt(question, default=default, show_default=bool(default))).strip()

    def secret(self, question: str) -> str:
        """See ``Person``."""
        # The library's prompt writes the question before it hides what is typed, so that a quick
        # paste would be shown, and lost.
        try:
            return getpass(f"{question}: ").strip()
        except (EOFError, KeyboardInterrupt):
            raise typer.Abort from None

    def yes(self, question: str, *, default: bool) -> bool:
        """See ``Person``."""
        return typer.confirm(question, default=default)

    def say(self, *lines: str) -> None:
        """See ``Person``."""
        for line in lines:
            typer.echo(line)
