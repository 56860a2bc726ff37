"""The long connection: who is connected, which event goes to whom, and when again.

Every event goes to one connection at random. It is delivered again when the answer is not 200,
when none comes within three seconds, and when nobody was connected.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from tests.servers.changes import Changes
from tests.servers.feishu.delivery import Ack, Attempt, Delivery
from tests.servers.feishu.frames import CONTROL, DATA, Frame, decode
from tests.servers.feishu.limits import ACK_SECONDS, CONNECTIONS, RETRIES, Clock

SERVICE_ID = 33554678
_HAIR = 1e-5
"""Seconds that rounding may cost without holding a delivery back."""


@dataclass(slots=True, eq=False)
class Connection:
    """One open long connection."""

    device_id: str
    socket: web.WebSocketResponse
    request: web.BaseRequest
    pings: int = 0


class Gateway:
    """All long connections of one app. Guarded by ``changes.lock``."""

    def __init__(
        self,
        changes: Changes,
        clock: Clock,
        chance: random.Random,
        ack_seconds: float = ACK_SECONDS,
    ) -> None:
        self._changes = changes
        self._clock = clock
        self._chance = chance
        self._ack_seconds = ack_seconds
        self._numbers = itertools.count(1)
        self._tickets: dict[str, str] = {}
        """Unused tickets to device ids: each address is good for one connection."""
        self._open: list[Connection] = []
        self._revision = 0
        self.config: dict[str, float] = {
            "ReconnectCount": -1,
            "ReconnectInterval": 1,
            "ReconnectNonce": 0,
            "PingInterval": 120,
        }
        """ClientConfig, in seconds; sent with the address and with every pong."""
        self.parts = 1
        """Frames that the payload of an event is split into from now on."""
        self.silent = False
        """True: a connection stays open, but no ping is answered any more."""
        self.deliveries: list[Delivery] = []
        self._live: list[Delivery] = []
        """Those that are not settled."""
        self._asked: dict[str, tuple[Delivery, Attempt]] = {}
        """Trace id to an attempt that was not answered yet."""
        self.closed: Callable[[], bool] = lambda: False

    # From any thread

    @property
    def connections(self) -> list[Connection]:
        """Connections open now."""
        with self._changes.lock:
            return list(self._open)

    def push(
        self,
        body: dict[str, Any],
        *,
        retried: bool = True,
        message_id: str | None = None,
        on_settled: Callable[[Delivery], None] | None = None,
    ) -> Delivery:
        """Deliver an event as soon as possible."""
        with self._changes.lock:
            delivery = Delivery(
                body,
                self._clock.now(),
                retried,
                message_id or f"msg-{next(self._numbers)}",
                self.parts,
                on_settled=on_settled,
            )
            self.deliveries.append(delivery)
            self._live.append(delivery)
        self.wake()
        return delivery

    def wake(self) -> None:
        """Look again at what is due: something or the time has changed."""
        with self._changes.lock:
            self._revision += 1
        self._changes.announce()

    def new_ticket(self) -> tuple[str, str]:
        """Return device id and ticket of one more connection."""
        with self._changes.lock:
            number = next(self._numbers)
            ticket = f"ticket-{number}-{self._chance.getrandbits(64):x}"
            self._tickets[ticket] = str(7_000_000_000 + number)
            return self._tickets[ticket], ticket

    # On the server's loop

    async def run(self) -> None:
        """Deliver what is due until the server closes."""
        while not self.closed():
            with self._changes.lock:
                seen, now = self._revision, self._clock.now() + _HAIR
                expired = self._expire(now)
                self._live = [delivery for delivery in self._live if not delivery.settled]
                due = [
                    delivery
                    for delivery in self._live
                    if delivery.send_at is not None and delivery.send_at <= now
                ]
                wait = self._next(now)
            if expired:
                self._changes.announce()
            for delivery in due:
                await self._attempt(delivery)
            if due:
                continue
            changed = _differs(self, seen)
            with contextlib.suppress(TimeoutError):
                await self._changes.wait_for(changed, wait)
        await self.drop()

    async def drop(self, *, politely: bool = False) -> None:
        """Cut every connection, or close it with a word."""
        for connection in self.connections:
            if politely:
                await connection.socket.close(code=1001, message=b"server going away")
            elif connection.request.transport is not None:
                connection.request.transport.abort()

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one connection from its handshake to its end."""
        with self._changes.lock:
            device_id = self._tickets.pop(request.query.get("ticket", ""), None)
            crowded = len(self._open) >= CONNECTIONS
        if device_id is None:
            return handshake_refusal(514, "ticket invalid", 1000040346)
        if crowded:
            return handshake_refusal(514, "the number of connections exceeds the limit", 1000040350)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(device_id, socket, request)
        with self._changes.lock:
            self._open.append(connection)
        self.wake()
        try:
            async for message in socket:
                if message.type is WSMsgType.BINARY:
                    await self._receive(connection, message.data)
        except ValueError:
            await socket.close(code=1002, message=b"malformed frame")
        finally:
            with self._changes.lock:
                self._open.remove(connection)
            self.wake()
        return socket

    async def _receive(self, connection: Connection, data: bytes) -> None:
        frame = decode(data)
        if frame.method == DATA:
            self._acknowledge(frame)
        elif frame.headers.get("type") == "ping":
            with self._changes.lock:
                connection.pings += 1
                config = json.dumps(self.config).encode()
            self._changes.announce()
            if self.silent:
                return
            pong = Frame(CONTROL, {"type": "pong"}, config, frame.service)
            await connection.socket.send_bytes(pong.encode())

    async def _attempt(self, delivery: Delivery) -> None:
        with self._changes.lock:
            now = self._clock.now()
            connection = self._chance.choice(self._open) if self._open else None
            attempt = Attempt(
                None if connection is None else connection.device_id,
                delivery.message_id,
                f"trace-{next(self._numbers)}",
                now,
            )
            delivery.attempts.append(attempt)
            self._asked[attempt.trace_id] = delivery, attempt
            delivery.send_at, delivery.ack_by = None, now + self._ack_seconds
            if connection is None:
                self._failed(delivery, now)
        try:
            if connection is not None:
                for frame in _frames(delivery, attempt):
                    await connection.socket.send_bytes(frame.encode())
        except ConnectionError:
            # Nobody will answer; the three seconds bring it back.
            pass
        self._changes.announce()

    def _acknowledge(self, frame: Frame) -> None:
        with self._changes.lock:
            asked = self._asked.pop(frame.headers.get("trace_id", ""), None)
            if asked is None:
                return
            delivery, attempt = asked
            now = self._clock.now()
            attempt.ack = _ack(frame, delivery, now - attempt.sent, self._ack_seconds)
            if delivery.ack_by is not None and attempt is delivery.attempts[-1]:
                if attempt.ack.code == 200 and not attempt.ack.late:
                    delivery.settle(accepted=True)
                else:
                    self._failed(delivery, now)
        self.wake()

    def _expire(self, now: float) -> bool:
        """Give up the attempts nobody answered in time; tell whether there were any."""
        silent = [one for one in self._live if one.ack_by is not None and one.ack_by <= now]
        for delivery in silent:
            self._failed(delivery, now)
        return bool(silent)

    def _failed(self, delivery: Delivery, now: float) -> None:
        delivery.ack_by = None
        done = len(delivery.attempts)
        if not delivery.retried or done > len(RETRIES):
            delivery.settle(accepted=False)
        else:
            delivery.send_at = now + RETRIES[done - 1]

    def _next(self, now: float) -> float | None:
        """Return the seconds until something is due, None when nothing is."""
        moments = [
            moment
            for delivery in self._live
            for moment in (delivery.send_at, delivery.ack_by)
            if moment is not None
        ]
        return max(0.0, min(moments) - now) if moments else None


