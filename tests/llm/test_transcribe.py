"""Speech to text: real client library, real sockets, a strict server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import openai.resources.audio  # noqa: F401 - its import counts against no deadline
import pytest

from core.llm.port import ModelError, ModelErrorKind
from core.llm.transcribe import Transcriber
from tests.servers.openai import OpenAIServer

OGG = b"OggS and more"


@pytest.fixture
async def ears(server: OpenAIServer) -> AsyncIterator[Transcriber]:
    one = Transcriber(name="ears", api_key="k", base_url=server.base_url, backoff=0.01)
    yield one
    await one.close()


async def heard(ears: Transcriber, sound: bytes = OGG, *, seconds: float = 30) -> str:
    deadline = asyncio.get_running_loop().time() + seconds
    return await ears.transcribe(sound, suffix="ogg", deadline=deadline)


async def test_a_recording_becomes_its_words(server: OpenAIServer, ears: Transcriber) -> None:
    server.hears = "  What is mass? "
    assert await heard(ears) == "What is mass?"
    assert server.transcriptions[0].json["model"] == "ears"


async def test_what_breaks_is_tried_again(server: OpenAIServer, ears: Transcriber) -> None:
    server.hears = "Hello."
    server.fail("audio.transcriptions", 503, times=2)
    assert await heard(ears) == "Hello."
    assert len(server.transcriptions) == 3


async def test_what_cannot_be_mended_is_asked_once(server: OpenAIServer, ears: Transcriber) -> None:
    with pytest.raises(ModelError) as failed:
        await heard(ears)
    assert failed.value.kind is ModelErrorKind.UNKNOWN_MODEL
    assert len(server.transcriptions) == 1


async def test_a_sound_that_is_none_is_refused(server: OpenAIServer, ears: Transcriber) -> None:
    server.hears = "never"
    with pytest.raises(ModelError) as failed:
        await heard(ears, b"text")
    assert failed.value.kind is ModelErrorKind.REFUSED
