"""A bot under measurement in its own process, and the model server it calls.

No server does its work in the bot's process, so the processor time of that process is the bot's
alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # ships no type information

from bench.platforms import PLATFORMS, BenchError, Busy
from tests.process import PATIENCE, ROOT, Installation

PARTNERS = ("-m", "bots.cli", "serve")

REST_SECONDS = 0.3
"""After the last answer a bot has receipts and journals to write, which count as its work."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one lesson came to."""

    seconds: float
    waits: list[float]
    """Seconds from question to answer, one a turn."""
    cpu: float
    """Processor seconds of the bot's process."""

    @property
    def turns_per_second(self) -> float:
        """Turns answered each second."""
        return len(self.waits) / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of processor time a turn."""
        return 1000 * self.cpu / len(self.waits)


class RunningBot:
    """A bot in its own process, listening."""

    def __init__(self, process: subprocess.Popen[bytes], platform: Busy) -> None:
        self._process = own(process)
        self._platform = platform

    def teach(self, learners: int, turns: int) -> Lesson:
        """Hold a lesson and measure it."""
        before = self._cpu()
        start = time.perf_counter()
        waits = self._platform.lesson(learners, turns)
        seconds = time.perf_counter() - start
        time.sleep(REST_SECONDS)
        return Lesson(seconds, waits, self._cpu() - before)

    @property
    def resident(self) -> float:
        """Resident memory in MB."""
        return float(self._process.memory_info().rss) / 1e6

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


def own(process: subprocess.Popen[bytes]) -> psutil.Process:
    """Return the interpreter's process: on Windows ``python.exe`` of an environment starts it."""
    started = psutil.Process(process.pid)
    children = started.children() if sys.platform == "win32" else []
    return children[0] if children else started


@contextmanager
def model_server() -> Iterator[str]:
    """Run the model server in its own process; yields its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.model_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(PATIENCE)


def bare(platform: str) -> tuple[str, ...]:
    """Return how the bare bot of a platform is started."""
    return ("-m", f"bench.bare.{platform}")


def environment(folder: Path, base_url: str, platform: Busy) -> Mapping[str, str]:
    """Prepare a folder to run a bot in; return its variables: open to all, without rates."""
    lifted = "".join(f"[channels.{name}]\nlimits = false\n" for name in ("telegram", "feishu"))
    (folder / "partners.toml").write_text(
        f"[conversation]\njoin_seconds = 0\n{lifted}", encoding="utf-8"
    )
    installation = Installation(
        folder,
        None,
        None,
        OPENAI_API_KEY="sk-bench",
        OPENAI_BASE_URL=base_url,
        PARTNERS_MODEL="bench",
        PARTNERS_ACCESS="open",
        **platform.variables(),
    )
    return installation.environment


@contextmanager
def bot(
    arguments: Sequence[str], folder: Path, base_url: str, platform: str = "telegram"
) -> Iterator[RunningBot]:
    """Run a bot in ``folder`` against a platform's server of its own until the block is left.

    Raises BenchError, with the end of the bot's log, when it does not work.
    """
    log = folder / "log"
    with PLATFORMS[platform]() as server, log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment(folder, base_url, server),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        try:
            server.wait_here()
            yield RunningBot(process, server)
        except (TimeoutError, ExceptionGroup) as error:
            tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise BenchError(f"{' '.join(arguments)} did not answer.\n{tail}") from error
        finally:
            process.kill()
            process.wait(PATIENCE)
