"""The gateway as a whole: its sessions, what it tells them, and how a test disturbs them.

A session outlives its connection: what happens meanwhile is kept and replayed by RESUME. When
there is no session, events are told to nobody, as on the platform.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.servers.discord.connection import Abort, Close, Connection
from tests.servers.discord.intents import Event

if TYPE_CHECKING:
    from tests.servers.discord.state import State

KEPT = 1000
"""Events a session keeps for a replay."""
RESUME_SECONDS = 300.0
"""A session without a connection lives."""
FINAL_CODES = frozenset({1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014})
"""Close codes that end the session too."""


class Session:
    """What one IDENTIFY began."""

    def __init__(self, intents: int) -> None:
        self.id = secrets.token_hex(16)
        self.intents = intents
        self.seq = 0
        self.confirmed = 0
        """Highest sequence number a heartbeat came with."""
        self.connection: Connection | None = None
        self.lost_at: float | None = None
        self._log: deque[tuple[int, Event]] = deque(maxlen=KEPT)

    def dispatch(self, event: Event) -> None:
        """Tell an event, now or at the next RESUME, if the intents let it through."""
        if event.needs and not event.needs & self.intents:
            return
        self.seq += 1
        self._log.append((self.seq, event))
        if self.connection is not None:
            self.connection.post(event.payload(self.seq, self.intents))

    def missed(self, seq: int) -> list[dict[str, Any]] | None:
        """Return the dispatches after ``seq``; None when they are kept no longer."""
        oldest = self._log[0][0] if self._log else self.seq + 1
        if seq + 1 < oldest:
            return None
        return [event.payload(at, self.intents) for at, event in self._log if at > seq]

    def number_of(self, event: Event) -> int | None:
        """Return the last sequence number this event was told under."""
        numbers = [at for at, told in self._log if told is event]
        return numbers[-1] if numbers else None


class Gateway:
    """All sessions and connections. Guarded by the server's lock."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.heartbeat_interval = 41_250
        """Milliseconds, told to new connections. Who is silent for two of them is closed."""
        self.acks = True
        """Whether heartbeats are acknowledged; False makes a zombie of every connection."""
        self.frozen = False
        """Nothing is sent and nothing closed: a line that died without a word."""
        self.overlap = 0
        """How many events a RESUME replays although the client has seen them."""
        self.closed: Callable[[], bool] = lambda: False
        self.connections: list[Connection] = []
        self.sessions: dict[str, Session] = {}
        self.received: list[dict[str, Any]] = []
        """IDENTIFY, RESUME and whatever else clients sent, without heartbeats."""
        self.last_identify: float | None = None

    # Telling

    def dispatch(self, event: Event) -> Event:
        """Tell every session; returns the event."""
        with self.state.changes.lock:
            self._forget_old()
            for session in self.sessions.values():
                session.dispatch(event)
        self.state.changes.announce()
        return event

    # Disturbing

    def drop_connections(self) -> None:
        """Cut every connection without a close frame; sessions stay resumable."""
        with self.state.changes.lock:
            for connection in self.connections:
                # What was not sent by now is lost with the line.
                connection.outbox.appendleft(Abort())
        self.state.changes.announce()

    def close_connections(self, code: int, reason: str = "") -> None:
        """Close every connection with this code; some codes end the session too."""
        with self.state.changes.lock:
            if code in FINAL_CODES:
                self.forget_sessions()
            self._order(Close(code, reason))

    def reconnect_request(self) -> None:
        """Ask every client to come again (op 7)."""
        self._order({"op": 7, "d": None})

    def invalidate(self, resumable: bool = False) -> None:
        """Call every session invalid (op 9); unless ``resumable`` it is gone."""
        with self.state.changes.lock:
            self._order({"op": 9, "d": resumable})
            if not resumable:
                self.forget_sessions()
                for connection in self.connections:
                    # It may identify again without hanging up.
                    connection.session = None

    def forget_sessions(self) -> None:
        """Let the next RESUME fail; connections stay as they are but are told nothing more."""
        with self.state.changes.lock:
            self.sessions.clear()

    def ask_heartbeat(self) -> None:
        """Ask every client for a heartbeat at once (op 1)."""
        self._order({"op": 1, "d": None})

    def send_raw(self, payload: dict[str, Any]) -> None:
        """Send any payload on every connection, well formed or not, outside of any session."""
        self._order(payload)

    def freeze(self) -> None:
        """Send nothing more, neither acknowledgements nor a close; a cut still cuts."""
        self.frozen = True

    def thaw(self) -> None:
        """Send what has piled up, and go on."""
        self.frozen = False
        self.state.changes.announce()

    def _order(self, order: dict[str, Any] | Close) -> None:
        with self.state.changes.lock:
            for connection in self.connections:
                connection.post(order)
        self.state.changes.announce()

    # For connections; called under the lock

    def begin(self, connection: Connection, intents: int) -> Session:
        """Start a session on a connection."""
        session = Session(intents)
        session.connection = connection
        self.sessions[session.id] = session
        return session

    def resume(self, connection: Connection, session_id: object) -> Session | None:
        """Give a session to a new connection; None when there is no such session any more."""
        self._forget_old()
        session = self.sessions.get(session_id) if isinstance(session_id, str) else None
        if session is None:
            return None
        if session.connection is not None:
            session.connection.session = None
            session.connection.post(Abort())
        session.connection = connection
        session.lost_at = None
        return session

    def left(self, connection: Connection, code: int | None) -> None:
        """Note that a connection has ended, closed by the client with ``code`` or cut."""
        self.connections.remove(connection)
        session = connection.session
        if session is not None and session.connection is connection:
            session.connection = None
            session.lost_at = self.state.clock()
            if code in FINAL_CODES:
                self.sessions.pop(session.id, None)

    def _forget_old(self) -> None:
        now = self.state.clock()
        for session in list(self.sessions.values()):
            if session.lost_at is not None and now - session.lost_at > RESUME_SECONDS:
                del self.sessions[session.id]

    # Reading

    @property
    def ready(self) -> bool:
        """Whether a client is connected, identified or resumed, and was sent all there was."""
        return any(
            session.connection is not None
            and not session.connection.outbox
            and not session.connection.sending
            for session in self.sessions.values()
        )

    def confirmed(self, event: Event) -> bool:
        """Tell whether every session has shown by a heartbeat that it read this event."""
        numbers = [(session, session.number_of(event)) for session in self.sessions.values()]
        told = [(session, number) for session, number in numbers if number is not None]
        return bool(told) and all(session.confirmed >= number for session, number in told)

    def sent(self, op: int) -> list[dict[str, Any]]:
        """Return what clients sent under this opcode: 2 for IDENTIFY, 6 for RESUME."""
        with self.state.changes.lock:
            return [payload for payload in self.received if payload["op"] == op]
