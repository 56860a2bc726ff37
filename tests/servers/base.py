"""What every local server shares: its own thread, a request log, and faults to order.

A server binds 127.0.0.1 on a free port and runs an event loop in a thread of its own, so that a
client may block its loop (some do) and a test may steer it from anywhere. A subclass says how to
read a request (``identify``) and how to answer it (``respond``); state it shares with the
steering side is touched under ``self.changes.lock``, and ``self.changes.announce()`` tells the
news.

Waits come in two forms: ``wait_x`` is awaited, ``wait_x_blocking`` blocks the calling thread.
"""

from __future__ import annotations

import abc
import asyncio
import concurrent.futures
import json
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web
from aiohttp.http import RawRequestMessage

from tests.servers.changes import PATIENCE, Changes, Description
from tests.servers.faults import (
    Cut,
    Delay,
    Failure,
    Fault,
    Gate,
    Matcher,
    RecordedRequest,
    Rule,
    Rules,
    Stage,
    Standstill,
)

T = TypeVar("T")

HOST = "127.0.0.1"
MAX_BODY = 60 * 1024 * 1024
"""Bytes of a request body; above the largest upload of any platform served here."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that is written piece by piece once the faults have been settled."""

    run: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


Answer = web.Response | Stream


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for, as far as the log and the faults need to know."""

    name: str
    json: dict[str, Any]


class ServerError(AssertionError):
    """The server itself failed while serving: a mistake in the server, not in the client."""


class CutConnection(Exception):
    """Raised inside ``respond`` or a stream to close the connection without a word."""


def json_response(
    data: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Return a JSON answer with the bare content type, which some clients compare exactly."""
    body = json.dumps(data, ensure_ascii=False).encode()
    return web.Response(
        body=body, status=status, headers={"Content-Type": "application/json", **(headers or {})}
    )


