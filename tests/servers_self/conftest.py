"""Servers to test, and raw callers that know nothing of the client libraries."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import DiscordServer
from tests.servers.feishu import Clock, FeishuServer
from tests.servers.openai import OpenAIServer
from tests.servers.telegram import TelegramServer
from tests.servers_self.discord_raw import DiscordApi, GatewayClient
from tests.servers_self.feishu_callers import OpenApi


class BotApi:
    """Calls a Bot API with JSON bodies; returns status and decoded answer."""

    def __init__(self, session: aiohttp.ClientSession, server: TelegramServer) -> None:
        self.session = session
        self.server = server

    async def __call__(self, method: str, **parameters: Any) -> tuple[int, dict[str, Any]]:
        url = f"{self.server.url}/bot{self.server.token}/{method}"
        async with self.session.post(url, json=parameters) as response:
            return response.status, await response.json()

    async def result(self, method: str, **parameters: Any) -> Any:
        """Return the result of a call that must succeed."""
        status, answer = await self(method, **parameters)
        assert status == 200, answer
        return answer["result"]

    async def refused(self, method: str, **parameters: Any) -> tuple[int, str]:
        """Return status and description of a call that must fail."""
        status, answer = await self(method, **parameters)
        assert answer["ok"] is False, answer
        assert answer["error_code"] == status
        return status, answer["description"]


class ModelApi:
    """Posts raw completion requests; returns status and body text."""

    def __init__(self, session: aiohttp.ClientSession, server: OpenAIServer) -> None:
        self.session = session
        self.server = server

    async def text(self, **request: Any) -> tuple[int, str]:
        """Return status and body of a request for a completion."""
        given = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **request}
        sent = {name: value for name, value in given.items() if value is not ...}
        async with self.session.post(
            f"{self.server.base_url}/chat/completions",
            json=sent,
            headers={"Authorization": "Bearer key"},
        ) as response:
            return response.status, await response.text()

    async def refused(self, **request: Any) -> tuple[int, dict[str, Any]]:
        """Return status and error object of a request that must fail."""
        status, body = await self.text(**request)
        assert status != 200, body
        error = json.loads(body)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return status, error


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as opened:
        yield opened


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        yield server


@pytest.fixture
def api(session: aiohttp.ClientSession, telegram: TelegramServer) -> BotApi:
    return BotApi(session, telegram)


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def model(session: aiohttp.ClientSession, openai: OpenAIServer) -> ModelApi:
    return ModelApi(session, openai)


@pytest.fixture
def discord() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def rest(session: aiohttp.ClientSession, discord: DiscordServer) -> DiscordApi:
    return DiscordApi(session, discord)


@pytest.fixture
def line(session: aiohttp.ClientSession, discord: DiscordServer) -> GatewayClient:
    return GatewayClient(session, discord)


@pytest.fixture
def feishu() -> Iterator[FeishuServer]:
    # Its time passes only when a test says so: a slow machine lets nothing run out.
    with FeishuServer(rates=None, clock=Clock(lambda: 1_800_000_000.0)) as server:
        yield server


@pytest.fixture
def platform(session: aiohttp.ClientSession, feishu: FeishuServer) -> OpenApi:
    return OpenApi(session, feishu)
