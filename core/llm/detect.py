"""Which local model servers run on this machine: asked by their own signs, not by open ports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

_LARGEST_REPLY: Final = 65_536


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that answers on loopback."""

    name: str
    """As people know it."""
    base_url: str
    """What to set OPENAI_BASE_URL to."""


@dataclass(frozen=True, slots=True)
class Probe:
    """How to recognise one kind of server."""

    name: str
    port: int
    path: str
    is_it: Callable[[str, Any], bool]
    """Judges the reply's header lines (lower case) and its JSON (None when it is none)."""


def _ollama(_: str, reply: Any) -> bool:
    return isinstance(reply, dict) and set(reply) == {"version"}


def _lm_studio(_: str, reply: Any) -> bool:
    return isinstance(reply, dict) and reply.get("lmstudio") is True


def _llama_cpp(headers: str, reply: Any) -> bool:
    return "\nserver: llama.cpp" in headers and isinstance(reply, dict)


PROBES: Final = (
    Probe("Ollama", 11434, "/api/version", _ollama),
    Probe("LM Studio", 1234, "/lmstudio-greeting", _lm_studio),
    Probe("llama.cpp", 8080, "/health", _llama_cpp),
)


async def detect_servers(
    probes: Sequence[Probe] = PROBES, *, seconds: float = 0.2
) -> tuple[LocalServer, ...]:
    """Return the servers that answer within ``seconds``, all asked at the same time."""
    found = await asyncio.gather(*(_ask(probe, seconds) for probe in probes))
    return tuple(
        LocalServer(probe.name, f"http://127.0.0.1:{probe.port}/v1")
        for probe, is_there in zip(probes, found, strict=True)
        if is_there
    )


async def _ask(probe: Probe, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection("127.0.0.1", probe.port)
            try:
                # HTTP/1.0: the server closes the connection, so the reply ends where it ends.
                host = f"127.0.0.1:{probe.port}"
                writer.write(f"GET {probe.path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                reply = await reader.read(_LARGEST_REPLY)
                while chunk := await reader.read(_LARGEST_REPLY - len(reply)):
                    reply += chunk
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    head, _, body = reply.partition(b"\r\n\r\n")
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    return probe.is_it(head.decode("latin-1").lower(), content)
