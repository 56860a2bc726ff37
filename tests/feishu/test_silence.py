"""A platform that says nothing any more, not even goodbye."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from websockets.http11 import Request
from websockets.server import ServerProtocol

from bots.feishu.connection import _Client


async def _nothing(payload: bytes) -> Mapping[str, object] | None:
    return None


async def test_a_connection_ends_although_nobody_answers_the_goodbye() -> None:
    ended = asyncio.Event()

    async def greet_and_fall_silent(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        protocol = ServerProtocol()
        protocol.receive_data(await reader.readuntil(b"\r\n\r\n"))
        (request,) = protocol.events_received()
        assert isinstance(request, Request)
        protocol.send_response(protocol.accept(request))
        writer.write(b"".join(protocol.data_to_send()))
        try:
            while await reader.read(4096):
                pass
        except ConnectionResetError:
            pass
        ended.set()
        writer.close()

    server = await asyncio.start_server(greet_and_fall_silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        client = _Client("cli_a", _nothing)
        await client.open({"URL": f"ws://127.0.0.1:{port}/?device_id=d&service_id=1"})
        await client.shut(0)
        async with asyncio.timeout(5):
            await ended.wait()
