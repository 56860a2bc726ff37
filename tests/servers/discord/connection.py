"""One websocket: the handshake, heartbeats, and the rules whose breach closes it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.servers.discord import intents
from tests.servers.discord.frames import Encoder, encoder
from tests.servers.discord.intents import Event
from tests.servers.discord.limits import GATEWAY_BYTES

if TYPE_CHECKING:
    from tests.servers.discord.gateway import Gateway, Session

HEARTBEAT, IDENTIFY, RESUME, MEMBERS = 1, 2, 6, 8
_TOLERATED = frozenset({3, 4, 31})
"""Presence, voice state, soundboard: taken and without effect here."""


@dataclass(frozen=True, slots=True)
class Close:
    """An order to close with a code."""

    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Abort:
    """An order to cut the line without a word."""


class Breach(Exception):
    """The client broke a rule; the connection is closed with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.close = Close(code, reason)


UNKNOWN_OPCODE = Breach(4001, "Unknown opcode")
DECODE_ERROR = Breach(4002, "Error while decoding payload.")
NOT_AUTHENTICATED = Breach(4003, "Not authenticated.")
AUTHENTICATION_FAILED = Breach(4004, "Authentication failed.")
ALREADY_AUTHENTICATED = Breach(4005, "Already authenticated.")
INVALID_SEQUENCE = Breach(4007, "Invalid seq")
RATE_LIMITED = Breach(4008, "Rate limited.")
TIMED_OUT = Breach(4009, "Session timed out")
INVALID_SHARD = Breach(4010, "Invalid shard")
INVALID_VERSION = Breach(4012, "Invalid API version")
INVALID_INTENTS = Breach(4013, "Invalid intent(s)")
DISALLOWED_INTENTS = Breach(4014, "Disallowed intent(s)")


