"""The model call of the bare bots: one prompt, streamed, put together."""

from __future__ import annotations

import os

from openai import AsyncOpenAI


class Model:
    """Reads the same variables as ``partners serve``."""

    def __init__(self) -> None:
        self._client = AsyncOpenAI()
        self._name = os.environ["PARTNERS_MODEL"]

    async def answer(self, question: str) -> str:
        """Return the whole answer to a question."""
        stream = await self._client.chat.completions.create(
            model=self._name,
            messages=[
                {"role": "system", "content": "You are a patient tutor."},
                {"role": "user", "content": question},
            ],
            stream=True,
        )
        text = ""
        async for chunk in stream:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        return text
