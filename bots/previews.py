"""An answer that grows before the learner's eyes: shown again and again, at a pace, never late.

What is shown is a preview: it may be skipped, and the final answer comes by another way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar

from core.channel import OutcomeUnknown, SendError, Shown, Throttled, Watch
from core.events import Content, Growing, TurnEvent

log = logging.getLogger(__name__)

P = TypeVar("P")
"""A rendered message of a channel."""

Show = Callable[[str], Awaitable[None]]
"""Shows the whole text so far. Raises a SendError."""

WORDLESS: Final = "…"
"""Shown of an answer that has no words yet."""

SENDS: Final = 3
"""Times that a preview without a receipt is sent, where that shows once."""

LAST_CALL_SECONDS: Final = 3.0
"""How long the end waits for a preview that is on its way."""


@asynccontextmanager
async def growing(show: Show, *, pause: float, again: bool = False) -> AsyncIterator[Watch]:
    """Let ``show`` follow an answer until the context is left; give what is to see its events.

    With ``again`` an answer of which nothing was shown is shown at the end, wordless if need be.
    Between two calls lie ``pause`` seconds at least, or as many as flood control asks for. Any
    other failure ends the preview. Never two calls at once, and none after the end.
    """
    grown = _Grown()
    task = asyncio.create_task(_follow(grown, show, pause, again), name="preview")
    try:
        yield grown.watch
    finally:
        grown.end()
        done, _ = await asyncio.wait([task], timeout=LAST_CALL_SECONDS)
        if not done:
            task.cancel()
            await asyncio.wait([task])


class Edited(Generic[P]):
    """A preview that is a message, sent at the first words and edited as they grow.

    ``render`` makes the message of a text, None while there is nothing to see; ``send`` returns the
    handle of a new message, ``edit`` replaces it. ``handle`` is that of an earlier try. Where
    ``repeatable``, a second ``send`` finds the message of the first, so one without a receipt is
    made again: else the answer would come as a message beside it. Where not, a message is sent
    without words, which come into it once it has its receipt: one without stays wordless, and is no
    half of an answer beside the whole.
    """

    def __init__(
        self,
        render: Callable[[str], P | None],
        send: Callable[[P], Awaitable[str]],
        edit: Callable[[str, P], Awaitable[None]],
        *,
        handle: str | None,
        shown: Shown,
        repeatable: bool,
    ) -> None:
        self._repeatable = repeatable
        self._sends = SENDS if repeatable else 1
        self._render = render
        self._send = send
        self._edit = edit
        self._handle = handle
        self._shown = shown

    async def show(self, text: str) -> None:
        """Show the text so far. Raises a SendError."""
        part = self._render(text)
        if part is None:
            return
        if self._handle is None:
            first = part if self._repeatable else self._render(WORDLESS) or part
            self._handle = await self._sent(first)
            await self._shown(self._handle)
            if first is part:
                return
        await self._edit(self._handle, part)

    async def _sent(self, part: P) -> str:
        unknown = 0
        while True:
            try:
                return await self._send(part)
            except OutcomeUnknown:
                unknown += 1
                if unknown == self._sends:
                    raise
            except Throttled as error:
                if not unknown:
                    raise
                await asyncio.sleep(error.retry_after)  # left out it may stand beside the answer


class _Grown:
    """The text so far, and that there is more of it."""

    def __init__(self) -> None:
        self._answer = Growing()
        self.ended = asyncio.Event()
        self.news = asyncio.Event()

    @property
    def text(self) -> str:
        return self._answer.text

    def watch(self, event: TurnEvent) -> None:
        if not isinstance(event, Content):
            return
        self._answer.take(event)
        if self.text.strip():
            self.news.set()

    def end(self) -> None:
        self.ended.set()
        self.news.set()


async def _follow(grown: _Grown, show: Show, pause: float, again: bool) -> None:
    while True:
        await grown.news.wait()
        over = grown.ended.is_set()
        if over and not again:
            return
        grown.news.clear()
        wait = pause
        try:
            await show(WORDLESS if over and not grown.text.strip() else grown.text)
            again = False
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
