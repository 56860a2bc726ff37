"""A model server and a model that talks to it through the real client library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import openai.resources.chat.completions  # noqa: F401 - its import counts against no deadline
import pytest

from core.llm.client import OpenAIModel
from tests.servers.openai import OpenAIServer


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[OpenAIModel]:
    one = OpenAIModel(name="test-model", api_key="k", base_url=server.base_url, backoff=0.01)
    yield one
    await one.close()
