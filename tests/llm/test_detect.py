"""Local model servers are recognised by what they say, on real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from core.llm.detect import PROBES, LocalServer, Probe, detect_servers

OLLAMA, LM_STUDIO, LLAMA_CPP = PROBES


@asynccontextmanager
async def serving(probe: Probe, reply: bytes | None) -> AsyncIterator[Probe]:
    """Answer the probe's path with ``reply``, everything else with 404; None never answers."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if reply is not None:
            known = request.split()[1] == probe.path.encode()
            writer.write(reply if known else b"HTTP/1.1 404 Not Found\r\n\r\n")
            await writer.drain()
        else:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield replace(probe, port=server.sockets[0].getsockname()[1])


@pytest.mark.parametrize(
    ("probe", "reply"),
    [
        (OLLAMA, b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"version":"0.12"}'),
        (LM_STUDIO, b'HTTP/1.1 200 OK\r\n\r\n{"lmstudio":true}'),
        (LLAMA_CPP, b'HTTP/1.1 200 OK\r\nServer: llama.cpp\r\n\r\n{"status":"ok"}'),
        (LLAMA_CPP, b'HTTP/1.1 503 x\r\nServer: llama.cpp\r\n\r\n{"error":{"code":503}}'),
    ],
)
async def test_a_server_is_known_by_its_own_sign(probe: Probe, reply: bytes) -> None:
    async with serving(probe, reply) as here:
        found = await detect_servers([here], seconds=5)
    assert found == (LocalServer(probe.name, f"http://127.0.0.1:{here.port}/v1"),)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n<html>hello</html>",
        b"HTTP/1.1 200 OK\r\n\r\n[1]",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
async def test_another_program_on_the_port_is_not_taken_for_it(probe: Probe, reply: bytes) -> None:
    async with serving(probe, reply) as here:
        assert await detect_servers([here], seconds=5) == ()


async def test_silence_and_closed_ports_cost_only_the_time_limit() -> None:
    async with serving(OLLAMA, None) as silent, asyncio.timeout(10):
        closed = replace(LM_STUDIO, port=9)
        assert await detect_servers([silent, closed], seconds=0.05) == ()