class LocalServer(abc.ABC):
    """One HTTP server on loopback; ``with`` starts and stops it."""

    cancel_on_hangup = False
    """Stop serving a request whose client has gone. Platforms that act on a message carry on."""

    def __init__(self, *, keep_requests: int | None = None) -> None:
        """Keep only the last ``keep_requests`` requests in the log; None keeps all."""
        self.changes = Changes()
        self._log: deque[RecordedRequest] = deque(maxlen=keep_requests)
        self._count = 0
        self._rules = Rules()
        self._gates: set[Gate] = set()
        self._faults: list[BaseException] = []
        self._port = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finish: asyncio.Event | None = None
        self.stopping = False

    # Life

    def start(self) -> Self:
        """Listen; a server started again after ``stop`` listens on the same port as before."""
        if self._thread is not None:
            raise RuntimeError("the server is running already")
        self.stopping = False
        ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=self._main, args=(ready,), name=type(self).__name__, daemon=True
        )
        self._thread.start()
        try:
            ready.result(PATIENCE)
        except BaseException:
            self._thread = None
            raise
        return self

    def stop(self) -> None:
        """Cut what is open, stop listening, end the thread. Safe to call twice."""
        thread, loop, finish = self._thread, self._loop, self._finish
        if thread is None or loop is None or finish is None:
            return
        self.stopping = True
        for gate in tuple(self._gates):
            gate.drop()
        self.changes.announce()
        loop.call_soon_threadsafe(finish.set)
        thread.join(PATIENCE)
        if thread.is_alive():
            raise ServerError("the server's thread does not end")
        self._thread = self._loop = self._finish = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if error is None:
            self.check()

    def check(self) -> None:
        """Raise ServerError when the server itself failed on a request."""
        if self._faults:
            raise ServerError(f"the server failed on a request: {self._faults[0]!r}") from (
                self._faults[0]
            )

    @property
    def url(self) -> str:
        """Origin of the server, without a trailing slash."""
        if not self._port:
            raise RuntimeError("the server has not been started")
        return f"http://{HOST}:{self._port}"

    def call(self, work: Coroutine[Any, Any, T], within: float = PATIENCE) -> T:
        """Run a coroutine on the server's loop and return its result; blocks the caller."""
        if self._loop is None:
            work.close()
            raise RuntimeError("the server is not running")
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("called from the server's own thread")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(within)

    # Waiting

    async def wait_for(
        self, look: Callable[[], T], within: float | None = PATIENCE, what: Description = ""
    ) -> T:
        """Return the first truthy value of ``look``, asked again whenever the server changes."""
        return await self.changes.wait_for(look, within, what)

    def wait_for_blocking(
        self, look: Callable[[], T], within: float | None = PATIENCE, what: Description = ""
    ) -> T:
        """Do the same, blocking the calling thread."""
        return self.changes.wait_for_blocking(look, within, what)

    async def wait_request(
        self, matches: Matcher = "*", *, count: int = 1, within: float = PATIENCE
    ) -> list[RecordedRequest]:
        """Return all requests that match once there are ``count`` of them (answered or not)."""
        look, what = self._enough(matches, count)
        return await self.changes.wait_for(look, within, what)

    def wait_request_blocking(
        self, matches: Matcher = "*", *, count: int = 1, within: float = PATIENCE
    ) -> list[RecordedRequest]:
        """Do the same, blocking the calling thread."""
        look, what = self._enough(matches, count)
        return self.changes.wait_for_blocking(look, within, what)

    def _enough(
        self, matches: Matcher, count: int
    ) -> tuple[Callable[[], list[RecordedRequest]], Callable[[], str]]:
        def look() -> list[RecordedRequest]:
            found = self.requests_of(matches)
            return found if len(found) >= count else []

        return look, lambda: f"{len(self.requests_of(matches))} of {count} requests: {matches}"

    # Reading and steering

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request since the server was created, oldest first."""
        with self.changes.lock:
            return list(self._log)

    def requests_of(self, matches: Matcher) -> list[RecordedRequest]:
        """Return the requests that match, oldest first."""
        wanted = Rule(matches, Delay(0), None)
        return [request for request in self.requests if wanted.applies(request)]

    def fail(
        self,
        matches: Matcher,
        status: int,
        body: bytes | str | dict[str, Any] = b"",
        *,
        times: int | None = 1,
        headers: Mapping[str, str] | None = None,
    ) -> Rule:
        """Answer the next ``times`` matching requests with this, doing nothing of what they ask.

        A dict is sent as JSON, a string as it is.
        """
        given = dict(headers or {})
        if isinstance(body, dict):
            given.setdefault("Content-Type", "application/json")
            body = json.dumps(body)
        raw = body.encode() if isinstance(body, str) else body
        return self._add(matches, Failure(status, raw, given), times)

    def drop(
        self, matches: Matcher, *, stage: Stage = Stage.REQUEST, times: int | None = 1
    ) -> Rule:
        """Cut the connection of the next ``times`` matching requests, before or after they act."""
        return self._add(matches, Cut(stage), times)

    def delay(self, matches: Matcher, seconds: float, *, times: int | None = 1) -> Rule:
        """Let the next ``times`` matching requests wait before anything is done."""
        return self._add(matches, Delay(seconds), times)

    def hold(self, matches: Matcher, *, stage: Stage = Stage.ANSWER) -> Gate:
        """Stop the next matching request at a gate: by default once it acted, answer in hand."""
        gate = Gate()
        self._add(matches, Standstill(stage, gate), 1)
        return gate

    def clear_faults(self) -> None:
        """Forget every fault ordered and not yet used; gates already reached stay."""
        with self.changes.lock:
            self._rules.clear()

    def _add(self, matches: Matcher, fault: Fault, times: int | None) -> Rule:
        with self.changes.lock:
            return self._rules.add(matches, fault, times)

    # For subclasses

    @abc.abstractmethod
    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        """Say what a request asks for. Never raises: what cannot be read gets an empty ``json``."""

    @abc.abstractmethod
    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a request and return its answer."""

    async def stand_at(self, gate: Gate, record: RecordedRequest) -> None:
        """Wait at a gate; raises CutConnection when the test, or the end, cuts it there."""
        self._gates.add(gate)
        if self.stopping:
            gate.drop()
        try:
            if not await gate.enter(record):
                raise CutConnection
        finally:
            self._gates.discard(gate)

    # The thread's side

    def _main(self, ready: concurrent.futures.Future[None]) -> None:
        asyncio.run(self._life(ready))

    async def _life(self, ready: concurrent.futures.Future[None]) -> None:
        server = web.Server(
            self._serve,
            request_factory=_large_request,
            access_log=None,
            handler_cancellation=self.cancel_on_hangup,
        )
        runner = web.ServerRunner(server, shutdown_timeout=0.2)
        await runner.setup()
        site = web.TCPSite(runner, HOST, self._port, reuse_address=True)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            ready.set_exception(error)
            return
        self._port = runner.addresses[0][1]
        self._loop = asyncio.get_running_loop()
        self._finish = asyncio.Event()
        ready.set_result(None)
        await self._finish.wait()
        await runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        record: RecordedRequest | None = None
        try:
            body = await request.read()
            record = await self._record(request, body)
            answer = await self._exchange(request, record)
            if isinstance(answer, Stream):
                response = await answer.run(request)
            else:
                response = answer
                record.answer = _decoded(answer)
            record.status = response.status
            return response
        except CutConnection:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=499)
        except (asyncio.CancelledError, ConnectionError):
            if record is not None:
                record.hung_up = True
            raise
        except Exception as error:
            self._faults.append(error)
            raise
        finally:
            if record is not None:
                record.ended = time.monotonic()
                self.changes.announce()

    async def _record(self, request: web.BaseRequest, body: bytes) -> RecordedRequest:
        asked = await self.identify(request, body)
        with self.changes.lock:
            record = RecordedRequest(
                index=self._count,
                name=asked.name,
                method=request.method,
                path=request.path,
                headers=request.headers,
                body=body,
                json=asked.json,
                started=time.monotonic(),
            )
            self._count += 1
            self._log.append(record)
        self.changes.announce()
        return record

    async def _exchange(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        with self.changes.lock:
            faults = self._rules.take(record)
        await self._settle(faults, record, Stage.REQUEST)
        for fault in faults:
            if isinstance(fault, Failure):
                return web.Response(body=fault.body, status=fault.status, headers=fault.headers)
        answer = await self.respond(request, record)
        await self._settle(faults, record, Stage.ANSWER)
        return answer

    async def _settle(self, faults: list[Fault], record: RecordedRequest, stage: Stage) -> None:
        for fault in faults:
            match fault:
                case Delay(seconds) if stage is Stage.REQUEST:
                    await asyncio.sleep(seconds)
                case Standstill(at, gate) if at is stage:
                    await self.stand_at(gate, record)
                case Cut(at) if at is stage:
                    raise CutConnection


def _large_request(
    message: RawRequestMessage, payload: Any, protocol: Any, writer: Any, task: Any
) -> web.BaseRequest:
    # The default factory refuses bodies over 1 MiB; a platform takes whole files.
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=MAX_BODY)


def _decoded(answer: web.Response) -> Any:
    if answer.content_type != "application/json" or not isinstance(answer.body, bytes):
        return None
    try:
        return json.loads(answer.body)
    except ValueError:
        return None