def handshake_refusal(status: int, message: str, auth_code: int | None = None) -> web.Response:
    """Return the refusal of a connection, in the headers the clients read."""
    headers = {"handshake-status": str(status), "handshake-msg": message}
    if auth_code is not None:
        headers["handshake-autherrcode"] = str(auth_code)
    return web.Response(status=403, headers=headers)


def _differs(gateway: Gateway, seen: int) -> Callable[[], bool]:
    return lambda: gateway._revision != seen or gateway.closed()


def _frames(delivery: Delivery, attempt: Attempt) -> list[Frame]:
    payload = json.dumps(delivery.body, ensure_ascii=False).encode()
    length = -(-len(payload) // delivery.parts)
    return [
        Frame(
            DATA,
            {
                "type": "event",
                "message_id": attempt.message_id,
                "trace_id": attempt.trace_id,
                "sum": str(delivery.parts),
                "seq": str(number),
            },
            payload[number * length : (number + 1) * length],
            SERVICE_ID,
            log_id=number,
        )
        for number in range(delivery.parts)
    ]


def _ack(frame: Frame, delivery: Delivery, after: float, most: float) -> Ack:
    ack = Ack(delivery.event_id, delivery.event_type, 0, after, after > most)
    try:
        answer = json.loads(frame.payload)
        ack.code = int(answer["code"])
    except (ValueError, KeyError, TypeError):
        ack.malformed = True
        return ack
    if answer.get("data") is not None:
        try:
            ack.data = json.loads(base64.b64decode(answer["data"], validate=True))
        except (ValueError, TypeError):
            ack.malformed = True
    return ack
