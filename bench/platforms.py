"""The platforms a bot is measured on: their servers, with learners who write as soon as they can.

Learners live on the server's own loop, outside the bot's process.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aiohttp import web

from bench.model_server import MARK
from tests.process import PATIENCE
from tests.servers.base import Answer, LocalServer
from tests.servers.discord import DiscordServer
from tests.servers.faults import RecordedRequest
from tests.servers.feishu import FeishuServer
from tests.servers.telegram import TelegramServer

ANSWER_SECONDS = 60.0
"""An answer that takes longer ends the bench."""


class BenchError(Exception):
    """A bot did not do its work, so there is nothing to measure."""


class Learner(Protocol):
    """A person of any platform."""

    private: Any

    def say(self, text: str) -> object:
        """Write to the bot in private."""


class Busy(LocalServer):
    """A platform without rates whose learners wait for an answer and write again."""

    def __init__(self, **options: Any) -> None:
        super().__init__(keep_requests=1, **options)
        self._learners: list[Learner] = []
        self._waiting: dict[Learner, asyncio.Future[float]] = {}
        self._count = 0

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a call; an answer that now stands in a learner's chat wakes them."""
        answer = await super().respond(request, record)  # type: ignore[safe-super]  # a mixin
        for learner, waiting in list(self._waiting.items()):
            newest = next(reversed(learner.private._messages.values()))
            if newest.from_bot and MARK in newest.text:
                del self._waiting[learner]
                waiting.set_result(time.perf_counter())
        return answer

    def lesson(self, learners: int, turns: int) -> list[float]:
        """Let ``learners`` ask ``turns`` questions in all; return the seconds each one waited."""
        while len(self._learners) < learners:
            self._learners.append(self.learner(len(self._learners)))
        return self.call(self._lesson(self._learners[:learners], turns), within=600)

    @abstractmethod
    def learner(self, number: int) -> Learner:
        """Create the person of that number, from 0."""

    @abstractmethod
    def variables(self) -> Mapping[str, str]:
        """Return what a bot needs to find this server."""

    @abstractmethod
    def wait_here(self) -> None:
        """Wait until a bot listens."""

    async def _lesson(self, people: Sequence[Learner], turns: int) -> list[float]:
        left = iter(range(turns))
        waits: list[float] = []

        async def learn(person: Learner) -> None:
            for _ in left:
                waits.append(await self._ask(person))

        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(learn(person))
        return waits

    async def _ask(self, person: Learner) -> float:
        self._count += 1
        answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        asked = time.perf_counter()
        person.say(f"Question {self._count}: what do I do first with 2x + 3 = 11?")
        self._waiting[person] = answered
        async with asyncio.timeout(ANSWER_SECONDS):
            return await answered - asked


class BusyTelegram(Busy, TelegramServer):
    """Telegram."""

    def __init__(self) -> None:
        super().__init__(rates=None)

    def learner(self, number: int) -> Learner:
        """Create a person."""
        return self.user(1001 + number)

    def variables(self) -> Mapping[str, str]:
        """Token and address."""
        return {"TELEGRAM_BOT_TOKEN": self.token, "TELEGRAM_API_BASE": self.url}

    def wait_here(self) -> None:
        """Wait for the first poll."""
        self.wait_polling_blocking(PATIENCE)


class BusyDiscord(Busy, DiscordServer):
    """Discord."""

    def __init__(self) -> None:
        super().__init__(rates=None)

    def learner(self, number: int) -> Learner:
        """Create a person."""
        return self.user(1001 + number)

    def variables(self) -> Mapping[str, str]:
        """Token and addresses."""
        return {
            "DISCORD_BOT_TOKEN": self.token,
            "DISCORD_API_BASE": self.api_url,
            "DISCORD_GATEWAY_URL": self.gateway_url,
        }

    def wait_here(self) -> None:
        """Wait for a session."""
        self.wait_ready_blocking(PATIENCE)


class BusyFeishu(Busy, FeishuServer):
    """Feishu."""

    def __init__(self) -> None:
        super().__init__(rates=None)

    def learner(self, number: int) -> Learner:
        """Create a person."""
        return self.user(f"Ada{number}")

    def variables(self) -> Mapping[str, str]:
        """The app and the platform's origin."""
        return {
            "FEISHU_APP_ID": self.app_id,
            "FEISHU_APP_SECRET": self.app_secret,
            "FEISHU_DOMAIN": self.url,
        }

    def wait_here(self) -> None:
        """Wait for a long connection."""
        self.wait_connected_blocking(within=PATIENCE)


PLATFORMS: Mapping[str, type[Busy]] = {
    "telegram": BusyTelegram,
    "discord": BusyDiscord,
    "feishu": BusyFeishu,
}
