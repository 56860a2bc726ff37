"""A second model answers where the first cannot be had, and only there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

import pytest

from core.llm.client import OpenAIModel
from core.llm.fallback import FallbackModel
from core.llm.port import (
    ChatMessage,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    Usage,
)
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, Trouble

ASKED = ChatRequest((ChatMessage("user", "Why?"),), (), 500, 0.2)


@pytest.fixture
def other() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.default = Reply("Second.", prompt_tokens=5, completion_tokens=2)
        yield running


@pytest.fixture
async def both(server: OpenAIServer, other: OpenAIServer) -> AsyncIterator[FallbackModel]:
    first = OpenAIModel(name="first", api_key="k", base_url=server.base_url, backoff=0.001)
    second = OpenAIModel(name="second", api_key="k", base_url=other.base_url, backoff=0.001)
    yield (one := FallbackModel(first, second))
    await one.close()


async def answer(model: FallbackModel, *, seconds: float = 30) -> list[ModelEvent]:
    deadline = asyncio.get_running_loop().time() + seconds
    return [event async for event in model.stream(ASKED, deadline=deadline)]


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


async def test_the_first_answers_while_it_can(
    server: OpenAIServer, other: OpenAIServer, both: FallbackModel
) -> None:
    server.default = Reply("First.", prompt_tokens=4, completion_tokens=1)
    events = await answer(both)
    assert text(events) == "First."
    assert events[-1] == Completed((), "stop", Usage(4, 1))
    assert (both.name, other.chats) == ("first", [])


@pytest.mark.parametrize(
    "broken",
    [
        Reply.failing(401, "bad key"),
        Reply.failing(404, "no such model", code="model_not_found"),
        Reply.rate_limited(90),
        Reply.failing(429, "paid out", code="insufficient_quota"),
        Reply.failing(503, "overloaded"),
        Reply("lost", trouble=Trouble.DROP),
    ],
)
async def test_the_second_answers_what_the_first_cannot_and_says_so(
    server: OpenAIServer, both: FallbackModel, broken: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    server.default = broken
    with caplog.at_level(logging.WARNING):
        events = await answer(both)
    assert text(events) == "Second."
    assert events[-1] == Completed((), "stop", Usage(5, 2, stand_in="second"))
    assert "first cannot be had" in caplog.text
    assert both.name == "second"
    asked = len(server.chats)
    assert text(await answer(both)) == "Second."
    assert len(server.chats) == asked, "the first one rests"


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (Reply.failing(400, "bad content"), ModelErrorKind.REFUSED),
        (
            Reply.failing(400, "too long", code="context_length_exceeded"),
            ModelErrorKind.CONTEXT_EXCEEDED,
        ),
        (
            Reply("Because.", chunks=4, trouble=Trouble.DROP, trouble_after=2),
            ModelErrorKind.UNAVAILABLE,
        ),
    ],
)
async def test_what_another_model_would_not_mend_stays_the_firsts(
    server: OpenAIServer, other: OpenAIServer, both: FallbackModel, broken: Reply, kind: str
) -> None:
    server.default = broken
    with pytest.raises(ModelError) as failed:
        await answer(both)
    assert failed.value.kind == kind
    assert (both.name, other.chats) == ("first", [])


async def test_a_first_that_hangs_leaves_half_of_the_time(
    server: OpenAIServer, both: FallbackModel
) -> None:
    gate = Gate()
    server.default = Reply.hanging(gate, "late")
    assert text(await answer(both, seconds=1.0)) == "Second."
    gate.release()


async def test_when_neither_can_be_had_the_second_says_why(
    server: OpenAIServer, other: OpenAIServer, both: FallbackModel
) -> None:
    server.default = Reply.failing(401, "bad key")
    other.default = Reply.failing(404, "no such model", code="model_not_found")
    with pytest.raises(ModelError) as failed:
        await answer(both)
    assert failed.value.kind is ModelErrorKind.UNKNOWN_MODEL


async def test_another_model_of_the_first_provider_has_the_same_second(
    server: OpenAIServer, both: FallbackModel
) -> None:
    server.default = Reply.failing(401, "bad key")
    special = both.named("special")
    assert both.named("first") is both
    assert text(await answer(special)) == "Second."
    assert (special.name, both.name) == ("second", "first")
    assert both.named("special") is special
