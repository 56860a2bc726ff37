"""The short call to the model, and what is said of each way it fails."""

from __future__ import annotations

import pytest

from bots.command_line.model_check import Access, check_model
from bots.findings import Finding, Level
from tests.doctor.looking import WORDS
from tests.servers.openai import OpenAIServer, Reply

KEY = "sk-test-0123456789abcdef"


async def look(address: str, model: str | None = "scripted", seconds: float = 20.0) -> Finding:
    return await check_model(Access(model, KEY, address), WORDS, seconds=seconds)


async def test_a_model_that_answers_is_found_well(openai: OpenAIServer) -> None:
    openai.script(Reply("ready"))
    finding = await look(openai.base_url)
    assert finding.level is Level.OK
    assert finding.text.startswith("scripted answers")
    assert len(openai.chats) == 1


async def test_a_model_that_says_nothing_is_a_warning(openai: OpenAIServer) -> None:
    openai.script(Reply("", finish="length"))
    finding = await look(openai.base_url)
    assert finding.level is Level.WARNING
    assert "(length)" in finding.text


@pytest.mark.parametrize(
    ("status", "code", "said", "fix"),
    [
        (401, "invalid_api_key", "does not accept the key", "OPENAI_API_KEY"),
        (429, "insufficient_quota", "takes no more calls", "money or quota"),
        (400, "bad", "does not take the request", "PARTNERS_MODEL"),
    ],
)
async def test_each_refusal_says_what_to_do(
    openai: OpenAIServer, status: int, code: str, said: str, fix: str
) -> None:
    openai.default = Reply.failing(status, f"No. Your key {KEY} was seen.", code=code)
    finding = await look(openai.base_url)
    assert finding.level is Level.FAULT
    assert said in finding.text
    assert fix in finding.fix
    assert KEY not in finding.text + finding.fix


async def test_a_model_nobody_knows_is_told_with_those_that_are_like_it() -> None:
    with OpenAIServer(models=["gpt-small", "gpt-large", "whisper"]) as openai:
        finding = await look(openai.base_url, "gpt-smal")
        assert "has no model “gpt-smal”" in finding.text
        assert "It has: gpt-small" in finding.fix
        openai.fail("models", 404, b"{}")
        finding = await look(openai.base_url, "gpt-smal")
        assert "end in /v1" in finding.fix


async def test_a_server_out_of_reach_or_silent_is_told() -> None:
    finding = await look("http://127.0.0.1:9/v1", seconds=0.5)
    assert finding.level is Level.FAULT
    assert "http://127.0.0.1:9/v1 gives no answer" in finding.text
    assert "OPENAI_BASE_URL" in finding.fix


async def test_settings_that_mean_no_model_are_a_fault() -> None:
    finding = await look("http://127.0.0.1:9/v1", model=None)
    assert finding.level is Level.FAULT
    assert "PARTNERS_MODEL" in finding.text
