"""Raw callers of a Discord server that know nothing of a client library."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, Self

import aiohttp

from tests.servers.discord import Chat, DiscordServer, Press
from tests.servers.discord.intents import (
    DIRECT_MESSAGES,
    DIRECT_REACTIONS,
    GUILD_MESSAGES,
    GUILD_REACTIONS,
    GUILDS,
    MESSAGE_CONTENT,
)

INTENTS = (
    GUILDS | GUILD_MESSAGES | GUILD_REACTIONS | DIRECT_MESSAGES | DIRECT_REACTIONS | MESSAGE_CONTENT
)

ASK = {
    "name": "ask",
    "description": "Ask a question",
    "options": [
        {"type": 3, "name": "question", "description": "What", "required": True},
        {"type": 4, "name": "depth", "description": "How deep", "min_value": 1, "max_value": 3},
        {"type": 6, "name": "who", "description": "Whom"},
        {"type": 11, "name": "file", "description": "A file"},
        {"type": 3, "name": "subject", "description": "Subject", "autocomplete": True},
        {
            "type": 3,
            "name": "mood",
            "description": "Mood",
            "choices": [{"name": "calm", "value": "c"}],
        },
    ],
}
MEMORY = {
    "name": "memory",
    "description": "Memory",
    "options": [
        {
            "type": 1,
            "name": "forget",
            "description": "Forget",
            "options": [
                {"type": 3, "name": "what", "description": "What", "required": True},
            ],
        }
    ],
}


class DiscordApi:
    """Calls the REST API with JSON bodies; returns status and decoded answer."""

    def __init__(self, session: aiohttp.ClientSession, server: DiscordServer) -> None:
        self.session = session
        self.server = server
        self.headers: Mapping[str, str] = {}
        """Of the last answer."""

    async def __call__(
        self,
        line: str,
        body: object = None,
        *,
        token: str | None = None,
        form: aiohttp.FormData | None = None,
    ) -> tuple[int, Any]:
        method, _, path = line.partition(" ")
        given = self.server.token if token is None else token
        headers = {"Authorization": f"Bot {given}"} if given else {}
        url = path if path.startswith("http") else self.server.api_url + path
        sent: dict[str, Any] = {"data": form} if form is not None else {}
        if body is not None:
            sent["json"] = body
        async with self.session.request(method, url, headers=headers, **sent) as response:
            self.headers = response.headers
            if response.status == 204:
                return 204, None
            assert response.headers["Content-Type"] == "application/json"
            return response.status, await response.json()

    async def result(self, line: str, body: object = None, **more: Any) -> Any:
        """Return the answer of a call that must succeed."""
        status, answer = await self(line, body, **more)
        assert 200 <= status < 300, answer
        return answer

    async def refused(self, line: str, body: object = None, **more: Any) -> tuple[int, int]:
        """Return status and error code of a call that must fail."""
        status, answer = await self(line, body, **more)
        assert status >= 400, answer
        assert set(answer) >= {"message", "code"}
        return status, answer["code"]

    async def invalid(self, line: str, body: object = None, **more: Any) -> dict[str, str]:
        """Return the places of a body that was refused, each with its error code."""
        status, answer = await self(line, body, **more)
        assert (status, answer["code"]) == (400, 50035), answer
        return dict(_flat("", answer["errors"]))

    async def send(self, chat: Chat, **fields: Any) -> Any:
        """Return a message sent to a chat."""
        return await self.result(f"POST /channels/{chat.id}/messages", fields)


def _flat(place: str, tree: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for key, value in tree.items():
        if key == "_errors":
            found.append((place, value[0]["code"]))
        else:
            found += _flat(f"{place}.{key}" if place else key, value)
    return found


class GatewayClient:
    """One websocket to the gateway."""

    def __init__(self, session: aiohttp.ClientSession, server: DiscordServer) -> None:
        self.session = session
        self.server = server
        self.socket: aiohttp.ClientWebSocketResponse
        self._inflate = zlib.decompressobj()
        self.seq: int | None = None

    async def connect(self, url: str | None = None, **query: str) -> Self:
        """Connect without a word."""
        asked = {"v": "10", "encoding": "json", **query}
        self.socket = await self.session.ws_connect(url or self.server.gateway_url, params=asked)
        return self

    async def next(self) -> dict[str, Any]:
        """Return the next payload; AssertionError when the connection closes instead."""
        message = await self.socket.receive(10)
        if message.type is aiohttp.WSMsgType.BINARY:
            assert message.data.endswith(b"\x00\x00\xff\xff")
            payload = json.loads(self._inflate.decompress(message.data))
        else:
            assert message.type is aiohttp.WSMsgType.TEXT, message
            payload = json.loads(message.data)
        assert isinstance(payload, dict)
        self.seq = payload.get("s") or self.seq
        return payload

    async def event(self, name: str) -> Any:
        """Return the data of the next dispatch, which must be this one."""
        payload = await self.next()
        assert payload.get("t") == name, payload
        return payload["d"]

    async def send(self, op: int, data: object) -> None:
        """Send a payload."""
        await self.socket.send_json({"op": op, "d": data})

    async def identify(self, intents: int = INTENTS, **fields: Any) -> Any:
        """Connect, say who we are and return READY."""
        await self.connect()
        assert (await self.next())["op"] == 10
        await self.send(2, self.identity(intents=intents, **fields))
        return await self.event("READY")

    def identity(self, **fields: Any) -> dict[str, Any]:
        """Return the data of an IDENTIFY."""
        return {
            "token": self.server.token,
            "properties": {"os": "linux", "browser": "raw", "device": "raw"},
            "intents": INTENTS,
            **fields,
        }

    async def resume(self, ready: dict[str, Any], seq: int | None) -> None:
        """Connect to the address for resuming and ask for what was missed after ``seq``."""
        await self.connect(ready["resume_gateway_url"])
        assert (await self.next())["op"] == 10
        asked = {"token": self.server.token, "session_id": ready["session_id"], "seq": seq}
        await self.send(6, asked)

    async def close_code(self) -> int | None:
        """Return the code the server closes with, whatever comes before."""
        while True:
            message = await self.socket.receive(10)
            if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                continue
            return self.socket.close_code


class Answers:
    """The endpoints that answer one interaction."""

    def __init__(self, rest: DiscordApi, press: Press) -> None:
        self.callback = f"POST /interactions/{press.interaction_id}/{press.token}/callback"
        hook = f"/webhooks/{rest.server.state.application_id}/{press.token}"
        self.follow = f"POST {hook}"
        self.original = f"{hook}/messages/@original"
        self.message = f"{hook}/messages"
