"""``echo question | partners chat``, with the bytes a test wants."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass

from tests.process import PATIENCE, Installation


@dataclass(frozen=True, slots=True)
class Piped:
    """What one piped message came to."""

    status: int
    out: str
    err: str


def _interruptible() -> None:
    """A job in the background hands down that interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin(installation: Installation, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command with all three streams piped."""
    return subprocess.Popen(
        [sys.executable, "-m", "bots.cli", *(arguments or ("chat",))],
        cwd=installation.folder,
        env=installation.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=None if sys.platform == "win32" else _interruptible,
    )


def end(process: subprocess.Popen[bytes], data: bytes, within: float = PATIENCE) -> Piped:
    """Give a started command its input and wait for its end."""
    out, err = process.communicate(data, timeout=within)
    newlines = str.maketrans({"\r": ""})
    return Piped(
        process.returncode,
        out.decode("utf-8", "replace").translate(newlines),
        err.decode("utf-8", "replace").translate(newlines),
    )


def pipe(installation: Installation, data: bytes | str, within: float = PATIENCE) -> Piped:
    """Pipe a message into ``partners chat``; it may take ``within`` seconds."""
    return end(begin(installation), data.encode() if isinstance(data, str) else data, within)
