"""The screen: prints documents, shows the answer as it grows, reads lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from bots.rendering.clean import printable
from bots.terminal.render import render
from core.document import Document
from core.events import Content, Notice, TurnEvent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

PREVIEW_LINES = 12
"""Newest lines of a growing answer; the whole of it is printed at its end."""


class Screen:
    """A terminal, or a pipe: then nothing but the answers goes to ``out``."""

    def __init__(self, out: TextIO, *, interactive: bool) -> None:
        self._out = out
        self._interactive = interactive
        self._console: Console | None = None
        self._live: Live | None = None
        self._attempt, self._text = 0, ""

    def show(self, document: Document) -> None:
        """Print a document."""
        self._end_preview()
        width = self.console.width if self._interactive else 100
        self._out.write(render(document, width=width, color=self._interactive) + "\n")
        if self._interactive:
            self._out.write("\n")
        self._out.flush()

    def say(self, text: str) -> None:
        """Print one of our own lines: to the screen, or aside where the output is a pipe."""
        print(text, file=self._out if self._interactive else sys.stderr, flush=True)

    @property
    def console(self) -> Console:
        """Rich's console, made when first needed: its import takes a while."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self._out)
        return self._console

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show that an answer is being worked on."""
        if self._interactive:
            from rich.live import Live
            from rich.spinner import Spinner

            self._live = Live(
                Spinner("dots"), console=self.console, transient=True, refresh_per_second=10
            )
            self._live.start()
        try:
            yield
        finally:
            self._end_preview()

    def watch(self, event: TurnEvent) -> None:
        """Show the answer as far as it has come; cleared before the finished one is printed."""
        if self._live is None:
            return
        match event:
            case Content(text=text, attempt=attempt):
                self._text = self._text + text if attempt == self._attempt else text
                self._attempt = attempt
            case Notice():
                self._text = ""
            case _:
                return
        from rich.text import Text

        lines = printable(self._text).splitlines()[-PREVIEW_LINES:]
        self._live.update(Text("\n".join(lines), style="dim"))

    def _end_preview(self) -> None:
        live, self._live = self._live, None
        self._text = ""
        if live is not None:
            live.stop()
