"""Speech to text by an OpenAI-compatible transcription endpoint (``/audio/transcriptions``)."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from core.llm.port import ModelError, ModelErrorKind
from core.llm.provider import Provider
from core.llm.retries import retrying
from core.llm.whole import whole
from core.llm.wire import PassingError, translated

log = logging.getLogger(__name__)

LONGEST: Final = 20_000
"""Characters of one transcript."""


class Transcriber:
    """One model that understands speech; ``backoff`` is the first wait between tries in seconds."""

    def __init__(self, *, name: str, api_key: str, base_url: str, backoff: float = 0.5) -> None:
        self.name = name
        self._backoff = backoff
        self._provider = Provider(api_key, base_url)

    async def transcribe(self, sound: bytes, *, suffix: str, deadline: float) -> str:
        """Return the words of a recording; empty when there are none.

        ``suffix`` is the file extension by which providers know the format, ``deadline`` the
        running loop's time (seconds) at which it has to be done. Raises ModelError.
        """
        again = retrying(self.name, first=self._backoff, deadline=deadline)
        text: str = await again(self._once, sound, f"voice.{suffix}", deadline)
        return text

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()

    async def _once(self, sound: bytes, name: str, deadline: float) -> str:
        client = await self._provider.client()
        import openai

        left = max(deadline - asyncio.get_running_loop().time(), 0.1)
        try:
            async with asyncio.timeout(left):
                # Plain JSON is what every server gives, whatever the model.
                heard = await client.audio.transcriptions.create(
                    model=self.name, file=(name, sound), response_format="json", timeout=left
                )
        except TimeoutError as error:
            raise ModelError(ModelErrorKind.UNAVAILABLE, "no transcript in time") from error
        except openai.APIError as error:
            raise translated(error, began=False) from error
        except ValueError as error:  # an answer that is no JSON
            raise PassingError(ModelErrorKind.UNAVAILABLE, f"unreadable: {error}") from error
        text = getattr(heard, "text", None)
        if not isinstance(text, str):
            raise ModelError(ModelErrorKind.UNAVAILABLE, "a transcript without text")
        return whole(text).strip()[:LONGEST]
