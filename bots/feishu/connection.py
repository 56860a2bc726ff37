"""The long connection, kept open: connect, listen, notice the end, connect again.

The library's ``ws.Client`` speaks the protocol. It is not used as it starts itself: its ``start``
runs a loop of its own for ever and cannot be stopped, it asks for the address with a request that
may hang for days, it calls handlers that cannot wait (so that an acknowledgement would come before
the commit), and it fails on kinds of events nobody has registered. Here it runs on the loop it is
made on, each connection has a client of its own, and this module decides when there is another.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
from lark_oapi.core.enum import LogLevel
from lark_oapi.ws import client as library
from lark_oapi.ws.exception import ClientException, ServerException
from lark_oapi.ws.model import ClientConfig
from lark_oapi.ws.pb.pbbp2_pb2 import Frame
from websockets.exceptions import WebSocketException

from bots.feishu.failures import (
    WRONG_PLATFORM,
    WRONG_SECRET,
    is_final,
    reason_of,
    wrong_secret,
)
from bots.feishu.rest import Refusal, Rest
from core.i18n import Words

log = logging.getLogger(__name__)
# The library writes to standard output, which belongs to the program.
logging.getLogger("Lark").handlers.clear()
# Its details hold the address of a connection, and with it the ticket that opens one.
logging.getLogger("websockets").setLevel(logging.WARNING)

SILENT_PINGS: Final = 3
"""So many intervals of pings without a word from the platform, and the connection counts as dead
(F075, F077)."""
USUAL_PING: Final = 120
CLOSE_SECONDS: Final = 1.0

_DATA: Final = 1
_CROWDED: Final = 1000040350
_BUSY: Final = frozenset({1, 1000040343})
_BROKEN: Final = (WebSocketException, OSError, TimeoutError, ServerException, KeyError, ValueError)

OnEvent = Callable[[bytes], Awaitable[Mapping[str, Any] | None]]
"""Takes an event's JSON. When it returns, the event may be acknowledged, with what it returned;
when it raises, the event has to come again."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds."""

    first_retry: float = 0.5
    """Pause after a first failure; it doubles."""
    longest_retry: float = 30.0
    look_up: float = 1.0
    """How long one event may wait for its look-ups: a third of the time it has ..."""
    commit: float = 1.0
    """... and as long for its commit."""


class ConnectError(Exception):
    """There is no connection. The text is for the one who runs the tutor; ``final``: it will not
    come about by itself."""

    def __init__(self, sentence: str, *, final: bool) -> None:
        super().__init__(sentence)
        self.final = final


class _RunningLoop:
    """What the library takes for its loop: whichever runs now (F073, F074)."""

    def create_task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return asyncio.get_running_loop().create_task(work)


