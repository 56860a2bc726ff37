"""Interactions and their first responses: promised in time, and every promise ended.

A command is answered with "thinking" within the platform's three seconds; the first message that
answers it takes that place. Its token lives for fifteen minutes and only here, in memory. Where it
is gone the answer is a message like any other. A press that opens a form is answered with the form,
which has to be the first response. A promise that nothing took is withdrawn: after a
while, and when the door closes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import ClientError
from discord import HTTPException, Interaction
from discord.app_commands import Choice
from discord.enums import InteractionType
from discord.http import HTTPClient, Route

from bots.discord.failures import FAILURES, is_interaction_over, reason_of
from bots.discord.modal import modal
from bots.discord.receive import INTERACTION
from core.channel import NotSent, OutcomeUnknown
from core.forms import Form

log = logging.getLogger(__name__)

COMMIT_SECONDS: Final = 1.0
"""How long a response waits for the commit; after three seconds the platform gives up."""

THINKING_SECONDS: Final = 60.0
"""How long the chat shows that we think of an answer. A later answer is a message of its own."""

_REMEMBERED: Final = 1000
_ACKNOWLEDGED: Final = 40060
_MODAL: Final = 9
_ORIGINAL: Final = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"


@dataclass(eq=False)
class _Promise:
    """A command that shows "thinking"."""

    application: int
    token: str
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    """The platform has answered to the promise."""
    refused: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever ends it: an answer, or the withdrawal."""

    def route(self, method: str) -> Route:
        """Return the address of the message that was promised."""
        return Route(method, _ORIGINAL, webhook_id=self.application, webhook_token=self.token)


class Interactions:
    """The interactions of one account that this process has seen."""

    def __init__(
        self, http: Callable[[], HTTPClient], *, thinking_seconds: float = THINKING_SECONDS
    ) -> None:
        """``http`` is the library's present connection."""
        self._http = http
        self._thinking_seconds = thinking_seconds
        self._promises: dict[str, _Promise] = {}
        self._seen: dict[str, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def expect(self, interaction: Interaction[Any]) -> None:
        """Note a command before it is handed over, so that a fast answer finds its place."""
        key = f"{INTERACTION}{interaction.id}"
        if interaction.type is not InteractionType.application_command or key in self._seen:
            return
        self._seen[key] = None
        while len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._promises[key] = _Promise(interaction.application_id, interaction.token)

    async def acknowledge(self, interaction: Interaction[Any], committed: asyncio.Event) -> None:
        """Respond in time: after the commit where that is quick, else without it (F047)."""
        key = f"{INTERACTION}{interaction.id}"
        promise = self._promises.get(key)
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await committed.wait()
        except TimeoutError:
            log.warning("an interaction is answered before it could be stored")
        try:
            await _defer(interaction)
        except (*FAILURES, RuntimeError) as error:  # the latter where the client is closed by now
            log.info("an interaction was not acknowledged: %s", reason_of(error))
            if promise is not None:
                promise.refused = is_interaction_over(error)
        if promise is not None:
            promise.shown.set()
            self._start(self._withdraw_later(key, promise))

    async def suggest(self, interaction: Interaction[Any], found: list[dict[str, str]]) -> None:
        """Answer somebody who types; nobody waits for it when it fails."""
        choices: list[Choice[Any]] = [Choice(name=one["name"], value=one["value"]) for one in found]
        try:
            await interaction.response.autocomplete(choices)
        except (*FAILURES, RuntimeError) as error:
            log.debug("suggestions came too late: %s", reason_of(error))

    async def open(self, interaction: Interaction[Any], form: Form) -> bool:
        """Answer a press with a form, at once; False where that failed and it is still open."""
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=interaction.id,
            webhook_token=interaction.token,
        )
        try:
            await self._http().request(route, json={"type": _MODAL, "data": modal(form)})
        except (*FAILURES, NotSent) as error:
            if isinstance(error, HTTPException) and error.code == _ACKNOWLEDGED:
                return True  # the same press, told again
            log.info("a form was not opened: %s", reason_of(error))
            return False
        return True

    def knows(self, key: str) -> bool:
        """Tell whether this process has seen the command ``reply_to`` names."""
        return key in self._seen

    async def fulfil(self, key: str, payload: Mapping[str, Any]) -> str | None:
        """Put an answer where "thinking" is shown; return its message id, None without a place.

        Raises what the library raises; the place is kept then.
        """
        promise = self._promises.get(key)
        if promise is None:
            return None
        await promise.shown.wait()
        async with promise.turn:
            if promise.refused or key not in self._promises:
                self._promises.pop(key, None)
                return None
            try:
                message = await self._http().request(promise.route("PATCH"), json=payload)
            except FAILURES as error:
                if is_interaction_over(error):
                    log.info("an interaction takes no answer any more: %s", reason_of(error))
                    del self._promises[key]
                    return None
                raise
            if not isinstance(message, dict) or "id" not in message:
                raise OutcomeUnknown("an answer that is no message")
            del self._promises[key]
        return str(message["id"])

    async def close(self, seconds: float) -> None:
        """Withdraw every promise, for ``seconds`` at most; their answers come as messages."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(self._withdraw(*item) for item in self._promises.items()))
        except TimeoutError:
            log.warning("not every command could be told that its answer comes later")

    async def _withdraw_later(self, key: str, promise: _Promise) -> None:
        await asyncio.sleep(self._thinking_seconds)
        await self._withdraw(key, promise)

    async def withdraw(self, key: str) -> None:
        """Take "thinking" back, where it is shown: the answer stands elsewhere."""
        promise = self._promises.get(key)
        if promise is not None:
            await self._withdraw(key, promise)

    async def _withdraw(self, key: str, promise: _Promise) -> None:
        await promise.shown.wait()
        async with promise.turn:
            if self._promises.pop(key, None) is None or promise.refused:
                return
            try:
                await self._http().request(promise.route("DELETE"))
            except (*FAILURES, NotSent) as error:
                log.debug("a promise was not withdrawn: %s", reason_of(error))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _defer(interaction: Interaction[Any]) -> None:
    """Promise an answer, a second time where the line broke: the platform knows when it had it."""
    try:
        await interaction.response.defer()
    except (ClientError, OSError) as error:
        log.info("an interaction is acknowledged once more: %s", reason_of(error))
        try:
            await interaction.response.defer()
        except HTTPException as second:
            if second.code != _ACKNOWLEDGED:
                raise
