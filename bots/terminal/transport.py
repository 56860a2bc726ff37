"""The screen: prints documents, shows the answer as it grows, reads lines."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from bots.rendering.clean import printable
from bots.terminal.echo import unechoed
from bots.terminal.files import drawn
from bots.terminal.render import render
from bots.terminal.wrap import wrapped
from core.document import Document, File
from core.events import Content, Growing, Notice, TurnEvent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

FILE_WIDTH = 100
"""Columns of an answer that goes to a file or a pipe."""
PREVIEW_LINES = 12
"""Newest lines of a growing answer; the whole of it is printed at its end."""


class Screen:
    """A terminal, or a file or pipe: then nothing but the answers goes to ``out``."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._visible = out.isatty()
        dumb = os.environ.get("TERM") == "dumb"
        self._color = self._visible and not dumb and not os.environ.get("NO_COLOR")
        self._console: Console | None = None
        self._live: Live | None = None
        self._answer = Growing()

    def show(self, document: Document) -> None:
        """Print a document. Raises BrokenPipeError when nobody reads it any more."""
        self._end_preview()
        width = shutil.get_terminal_size().columns if self._visible else FILE_WIDTH
        text = render(document, width=width, color=self._color)
        self._out.write(f"{text}\n\n" if self._visible else f"{text}\n")
        self._out.flush()

    def file(self, file: File, told: str) -> None:
        """Tell where a file is, as a part of the answer; show a picture where the terminal can."""
        self._out.write(f"{told}\n")
        self._out.flush()
        if self._visible and (drawing := drawn(file)):
            self._out.write(drawing)
            self._out.flush()

    def say(self, text: str) -> None:
        """Print some of our own lines: to the screen, or aside where the output is a pipe."""
        lines = text.splitlines()
        if self._visible:
            width = shutil.get_terminal_size().columns
            lines = [line[start:end] for line in lines for start, end in wrapped(line, width)]
        print("\n".join(lines), file=self._out if self._visible else sys.stderr, flush=True)

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
        if self._visible:
            from rich.live import Live
            from rich.spinner import Spinner

            self._live = Live(
                Spinner("dots"),
                console=self.console,
                transient=True,
                refresh_per_second=10,
                # Else the prompt, made meanwhile, would hold a stand-in that keeps its last line.
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        try:
            with unechoed(sys.stdin if self._visible else None):
                yield
        finally:
            self._end_preview()

    def watch(self, event: TurnEvent) -> None:
        """Show the answer as far as it has come; cleared before the finished one is printed."""
        if self._live is None:
            return
        match event:
            case Content():
                self._answer.take(event)
            case Notice():
                self._answer.text = ""
            case _:
                return
        from rich.text import Text

        lines = printable(self._answer.text).splitlines()[-PREVIEW_LINES:]
        self._live.update(Text("\n".join(lines), style="dim"))

    def _end_preview(self) -> None:
        live, self._live = self._live, None
        self._answer = Growing()
        if live is not None:
            live.stop()
