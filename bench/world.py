"""Everything a bot under measurement talks to: the Bot API server, its learners, the model server.

The bot runs in a process of its own and neither server does its work there, so the processor time
of that process is the bot's alone. Learners live on the Bot API server's loop: each writes again as
soon as it is answered.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # ships no type information
from aiohttp import web

from bench.model_server import MARK
from tests.process import PATIENCE, ROOT, Installation
from tests.servers.base import Answer
from tests.servers.faults import RecordedRequest
from tests.servers.telegram import TelegramServer
from tests.servers.telegram.people import Person

PARTNERS = ("-m", "bots.cli", "serve")
BARE = ("-m", "bench.bare_bot")

ANSWER_SECONDS = 60.0
"""An answer that takes longer ends the bench."""
REST_SECONDS = 0.3
"""After the last answer a bot has receipts and journals to write, which count as its work."""


class BenchError(Exception):
    """A bot did not do its work, so there is nothing to measure."""


class BusyTelegram(TelegramServer):
    """A Bot API server without rates whose learners wait for an answer and write again."""

    def __init__(self) -> None:
        super().__init__(rates=None, keep_requests=1)
        self._people: list[Person] = []
        self._waiting: dict[int, asyncio.Future[float]] = {}
        self._count = 0

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a call; an answer to a learner wakes them."""
        answer = await super().respond(request, record)
        if record.name == "sendMessage":
            waiting = self._waiting.pop(int(record.json["chat_id"]), None)
            if waiting is not None and not waiting.done():
                if MARK in record.json["text"]:
                    waiting.set_result(time.perf_counter())
                else:
                    waiting.set_exception(BenchError(f"not an answer: {record.json['text']}"))
        return answer

    def lesson(self, learners: int, turns: int) -> list[float]:
        """Let ``learners`` ask ``turns`` questions in all; return the seconds each one waited."""
        while len(self._people) < learners:
            self._people.append(self.user(1001 + len(self._people)))
        return self.call(self._lesson(self._people[:learners], turns), within=600)

    async def _lesson(self, people: Sequence[Person], turns: int) -> list[float]:
        left = iter(range(turns))
        waits: list[float] = []

        async def learn(person: Person) -> None:
            for _ in left:
                waits.append(await self._ask(person))

        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(learn(person))
        return waits

    async def _ask(self, person: Person) -> float:
        self._count += 1
        answered = self._waiting[person.id] = asyncio.get_running_loop().create_future()
        asked = time.perf_counter()
        person.say(f"Question {self._count}: what do I do first with 2x + 3 = 11?")
        async with asyncio.timeout(ANSWER_SECONDS):
            end: float = await answered
            return end - asked


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
    """A bot in its own process, polling."""

    def __init__(self, process: subprocess.Popen[bytes], telegram: BusyTelegram) -> None:
        self._process = own(process)
        self._telegram = telegram

    def teach(self, learners: int, turns: int) -> Lesson:
        """Hold a lesson and measure it."""
        before = self._cpu()
        start = time.perf_counter()
        waits = self._telegram.lesson(learners, turns)
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


def environment(folder: Path, base_url: str, telegram: TelegramServer) -> Mapping[str, str]:
    """Prepare a folder to run a bot in; return its variables: open to all, without rates."""
    (folder / "partners.toml").write_text(
        "[conversation]\njoin_seconds = 0\n[channels.telegram]\nlimits = false\n", encoding="utf-8"
    )
    installation = Installation(
        folder,
        telegram,
        OPENAI_API_KEY="sk-bench",
        OPENAI_BASE_URL=base_url,
        PARTNERS_MODEL="bench",
        PARTNERS_ACCESS="open",
    )
    return installation.environment


@contextmanager
def bot(arguments: Sequence[str], folder: Path, base_url: str) -> Iterator[RunningBot]:
    """Run a bot in ``folder`` against a Bot API server of its own until the block is left.

    Raises BenchError, with the end of the bot's log, when it does not work.
    """
    log = folder / "log"
    with BusyTelegram() as telegram, log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment(folder, base_url, telegram),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        try:
            telegram.wait_polling_blocking(PATIENCE)
            yield RunningBot(process, telegram)
        except (TimeoutError, ExceptionGroup) as error:
            tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise BenchError(f"{' '.join(arguments)} did not answer.\n{tail}") from error
        finally:
            process.kill()
            process.wait(PATIENCE)
