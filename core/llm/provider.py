"""One API behind an address: its key, its connections, and what was learned about its models.

The client library takes most of a second to import, so that happens with the first call, or early
by ``begin_loading``.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
from typing import TYPE_CHECKING, Final

from core.llm.quirks import Lessons

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OFFICIAL: Final = "https://api.openai.com/v1"
"""Where a key without a base URL belongs."""
_MODULES: Final = ("openai", "openai.resources.chat.completions")


class Provider:
    """One API with its connections, shared by all its models."""

    def __init__(self, api_key: str, base_url: str) -> None:
        self.lessons = Lessons()
        """What was learned about its models."""
        self._api_key = api_key
        self._base_url = base_url
        self._client: AsyncOpenAI | None = None
        self._loading: threading.Thread | None = None

    def begin_loading(self) -> None:
        """Import the client library in a thread. Safe to repeat."""
        if self._loading is None:
            self._loading = threading.Thread(target=_load, name="model client", daemon=True)
            self._loading.start()

    async def client(self) -> AsyncOpenAI:
        """Return the client, whose own retries are off; it is made at the first call."""
        if self._client is None:
            await asyncio.to_thread(_load)
            import openai

            self._client = self._client or openai.AsyncOpenAI(
                api_key=self._api_key, base_url=self._base_url, max_retries=0
            )
        return self._client

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _load() -> None:
    for module in _MODULES:
        importlib.import_module(module)
