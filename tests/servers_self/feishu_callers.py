"""A caller of the Feishu server that knows nothing of the client library: raw HTTP, raw frames."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp

from tests.servers.feishu import FeishuServer
from tests.servers.feishu.frames import CONTROL, DATA, Frame, decode


class LongConnection:
    """One open long connection, read and answered frame by frame."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, service: int) -> None:
        self.socket = socket
        self.service = service

    async def frame(self) -> Frame:
        """Return the next frame."""
        async with asyncio.timeout(10):
            return decode(await self.socket.receive_bytes())

    async def event(self) -> tuple[dict[str, Any], Frame]:
        """Return the next event, put together from its parts, and its last frame."""
        frame = await self.frame()
        parts = [frame.payload]
        while len(parts) < int(frame.headers["sum"]):
            frame = await self.frame()
            parts.append(frame.payload)
        body: dict[str, Any] = json.loads(b"".join(parts))
        return body, frame

    async def acknowledge(self, frame: Frame, code: int = 200, data: object = None) -> None:
        """Answer an event: the same frame with another payload."""
        answer: dict[str, Any] = {"code": code}
        if data is not None:
            answer["data"] = base64.b64encode(json.dumps(data).encode()).decode()
        await self.send(replace(frame, payload=json.dumps(answer).encode()))

    async def accept(self, data: object = None) -> dict[str, Any]:
        """Return the next event once it has been answered with 200."""
        body, frame = await self.event()
        await self.acknowledge(frame, data=data)
        return body

    async def ping(self) -> dict[str, Any]:
        """Ping; return the configuration in the pong."""
        await self.send(Frame(CONTROL, {"type": "ping"}, service=self.service))
        pong = await self.frame()
        assert (pong.method, pong.headers["type"]) == (CONTROL, "pong")
        config: dict[str, Any] = json.loads(pong.payload)
        return config

    async def send(self, frame: Frame) -> None:
        """Send any frame."""
        assert frame.method in (CONTROL, DATA)
        await self.socket.send_bytes(frame.encode())


class OpenApi:
    """Calls the open platform; returns status and decoded answer."""

    def __init__(self, session: aiohttp.ClientSession, server: FeishuServer) -> None:
        self.session = session
        self.server = server
        self.token = ""

    async def fetch_token(self) -> int:
        """Fetch a token for the calls to come; return the seconds it is good for."""
        url = f"{self.server.url}/open-apis/auth/v3/tenant_access_token/internal"
        secrets = {"app_id": self.server.app_id, "app_secret": self.server.app_secret}
        async with self.session.post(url, json=secrets) as response:
            answer = await response.json()
        assert answer["code"] == 0, answer
        self.token = answer["tenant_access_token"]
        return int(answer["expire"])

    async def __call__(
        self, method: str, path: str, body: Any = None, **query: str
    ) -> tuple[int, dict[str, Any]]:
        if not self.token:
            await self.fetch_token()
        form = body if isinstance(body, aiohttp.FormData) else None
        async with self.session.request(
            method,
            f"{self.server.url}/open-apis{path}",
            params=query,
            json=None if form is not None else body,
            data=form,
            headers={"Authorization": f"Bearer {self.token}"},
        ) as response:
            assert response.headers["X-Tt-Logid"]
            return response.status, await response.json()

    async def data(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Return the data of a call that must succeed."""
        status, answer = await self(method, path, body, **query)
        assert (status, answer["code"]) == (200, 0), answer
        return answer["data"]

    async def refused(
        self, method: str, path: str, body: Any = None, **query: str
    ) -> tuple[int, str]:
        """Return code and sentence of a call that must fail with HTTP 400."""
        status, answer = await self(method, path, body, **query)
        assert status == 400, answer
        assert answer["code"] != 0 and answer["error"]["log_id"]
        return answer["code"], answer["msg"]

    async def endpoint(self, **changed: str) -> dict[str, Any]:
        """Ask for the address of the long connection."""
        secrets = {"AppID": self.server.app_id, "AppSecret": self.server.app_secret, **changed}
        url = f"{self.server.url}/callback/ws/endpoint"
        async with self.session.post(url, json=secrets, headers={"locale": "zh"}) as response:
            assert response.status == 200
            answer: dict[str, Any] = await response.json()
            return answer

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[LongConnection]:
        """Open a long connection."""
        address = (await self.endpoint())["data"]["URL"]
        already = len(self.server.connections)
        async with self.session.ws_connect(address) as socket:
            await self.server.wait_connected(already + 1)
            yield LongConnection(socket, 1)


def sending(kind: str, content: object, **more: Any) -> dict[str, Any]:
    """Return the body of a message to send."""
    return {"msg_type": kind, "content": json.dumps(content, ensure_ascii=False), **more}


def card(*elements: object, **root: Any) -> dict[str, Any]:
    """Return a card JSON 2.0 with these elements."""
    return {"schema": "2.0", "body": {"elements": list(elements)}, **root}


def markdown(text: str, **more: Any) -> dict[str, Any]:
    """Return a markdown element."""
    return {"tag": "markdown", "content": text, **more}


def button(label: str, value: Any = None, /, **more: Any) -> dict[str, Any]:
    """Return a button; with a value it calls back."""
    behaviors = [] if value is None else [{"type": "callback", "value": value}]
    text = {"tag": "plain_text", "content": label}
    return {"tag": "button", "text": text, "behaviors": behaviors, **more}
