"""The model server takes recordings as the real endpoint does, and refuses the rest."""

from __future__ import annotations

import aiohttp
import pytest

from tests.servers.openai import OpenAIServer

OGG = b"OggS and more"


async def post(
    session: aiohttp.ClientSession, server: OpenAIServer, form: object
) -> tuple[int, str]:
    headers = {"Authorization": "Bearer key"}
    url = f"{server.base_url}/audio/transcriptions"
    async with session.post(url, data=form, headers=headers) as response:
        return response.status, await response.text()


def form(
    *, model: str | None = "ears", data: bytes | None = OGG, name: str = "a.ogg", **fields: str
) -> aiohttp.FormData:
    made = aiohttp.FormData(default_to_multipart=True)
    if model is not None:
        made.add_field("model", model)
    if data is not None:
        made.add_field("file", data, filename=name)
    for key, value in fields.items():
        made.add_field(key, value)
    return made


async def test_a_recording_becomes_what_it_says(
    session: aiohttp.ClientSession, openai: OpenAIServer
) -> None:
    openai.hears = "What is mass?"
    status, body = await post(session, openai, form(response_format="json"))
    assert (status, body) == (200, '{"text": "What is mass?"}')
    assert openai.transcriptions[0].json["model"] == "ears"


@pytest.mark.parametrize(
    ("offending", "status", "words"),
    [
        ({"model": None}, 400, "model parameter"),
        ({"data": None}, 400, "'file'"),
        ({"name": "a.oga"}, 400, "Invalid file format"),
        ({"data": b"not sound"}, 400, "Invalid file format"),
        ({"data": b"OggS" + b"\0" * 26_300_000}, 413, "Maximum content size"),
        ({"lenguage": "en"}, 400, "Unrecognized"),
    ],
)
async def test_what_the_endpoint_does_not_take_is_turned_away(
    session: aiohttp.ClientSession,
    openai: OpenAIServer,
    offending: dict[str, str],
    status: int,
    words: str,
) -> None:
    openai.hears = "never"
    refused, body = await post(session, openai, form(**offending))  # type: ignore[arg-type]
    assert refused == status
    assert words in body


async def test_what_is_no_multipart_form_is_turned_away(
    session: aiohttp.ClientSession, openai: OpenAIServer
) -> None:
    openai.hears = "never"
    assert (await post(session, openai, b"x"))[0] == 400


async def test_there_is_no_such_model_unless_a_test_says_so(
    session: aiohttp.ClientSession, openai: OpenAIServer
) -> None:
    assert (await post(session, openai, form()))[0] == 404