class _Client(library.Client):  # type: ignore[misc]  # the library has no types
    """One connection, used once."""

    def __init__(self, app_id: str, on_event: OnEvent) -> None:
        super().__init__(app_id, "", log_level=LogLevel.CRITICAL)
        self.heard_at = time.monotonic()
        self._on_event = on_event
        self._address = ""
        self._lost = asyncio.Event()
        self._lasting: set[asyncio.Task[Any]] = set()
        self._handling: set[asyncio.Task[Any]] = set()

    async def open(self, endpoint: Mapping[str, Any]) -> None:
        """Connect to an address that the platform gave."""
        config = endpoint.get("ClientConfig")
        self._configure(ClientConfig(config if isinstance(config, dict) else {}))
        self._address = str(endpoint["URL"])
        library.loop = _RunningLoop()
        await self._connect()
        self.heard_at = time.monotonic()
        self._spawn(self._ping_loop(), self._lasting)

    async def until_lost(self) -> None:
        """Return when the connection has ended, or has been silent for too long."""
        while not self._lost.is_set():
            left = self.heard_at + SILENT_PINGS * self._ping_interval - time.monotonic()
            if left <= 0:
                log.warning("the connection says nothing any more; making a new one")
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._lost.wait()

    async def shut(self, seconds: float) -> None:
        """Take nothing more, let what came be answered, disconnect."""
        self._cache._cron.cancel()
        for task in self._lasting:
            task.cancel()
        if self._handling:
            await asyncio.wait(self._handling, timeout=seconds)
        for task in self._handling:
            task.cancel()
        if self._lasting | self._handling:
            await asyncio.wait(self._lasting | self._handling)
        connection = self._conn
        with contextlib.suppress(TimeoutError, WebSocketException, OSError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._disconnect()
        if connection is not None:
            connection.transport.abort()  # where the platform is silent it would stay open
            await connection.wait_closed()

    # What the library calls

    def _get_conn_url(self) -> str:
        return self._address

    def _configure(self, conf: ClientConfig) -> None:
        self._ping_interval = conf.PingInterval or USUAL_PING

    async def _receive_message_loop(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._lasting.add(task)
        try:
            while True:
                data = await self._conn.recv()
                self.heard_at = time.monotonic()
                self._spawn(self._handle_message(data), self._handling)
        except WebSocketException as error:
            log.debug("the connection ended: %s", type(error).__name__)
        finally:
            self._lost.set()

    async def _handle_message(self, msg: bytes) -> None:
        try:
            frame = Frame()
            frame.ParseFromString(msg)
            if frame.method == _DATA:
                await self._handle_data_frame(frame)
            else:
                await self._handle_control_frame(frame)
        except Exception as error:  # noqa: BLE001 - one frame must never end the connection
            log.warning("a frame could not be dealt with: %s", type(error).__name__)

    async def _handle_data_frame(self, frame: Frame) -> None:
        """Hand an event over; answer with 200 once it is taken, with 500 when it was not."""
        headers = {header.key: header.value for header in frame.headers}
        payload = frame.payload
        parts = int(headers["sum"])
        if parts > 1:
            payload = self._combine(headers["message_id"], parts, int(headers["seq"]), payload)
        if payload is None or headers["type"] != "event":
            return
        began = time.monotonic()
        answer: dict[str, Any] = {"code": 200}
        try:
            result = await self._on_event(payload)
        except Exception as error:  # noqa: BLE001 - whatever it was, the event comes again
            log.info("an event was not taken and will come again: %s", type(error).__name__)
            answer["code"] = 500
        else:
            if result is not None:
                answer["data"] = base64.b64encode(json.dumps(result).encode()).decode()
        took = frame.headers.add()
        took.key, took.value = "biz_rt", str(round((time.monotonic() - began) * 1000))
        frame.payload = json.dumps(answer).encode()
        await self._write_message(frame.SerializeToString())

    def _spawn(self, work: Coroutine[Any, Any, Any], tasks: set[asyncio.Task[Any]]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)


class Connection:
    """The long connection of one app, from ``start`` to ``stop``."""

    def __init__(
        self,
        rest: Rest,
        app_id: str,
        on_event: OnEvent,
        *,
        words: Words,
        pace: Pace,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.trouble: str | None = None
        """None while it is open, else a sentence for the one who runs the tutor."""
        self._rest = rest
        self._app_id = app_id
        self._on_event = on_event
        self._words = words
        self._pace = pace
        self._jitter = jitter
        self._failures = 0
        self._client: _Client | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return once it is open. Raises ConnectError when the first try fails."""
        client = await self._connected()
        self._task = asyncio.create_task(self._keep(client), name="feishu-connection")

    async def stop(self, seconds: float) -> None:
        """Close it; events under way may be answered for some ``seconds``."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        client, self._client = self._client, None
        if client is not None:
            await client.shut(seconds)

    async def _keep(self, client: _Client) -> None:
        while True:
            await client.until_lost()
            self._client = None
            # Common, and mostly over in a moment: not yet worth a warning.
            self.trouble = self._words("The connection to Feishu is lost; connecting again.")
            log.info(self.trouble)
            await client.shut(0)
            client = await self._connected_again()

    async def _connected_again(self) -> _Client:
        while True:
            pause = min(self._pace.longest_retry, self._pace.first_retry * 2.0**self._failures)
            await asyncio.sleep(pause * (0.5 + 0.5 * self._jitter()))  # not all apps at once
            try:
                client = await self._connected()
            except ConnectError as error:
                self._failures = min(self._failures + 1, 20)
                self._failed(str(error), type(error.__cause__).__name__)
            except Exception as error:  # the one guard of the keeper: it has to try again
                log.exception("connecting failed in a way nobody foresaw")
                self._failures = min(self._failures + 1, 20)
                sentence = self._words("Feishu cannot be reached; trying again.")
                self._failed(sentence, type(error).__name__)
            else:
                log.info("connected again")
                return client

    async def _connected(self) -> _Client:
        """Open one connection. Raises ConnectError."""
        client = _Client(self._app_id, self._on_event)
        try:
            await client.open(await self._rest.endpoint())
        except (Refusal, httpx.HTTPError, ClientException, *_BROKEN) as error:
            raise self._connect_error(error) from error
        else:
            self._client = client
        finally:
            if self._client is not client:
                await client.shut(0)
        self.trouble = None
        self._failures = 0
        return client

    def _connect_error(self, error: Exception) -> ConnectError:
        words = self._words
        code = error.code if isinstance(error, Refusal | ClientException) else None
        if code == WRONG_PLATFORM:
            sentence = words(
                "This app is not on the platform that FEISHU_DOMAIN names. Write lark there for "
                "an app of Lark, feishu for one of Feishu."
            )
            return ConnectError(sentence, final=True)
        if isinstance(error, Refusal) and code in WRONG_SECRET:
            return ConnectError(wrong_secret(words), final=True)
        if isinstance(error, ClientException):
            sentence = words(
                "Feishu refuses another connection ({reason}). Stop other programs that use this "
                "app.",
                reason=str(error)[:80],
            )
            return ConnectError(sentence, final=False)
        reason = (
            reason_of(error)
            if isinstance(error, Refusal | httpx.HTTPError)
            else type(error).__name__
        )
        final = isinstance(error, Refusal) and is_final(error) and code not in _BUSY
        if final:
            sentence = words(
                "Feishu opens no long connection for this app ({reason}). Choose “long "
                "connection” for events and for callbacks in the developer console, and publish "
                "the app.",
                reason=reason,
            )
        else:
            sentence = words(
                "Feishu cannot be reached ({reason}). Check the connection and FEISHU_DOMAIN.",
                reason=reason,
            )
        return ConnectError(sentence, final=final)

    def _failed(self, sentence: str, reason: str) -> None:
        level = logging.WARNING if sentence != self.trouble else logging.DEBUG
        log.log(level, "%s (%s)", sentence, reason)
        self.trouble = sentence
