"""When a call to a provider is made again: our rule, as the client library's own retries are off.

What may pass by itself is tried again, with growing waits or the one the provider asks for, under
the deadline of the turn.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from core.llm.port import ModelError
from core.llm.wire import PassingError

log = logging.getLogger(__name__)

_ATTEMPTS: Final = 5
_LONGEST_WAIT: Final = 10.0
"""Seconds; the provider's own Retry-After may be longer."""


def retrying(name: str, *, first: float, deadline: float) -> AsyncRetrying:
    """Return what makes a call again after a ``PassingError``, whose last one it raises.

    ``first`` is the first wait in seconds, which doubles; ``deadline`` is in the running loop's
    time, and no wait is begun that would end after it. ``name`` is for the log.
    """
    clock = asyncio.get_running_loop().time

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, ModelError) else None
        grown: float = first * 2.0 ** (state.attempt_number - 1)
        return asked if asked is not None else min(grown, _LONGEST_WAIT)

    def stop(state: RetryCallState) -> bool:
        late = clock() + state.upcoming_sleep >= deadline
        return late or state.attempt_number >= _ATTEMPTS

    def note(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        word = error.kind.value if isinstance(error, ModelError) else "failed"
        log.info("%s: %s, again in %.1f s", name, word, state.upcoming_sleep)

    return AsyncRetrying(
        retry=retry_if_exception_type(PassingError),
        wait=wait,
        stop=stop,
        before_sleep=note,
        reraise=True,
    )
