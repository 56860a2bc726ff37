"""A model behind an OpenAI-compatible HTTP API (Chat Completions), streamed.

A call is tried again (``core.llm.retries``) until a first piece of the answer was handed on.
Parameters that a model refuses are dropped or renamed (``core.llm.quirks``) and the call is made
again at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace

from core.llm.port import ChatRequest, ModelError, ModelErrorKind, ModelEvent
from core.llm.provider import OFFICIAL, Provider
from core.llm.quirks import Quirks, lesson, window_in
from core.llm.retries import retrying
from core.llm.stream import CHARACTERS_A_TOKEN, Answer
from core.llm.wire import RefusedError, body_of

log = logging.getLogger(__name__)


class OpenAIModel:
    """One model of a provider; ``named`` gives others that share its connections.

    ``backoff`` is the first wait between tries, in seconds; it doubles.
    """

    small = False

    def __init__(
        self,
        *,
        name: str,
        api_key: str,
        base_url: str | None,
        backoff: float = 0.5,
    ) -> None:
        self.name = name
        self._backoff = backoff
        self._provider = Provider(api_key, base_url or OFFICIAL)

    @property
    def window(self) -> int | None:
        """Tokens of prompt and answer, where known by name or from a refusal."""
        return self._provider.lessons.quirks(self.name).window

    @property
    def supports_tools(self) -> bool:
        """True until the model has refused tools."""
        return self._provider.lessons.quirks(self.name).tools

    @property
    def sees_images(self) -> bool:
        """What the name tells, until the model has refused a picture."""
        return self._provider.lessons.quirks(self.name).images

    def named(self, name: str) -> OpenAIModel:
        """Return another model of the same provider."""
        if name == self.name:
            return self
        other = OpenAIModel(name=name, api_key="", base_url=None, backoff=self._backoff)
        other._provider = self._provider
        return other

    def begin_loading(self) -> None:
        """Import the client library in a thread."""
        self._provider.begin_loading()

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request``; see ``ChatModel.stream``."""
        again = retrying(self.name, first=self._backoff, deadline=deadline)
        answer: Answer = await again(self._begin, request, deadline)
        try:
            for event in answer.early:
                yield event
            if not answer.ended:
                async for event in answer.rest():
                    yield event
            yield answer.parts.completed()
        finally:
            await answer.close()

    async def _begin(self, request: ChatRequest, deadline: float) -> Answer:
        """Make the call once, up to the first piece of the answer; correct what is refused."""
        client = await self._provider.client()
        lessons = self._provider.lessons
        tried: set[Quirks] = set()
        pictures = any(message.images for message in request.messages)
        unseen = False
        while True:
            quirks = lessons.quirks(self.name)
            tried.add(quirks)
            left = max(deadline - asyncio.get_running_loop().time(), 0.1)
            try:
                return await Answer.begin(
                    client,
                    body_of(
                        self.name, request, replace(quirks, images=False) if unseen else quirks
                    ),
                    left,
                    most=CHARACTERS_A_TOKEN * request.max_tokens,
                )
            except RefusedError as refused:
                learned = lesson(quirks, refused.parameter, refused.detail, pictures=pictures)
                if refused.kind is ModelErrorKind.CONTEXT_EXCEEDED:
                    window = window_in(refused.detail)
                    if window is not None:
                        lessons.learn(self.name, replace(quirks, window=window))
                    raise
                if learned is None or learned in tried:
                    if not pictures or unseen or not quirks.images:
                        raise
                    # Perhaps it is this picture: the question is answered without it, once.
                    log.info("%s refused a request with pictures, asking without", self.name)
                    unseen = True
                    continue
                log.info("%s refused a parameter, calling it differently from now on", self.name)
                lessons.learn(self.name, learned)
                if request.tools and quirks.tools and not learned.tools:
                    # Without its tools it would be another request: the caller decides.
                    raise ModelError(ModelErrorKind.TOOLS_REFUSED, refused.detail) from refused
