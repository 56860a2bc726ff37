"""How long each command takes to be there, how much memory it then holds, what it had to import."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import psutil  # type: ignore[import-untyped]  # ships no type information

from bench.figures import median, table
from bench.platforms import BenchError, BusyTelegram
from bench.world import PARTNERS, bare, environment, own
from tests.process import PATIENCE, Installation

HEAVY = ("aiogram", "discord", "lark_oapi", "openai", "alembic", "babel")
QUESTION = b"why is 0! = 1?\n"
_POLL_SECONDS = 0.002

Start = Callable[[Sequence[str], Path], tuple[float, float, str]]
"""Runs a command in a folder; gives seconds until it is there, MB held by then, its stderr."""


def starting(base_url: str, runs: int) -> None:
    """Print one line a command: medians over ``runs`` starts in a folder that was used before.

    The first start makes the database; the ones after it are what people wait for.
    """
    cli = ("-m", "bots.cli")

    def polling(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
        return _until_polling(command, folder, base_url)

    commands: list[tuple[str, Sequence[str], Start]] = [
        ("python -c pass: to its end", ("-c", "pass"), _to_the_end),
        ("chat --help: to its end", (*cli, "chat", "--help"), _to_the_end),
        ("chat, packaged model: to the answer's first byte", (*cli, "chat"), _to_the_first_byte),
        ("serve: to the first getUpdates", PARTNERS, polling),
        ("bare bot: to the first getUpdates", bare("telegram"), polling),
    ]
    if sys.platform != "win32":  # a terminal to talk to exists only there
        commands.insert(2, ("chat: to the prompt", (*cli, "chat"), _to_the_prompt))
    table(
        f"Starting; medians of {runs} runs",
        ("", "ms", "MB", "loads of " + " ".join(HEAVY)),
        [_row(*command, runs) for command in commands],
    )


def _row(name: str, command: Sequence[str], start: Start, runs: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        start(command, Path(folder))
        _, _, told = start(("-X", "importtime", *command), Path(folder))
        loaded = [module for module in HEAVY if _imported(module, told)]
        measured = [start(command, Path(folder)) for _ in range(runs)]
    milliseconds = median([1000 * seconds for seconds, _, _ in measured])
    held = median([mb for _, mb, _ in measured])
    return [name, f"{milliseconds:.0f}", f"{held:.0f}", " ".join(loaded) or "none"]


def _imported(module: str, importtime: str) -> bool:
    """Look into what ``python -X importtime`` wrote."""
    names = (line.rpartition("|")[2].strip() for line in importtime.splitlines() if "|" in line)
    return any(name == module for name in names)


class _Started:
    """A process whose memory is watched until it is there."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        variables: dict[str, str],
        stdin: int,
        stdout: int,
    ) -> None:
        self._began = time.perf_counter()
        self._errors = (folder / "stderr").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=variables,
            stdin=stdin,
            stdout=stdout,
            stderr=self._errors,
        )
        self._held = 0
        self._there = False
        self._watch = Thread(target=self._look)
        self._watch.start()

    def there(self) -> tuple[float, float]:
        """End the watch; return seconds since the start and the most MB that were resident."""
        seconds = time.perf_counter() - self._began
        self._there = True
        self._watch.join()
        return seconds, self._held / 1e6

    def end(self) -> str:
        """End the process; return what it wrote to stderr."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self._errors.seek(0)
        told = self._errors.read().decode("utf-8", "replace")
        self._errors.close()
        return told

    def _look(self) -> None:
        try:
            watched = own(self.process)
            while not self._there:
                self._held = max(self._held, watched.memory_info().rss)
                time.sleep(_POLL_SECONDS)
        except psutil.NoSuchProcess:
            return


def _to_the_end(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    started = _Started(command, folder, _plain(folder), subprocess.DEVNULL, subprocess.DEVNULL)
    started.process.wait(PATIENCE)
    seconds, held = started.there()
    return seconds, held, started.end()


def _to_the_first_byte(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    started = _Started(command, folder, _plain(folder), subprocess.PIPE, subprocess.PIPE)
    assert started.process.stdin is not None and started.process.stdout is not None
    with started.process.stdin as question, started.process.stdout as answer:
        question.write(QUESTION)
        question.close()
        byte = answer.read(1)
        seconds, held = started.there()
        told = started.end()
    if not byte:
        raise BenchError(f"no answer from the packaged model.\n{told[-2000:]}")
    return seconds, held, told


def _to_the_prompt(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    import pty

    ours, theirs = pty.openpty()
    started = _Started(command, folder, {**_plain(folder), "TERM": "xterm"}, theirs, theirs)
    os.close(theirs)
    shown = b""
    try:
        while "›".encode() not in shown:
            shown += os.read(ours, 4096)
        seconds, held = started.there()
    except OSError as error:  # the other side closed its terminal
        started.there()
        raise BenchError(f"no prompt.\n{started.end()[-2000:]}") from error
    finally:
        os.close(ours)
    return seconds, held, started.end()


def _until_polling(command: Sequence[str], folder: Path, base_url: str) -> tuple[float, float, str]:
    with BusyTelegram() as telegram:
        variables = dict(environment(folder, base_url, telegram))
        started = _Started(command, folder, variables, subprocess.DEVNULL, subprocess.DEVNULL)
        try:
            telegram.wait_polling_blocking(PATIENCE)
        finally:
            seconds, held = started.there()
            told = started.end()
    return seconds, held, told


def _plain(folder: Path) -> dict[str, str]:
    """Variables without a channel or a key: the packaged model answers."""
    return dict(Installation(folder).environment)