class Connection:
    """One client's line. ``outbox`` is guarded by the server's lock."""

    def __init__(self, gateway: Gateway, path: str) -> None:
        self.gateway = gateway
        self.path = path
        """Where the client connected: the first address or the one for resuming."""
        self.outbox: deque[dict[str, Any] | Close | Abort] = deque()
        self.session: Session | None = None
        self.sending = False
        """Something has left the outbox and is not on its way yet."""
        self._sent: deque[float] = deque()
        self._beaten = 0.0

    def post(self, order: dict[str, Any] | Close | Abort) -> None:
        """Queue something; the caller announces."""
        self.outbox.append(order)

    async def run(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve until either side goes."""
        socket = web.WebSocketResponse(timeout=2.0, autoping=True, max_msg_size=0)
        await socket.prepare(request)
        changes = self.gateway.state.changes
        with changes.lock:
            self.gateway.connections.append(self)
            self._greet(request)
        writer = asyncio.create_task(
            self._write(socket, request.transport, encoder(request.query.get("compress")))
        )
        code: int | None = None
        try:
            code = await self._read(socket)
        finally:
            with changes.lock:
                self.gateway.left(self, code)
            changes.announce()
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
        return socket

    def _greet(self, request: web.BaseRequest) -> None:
        if request.query.get("v") not in ("10", "9"):
            self.post(INVALID_VERSION.close)
        elif request.query.get("encoding", "json") != "json":
            self.post(DECODE_ERROR.close)
        else:
            interval = self.gateway.heartbeat_interval
            self.post({"op": 10, "d": {"heartbeat_interval": interval, "_trace": ["local"]}})

    # Sending

    async def _write(
        self,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport | None,
        encode: Encoder,
    ) -> None:
        gateway = self.gateway

        def something() -> bool:
            # A cut goes through a line on which nothing else does.
            first = self.outbox[0] if self.outbox else None
            stuck = first is None or (gateway.frozen and not isinstance(first, Abort))
            return gateway.closed() or not stuck

        while True:
            await gateway.state.changes.wait_for(something, None)
            with gateway.state.changes.lock:
                ended = gateway.closed() or not self.outbox
                order = Abort() if ended else self.outbox.popleft()
                self.sending = True
            match order:
                case Abort():
                    if transport is not None:
                        transport.abort()
                    return
                case Close(code, reason):
                    await socket.close(code=code, message=reason.encode())
                    return
                case payload:
                    encoded = encode(payload)
                    try:
                        if isinstance(encoded, str):
                            await socket.send_str(encoded)
                        else:
                            await socket.send_bytes(encoded)
                    except ConnectionError:
                        return
            self.sending = False
            gateway.state.changes.announce()

    # Receiving

    async def _read(self, socket: web.WebSocketResponse) -> int | None:
        """Handle what comes; return the code the client closed with, None for a cut line."""
        loop = asyncio.get_running_loop()
        self._beaten = loop.time()
        patience = 2 * self.gateway.heartbeat_interval / 1000
        while True:
            try:
                async with asyncio.timeout_at(self._beaten + patience):
                    message = await socket.receive()
            except TimeoutError:
                # Once told to go, the client is given its time to answer.
                self._beaten = loop.time() + 60
                self._tell(TIMED_OUT.close)
                continue
            if message.type is WSMsgType.CLOSE:
                return int(message.data)
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return None
            try:
                self._take(message.data)
            except Breach as breach:
                self._tell(breach.close)

    def _tell(self, order: Close) -> None:
        with self.gateway.state.changes.lock:
            self.post(order)
        self.gateway.state.changes.announce()

    def _take(self, raw: str | bytes) -> None:
        size = len(raw.encode() if isinstance(raw, str) else raw)
        try:
            payload = json.loads(raw)
        except ValueError:
            raise DECODE_ERROR from None
        if size > GATEWAY_BYTES or not isinstance(payload, dict):
            raise DECODE_ERROR
        op, data = payload.get("op"), payload.get("d")
        with self.gateway.state.changes.lock:
            self._count()
            if op == HEARTBEAT:
                self._heartbeat(data)
            else:
                self.gateway.received.append(payload)
                self._act(op, data if isinstance(data, dict) else {})
        self.gateway.state.changes.announce()

    def _count(self) -> None:
        limit = self.gateway.state.limits.rates.gateway_per_minute
        if limit is None:
            return
        now = self.gateway.state.clock()
        while self._sent and self._sent[0] <= now - 60:
            self._sent.popleft()
        self._sent.append(now)
        if len(self._sent) > limit:
            raise RATE_LIMITED

    def _heartbeat(self, seq: object) -> None:
        self._beaten = asyncio.get_running_loop().time()
        if self.session is not None and isinstance(seq, int):
            self.session.confirmed = max(self.session.confirmed, seq)
        if self.gateway.acks:
            self.post({"op": 11, "d": None})

    def _act(self, op: object, data: dict[str, Any]) -> None:
        if op == IDENTIFY:
            self._identify(data)
        elif op == RESUME:
            self._resume(data)
        elif op == MEMBERS or op in _TOLERATED:
            if self.session is None:
                raise NOT_AUTHENTICATED
            if op == MEMBERS:
                self._list_members(self.session, data)
        else:
            raise UNKNOWN_OPCODE

    def _identify(self, data: dict[str, Any]) -> None:
        state = self.gateway.state
        if self.session is not None:
            raise ALREADY_AUTHENTICATED
        if data.get("token") != state.token:
            raise AUTHENTICATION_FAILED
        if not isinstance(data.get("properties"), dict):
            raise DECODE_ERROR
        shard = data.get("shard", [0, 1])
        if not isinstance(shard, list) or len(shard) != 2 or not shard[0] < shard[1]:
            raise INVALID_SHARD
        wanted = data.get("intents")
        if not isinstance(wanted, int) or wanted & ~intents.KNOWN:
            raise INVALID_INTENTS
        if wanted & intents.PRIVILEGED & ~state.portal_intents:
            raise DISALLOWED_INTENTS
        pause, last = state.limits.rates.identify_seconds, self.gateway.last_identify
        if pause is not None and last is not None and state.clock() - last < pause:
            self.post({"op": 9, "d": False})
            return
        self.gateway.last_identify = state.clock()
        self.session = session = self.gateway.begin(self, wanted)
        session.dispatch(Event("READY", {**state.ready_data(session.id), "shard": shard}))
        for guild in state.guilds.values():
            if guild.available:
                session.dispatch(guild.created_event())

    def _resume(self, data: dict[str, Any]) -> None:
        seq = data.get("seq")
        if self.session is not None:
            raise ALREADY_AUTHENTICATED
        if data.get("token") != self.gateway.state.token:
            raise AUTHENTICATION_FAILED
        session = self.gateway.resume(self, data.get("session_id"))
        if session is None:
            self.post({"op": 9, "d": False})
            return
        self.session = session
        if not isinstance(seq, int) or seq > session.seq:
            self.gateway.sessions.pop(session.id, None)
            raise INVALID_SEQUENCE
        missed = session.missed(max(0, seq - self.gateway.overlap))
        if missed is None:
            self.gateway.sessions.pop(session.id, None)
            self.session = None
            self.post({"op": 9, "d": False})
            return
        for payload in missed:
            self.post(payload)
        session.dispatch(Event("RESUMED", {"_trace": ["local"]}))

    def _list_members(self, session: Session, data: dict[str, Any]) -> None:
        guild = self.gateway.state.guilds.get(int(data.get("guild_id", 0)))
        if guild is None:
            return
        chunk = {
            "guild_id": str(guild.id),
            "members": guild.members_json(),
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
        }
        if "nonce" in data:
            chunk["nonce"] = data["nonce"]
        session.dispatch(Event("GUILD_MEMBERS_CHUNK", chunk))
