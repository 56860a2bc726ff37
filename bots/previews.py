"""An answer that grows before the learner's eyes: shown again and again, at a pace, never late.

What is shown is a preview: it may be skipped, and the final answer comes by another way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from core.channel import SendError, Throttled, Watch
from core.events import Content, TurnEvent

log = logging.getLogger(__name__)

Show = Callable[[str], Awaitable[None]]
"""Shows the whole text so far. Raises a SendError."""

LAST_CALL_SECONDS: Final = 3.0
"""How long the end waits for a preview that is on its way."""


@asynccontextmanager
async def growing(show: Show, *, pause: float) -> AsyncIterator[Watch]:
    """Let ``show`` follow an answer until the context is left; give what is to see its events.

    Between two calls lie ``pause`` seconds at least, or as many as flood control asks for. Any
    other failure ends the preview. Never two calls at once, and none after the end.
    """
    grown = _Grown()
    task = asyncio.create_task(_follow(grown, show, pause), name="preview")
    try:
        yield grown.watch
    finally:
        grown.end()
        done, _ = await asyncio.wait([task], timeout=LAST_CALL_SECONDS)
        if not done:
            task.cancel()
            await asyncio.wait([task])


class _Grown:
    """The text so far, and that there is more of it."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = asyncio.Event()
        self.news = asyncio.Event()
        self._attempt = 0

    def watch(self, event: TurnEvent) -> None:
        if not isinstance(event, Content):
            return
        self.text = self.text + event.text if event.attempt == self._attempt else event.text
        self._attempt = event.attempt
        if self.text.strip():
            self.news.set()

    def end(self) -> None:
        self.ended.set()
        self.news.set()


async def _follow(grown: _Grown, show: Show, pause: float) -> None:
    while True:
        await grown.news.wait()
        if grown.ended.is_set():
            return
        grown.news.clear()
        wait = pause
        try:
            await show(grown.text)
        except Throttled as error:
            wait = max(pause, error.retry_after)
        except SendError as error:
            log.info("no further preview of this answer: %s", error)
            return
        except Exception:  # the one guard of a preview: the answer itself is not touched
            log.exception("a preview failed in an unforeseen way")
            return
        try:
            await asyncio.wait_for(grown.ended.wait(), wait)
        except TimeoutError:
            continue
        return
