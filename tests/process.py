"""A real ``partners`` process, run as a user runs it, against the local servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.servers.openai import OpenAIServer
from tests.servers.telegram import TelegramServer

ROOT = Path(__file__).parent.parent
HOSTS_OWN = (
    *("PARTNERS_", "OPENAI_", "TELEGRAM_", "DISCORD_", "FEISHU_"),
    *("PYTHON", "COLUMNS", "LINES"),  # unbuffered output, or another width, hides faults
)
"""Beginnings of the variables that change what a process does."""
PATIENCE = 30.0
"""Seconds a healthy process may take on a busy machine."""


class Installation:
    """A folder with settings and data, in which commands are run."""

    def __init__(
        self,
        folder: Path,
        telegram: TelegramServer | None = None,
        openai: OpenAIServer | None = None,
        **settings: str,
    ) -> None:
        """``settings`` are further variables; an empty one stays unset."""
        self.folder = folder
        self.data = folder / "data"
        self.settings = {"PARTNERS_TIMEZONE": "Europe/Berlin", "PARTNERS_LANGUAGE": "en"}
        if telegram is not None:
            self.settings |= {
                "TELEGRAM_BOT_TOKEN": telegram.token,
                "TELEGRAM_API_BASE": telegram.url,
            }
        if openai is not None:
            self.settings |= {
                "OPENAI_API_KEY": "sk-test-0123456789abcdef",
                "OPENAI_BASE_URL": openai.base_url,
                "PARTNERS_MODEL": "scripted",
            }
        self.settings |= settings

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables a process of this installation sees: no setting of the host's own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(HOSTS_OWN)}
        return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **self.settings}

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "bots.cli", *arguments],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def say(self, *arguments: str, stdin: str | None = None) -> str:
        """Run a command that must succeed; return what it printed."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def serving(self, telegram: TelegramServer) -> Iterator[Serving]:
        """A ``partners serve`` that has begun to poll; ended with SIGKILL if still there."""
        process = self.serve()
        try:
            telegram.wait_polling_blocking(PATIENCE)
            yield process
        finally:
            process.kill()

    def serve(self) -> Serving:
        """Start ``partners serve``."""
        return Serving(self)


class Serving:
    """One ``partners serve`` process. What it logs goes to a file in the installation."""

    def __init__(self, installation: Installation) -> None:
        self._log = installation.folder / "serve.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bots.cli", "serve"],
                cwd=installation.folder,
                env=installation.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        """Everything logged in this installation so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def alive(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.poll() is None

    def kill(self) -> None:
        """``kill -9``; fine when it is gone already."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def terminate(self, within: float = PATIENCE) -> int:
        """SIGTERM; return the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(within)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal and leave the process to it."""
        self._process.send_signal(number)

    def wait(self, within: float = PATIENCE) -> int:
        """Wait for the end; return the exit status."""
        return self._process.wait(within)
