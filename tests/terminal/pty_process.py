"""A ``partners chat`` in a real pseudo-terminal: typed into, looked at, killed. POSIX only."""

from __future__ import annotations

import codecs
import errno
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping

from tests.process import PATIENCE, Installation
from tests.servers.changes import Changes
from tests.terminal.vt import Screen

CHAT = (sys.executable, "-m", "bots.cli", "chat")
CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"
PASTE = "\x1b[200~{}\x1b[201~"
"""How a terminal marks what was pasted."""
PROMPT = "› "


class Terminal:
    """A window with one command running in it. Use it as a context manager: leaving kills it."""

    def __init__(
        self,
        installation: Installation,
        *command: str,
        columns: int = 80,
        rows: int = 40,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``command`` is ``partners chat`` unless given."""
        self._changes = Changes()
        self._raw = ""
        self._input = threading.Lock()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = Screen(columns, rows, self._send)
        self._trouble: Exception | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-c", _LEADER, *(command or CHAT)],
            cwd=installation.folder,
            env={
                **installation.environment,
                "TERM": "xterm-256color",
                **(environment or {}),
            },
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._master)

    @property
    def text(self) -> str:
        """Everything that was shown and not cleared again."""
        with self._changes.lock:
            return self.screen.text

    @property
    def raw(self) -> str:
        """Every character the program sent."""
        with self._changes.lock:
            return self._raw

    def wait(self, look: Callable[[], bool], what: str) -> None:
        """Wait until something is so, looked at whenever there is new output."""

        def seen() -> bool:
            if self._trouble:
                raise self._trouble
            return look()

        self._changes.wait_for_blocking(
            seen, PATIENCE, lambda: f"{what}; the screen:\n{self.screen.text}"
        )

    def wait_text(self, text: str, times: int = 1) -> None:
        """Wait until ``text`` is on the screen (so many times)."""
        self.wait(lambda: self.screen.text.count(text) >= times, f"{text!r} was not shown")

    def wait_prompt(self) -> None:
        """Wait until the program waits for a line."""
        self.wait(lambda: self.screen.line == PROMPT, "there was no prompt")

    def type(self, keys: str) -> None:
        """Press keys."""
        self._send(keys)

    def enter(self, line: str) -> None:
        """Type a line and end it."""
        self._send(line + ENTER)

    def ask(self, line: str) -> None:
        """Enter a line and wait for the prompt after its answer."""
        before = self.text.count(PROMPT.strip())
        self.enter(line)
        self.wait(
            lambda: self.screen.text.count(PROMPT.strip()) > before and self.screen.line == PROMPT,
            f"{line!r} was not answered",
        )

    def wait_end(self) -> int:
        """Wait for the program's end; return its exit status."""
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status

    def kill(self) -> None:
        """``kill -9``; fine when it is gone already."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)

    def _send(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        with self._input:
            while data:
                data = data[os.write(self._master, data) :]

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                data = os.read(self._master, 65_536)
            except OSError as error:
                if error.errno == errno.EIO:  # the program, the last one there, is gone
                    return
                raise
            if not data:
                return
            text = decoder.decode(data)
            with self._changes.lock:
                self._raw += text
                try:
                    self.screen.feed(text)
                except AssertionError as error:
                    self._trouble = error
            self._changes.announce()


_LEADER = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background hands down "ignored"
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that keys such as Ctrl-C reach the program
os.execvp(sys.argv[1], sys.argv[1:])
"""
