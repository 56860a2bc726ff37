"""The connection to Discord: opened with clear words on failure, and kept open.

The library connects again and resumes by itself. What it gives up on, or does not manage for some
minutes, is begun anew here with a fresh client (F043); sends go on over the last one meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from discord import Client, LoginFailure, PrivilegedIntentsRequired
from discord.errors import ConnectionClosed
from discord.http import HTTPClient

from bots.discord.client import Events, TutorClient, reads_content
from bots.discord.failures import FAILURES, reason_of
from core.channel import ChannelStartError, ChannelUnreachable, NotSent
from core.i18n import Words

log = logging.getLogger(__name__)

GOODBYE_SECONDS: Final = 0.4
"""How long the platform may take to answer to a close."""

_BAD_TOKEN: Final = 4004
_FORESEEN: Final = (*FAILURES, LookupError, TypeError, AttributeError)
"""What logging in raises; the last three for an answer that is not one of Discord's."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds."""

    start: float = 30.0
    """To log in, and to be told READY."""
    silence: float = 60.0
    """Without any frame a connection counts as dead."""
    patience: float = 300.0
    """For the library to resume; sessions do not live much longer."""
    first_retry: float = 0.5
    longest_retry: float = 30.0


async def _cancelled(task: asyncio.Task[None]) -> None:
    """End a task. A cancellation can get lost in ``wait_for``, which the library waits with."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
    if not task.cancelled():
        task.exception()  # looked at, so that nobody complains that it was not


class Gateway:
    """One bot account, from ``login`` and ``connect`` to ``close``."""

    def __init__(self, token: str, events: Events, *, address: str, words: Words, pace: Pace):
        """``address`` is that of the API, for sentences."""
        self.events = events
        self.trouble: str | None = None
        """None while connected, else a sentence for the one who runs the tutor."""
        self._token = token
        self._address = address
        self._words = words
        self._pace = pace
        self._client: TutorClient | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._up = False
        self._refused = False
        self._news = asyncio.Event()

    @property
    def client(self) -> Client:
        """The present client. Raises NotSent when there is none that works."""
        if self._client is None or self._client.is_closed():
            raise NotSent("not connected")
        return self._client

    def http(self) -> HTTPClient:
        """Return the library's present HTTP client. Raises NotSent."""
        return self.client.http

    async def login(self) -> Client:
        """Introduce the bot to the API. Raises ChannelStartError."""
        client = TutorClient(self, silence=self._pace.silence)
        welcome = False
        try:
            async with asyncio.timeout(self._pace.start):
                await client.login(self._token)
            if not reads_content(client):
                raise self._no_content()
            welcome = True
        except _FORESEEN as error:
            raise self._told(error) from error
        finally:
            if not welcome:
                await self._closed(client)
        old, self._client = self._client, client
        if old is not None:
            await self._closed(old)
        return client

    async def connect(self) -> None:
        """Open the gateway and wait for READY. Raises ChannelStartError."""
        client = self._client
        if client is None:
            raise NotSent("not logged in")
        self._up = self._refused = False
        self._connecting = asyncio.create_task(client.connect(), name="discord-gateway")
        self._connecting.add_done_callback(lambda _: self._news.set())
        reason: BaseException | None = None
        try:
            async with asyncio.timeout(self._pace.start):
                while not (self._up or self._refused or self._connecting.done()):
                    await self._told_something()
        except TimeoutError as error:
            reason = error
        if self._up:
            return
        if self._connecting.done() and not self._connecting.cancelled():
            reason = self._connecting.exception()
        await self._disconnected()
        raise self._told(reason or ConnectionError()) from reason

    def keep(self) -> None:
        """Begin to look after the connection."""
        self._keeper = asyncio.create_task(self._keep(), name="discord-keeper")

    async def hang_up(self) -> None:
        """Receive nothing more; calls still go out."""
        if self._keeper is not None:
            await _cancelled(self._keeper)
        await self._disconnected()

    async def close(self) -> None:
        """End everything."""
        client, self._client = self._client, None
        if client is not None:
            await self._closed(client)

    # What the client tells

    def came_up(self, client: Client, *, anew: bool) -> None:
        """Events come in, ``anew``: in a session that knows nothing of what was said before."""
        if client is self._client:
            if anew:
                self.events.begun()
            if self.trouble is not None:
                log.info("connected to the gateway again")
            self.trouble = None
            self._up = True
            self._news.set()

    def went_down(self, client: Client) -> None:
        """The connection is lost, or did not come about; the library tries again."""
        if client is self._client:
            if self._up:
                log.info("disconnected from the gateway")
            self.trouble = self._words("Discord is not connected; trying again.")
            self._up = False
            # Without a first connection the library would try on for ever, and not well.
            self._refused = client.ws is None
            self._news.set()

    async def _told_something(self) -> None:
        self._news.clear()
        await self._news.wait()

    # Keeping it

    async def _keep(self) -> None:
        while True:
            await self._lost()
            pause = self._pace.first_retry
            while True:
                await asyncio.sleep(pause)
                pause = min(self._pace.longest_retry, pause * 2)
                try:
                    await self._disconnected()
                    await self.login()
                    await self.connect()
                    break
                except ChannelStartError as error:
                    if str(error) != self.trouble:
                        log.warning("%s Trying again until it answers.", error)
                    self.trouble = str(error)
                except Exception:  # the one guard of the keeper: without it nobody would try again
                    log.exception("connecting failed in a way nobody foresaw")

    async def _lost(self) -> None:
        """Return when the library has given up, or could not resume for too long."""
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        while self._connecting is not None and not self._connecting.done():
            if self._up:
                deadline = None
            elif deadline is None:
                deadline = loop.time() + self._pace.patience
            try:
                async with asyncio.timeout_at(deadline):
                    await self._told_something()
            except TimeoutError:
                log.warning("the session could not be resumed; beginning anew")
                return
        ended = self._connecting
        error = ended.exception() if ended is not None and not ended.cancelled() else None
        log.warning("the gateway ended (%s); beginning anew", type(error).__name__)
        self._up = False
        self.trouble = str(self._told(error or ConnectionError()))

    async def _disconnected(self) -> None:
        """End the present connection to the gateway, and leave the HTTP client open."""
        task, self._connecting = self._connecting, None
        if task is None:
            return
        await _cancelled(task)
        self._up = False
        client = self._client
        if client is not None and client.ws is not None and client.ws.open:
            await self._bounded(client.ws.close(code=1000))

    async def _closed(self, client: Client) -> None:
        await self._bounded(client.close())

    async def _bounded(self, closing: Coroutine[Any, Any, None]) -> None:
        """A line that is dead does not answer to being closed."""
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await closing
        except FAILURES as error:
            log.debug("not closed in good order: %s", reason_of(error))

    # Words

    def _told(self, error: BaseException) -> BaseException:
        """Return the error in a sentence; what nobody foresaw stays as it is."""
        match error:
            case ChannelStartError():
                return error
            case LoginFailure():
                return self._wrong_token()
            case PrivilegedIntentsRequired():
                return self._no_content()
            case ConnectionClosed() if error.code == _BAD_TOKEN:
                return self._wrong_token()
            case _ if isinstance(error, _FORESEEN):
                return self._unreachable(error)
            case _:
                return error

    def _unreachable(self, error: BaseException) -> ChannelUnreachable:
        reason = reason_of(error) if isinstance(error, Exception) else type(error).__name__
        return ChannelUnreachable(
            self._words(
                "Discord cannot be reached at {address} ({reason}). Check the connection and "
                "DISCORD_API_BASE.",
                address=self._address,
                reason=reason,
            )
        )

    def _wrong_token(self) -> ChannelStartError:
        return ChannelStartError(
            self._words(
                "Discord does not know DISCORD_BOT_TOKEN. Open "
                "https://discord.com/developers/applications, choose your application, then Bot, "
                "Reset Token, copy it into .env and start again."
            )
        )

    def _no_content(self) -> ChannelStartError:
        return ChannelStartError(
            self._words(
                "Discord keeps what people write from this bot. Open "
                "https://discord.com/developers/applications, choose your application, then Bot, "
                "switch on Message Content Intent under Privileged Gateway Intents, save, and "
                "start again."
            )
        )
