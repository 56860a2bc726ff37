"""One event on its way to the bot: attempts, acknowledgements, what comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Ack:
    """What the client answered to one attempt."""

    event_id: str
    event_type: str
    code: int
    """200 is good; everything else makes the platform deliver again."""
    after: float
    """Seconds between sending and this answer."""
    late: bool
    """After the three seconds: the platform had given the attempt up."""
    data: Any = None
    """The decoded answer of a card callback, None when there was none."""
    malformed: bool = False
    """``data`` could not be decoded."""


@dataclass(slots=True, eq=False)
class Attempt:
    """One time an event was sent; ``connection`` None when there was nobody to send it to."""

    connection: str | None
    message_id: str
    trace_id: str
    sent: float
    ack: Ack | None = None


@dataclass(slots=True, eq=False)
class Delivery:
    """An event and what became of it."""

    body: dict[str, Any]
    send_at: float | None
    """Clock of the next attempt; None while one is under way and when all is settled."""
    retried: bool = True
    """Card callbacks are tried once: the person sees an error instead."""
    message_id: str = ""
    """Of the frame; every attempt has the same."""
    parts: int = 1
    """Frames the payload is split into."""
    attempts: list[Attempt] = field(default_factory=list)
    ack_by: float | None = None
    accepted: bool = False
    given_up: bool = False
    on_settled: Callable[[Delivery], None] | None = None
    """Called under the lock once it was accepted or given up."""

    @property
    def event_id(self) -> str:
        """Identity of the event, the same in every attempt."""
        return str(self.body.get("header", {}).get("event_id", ""))

    @property
    def event_type(self) -> str:
        """Kind of the event."""
        return str(self.body.get("header", {}).get("event_type", ""))

    @property
    def acks(self) -> list[Ack]:
        """Every answer so far, in order of the attempts."""
        return [attempt.ack for attempt in self.attempts if attempt.ack is not None]

    @property
    def settled(self) -> bool:
        """Whether the platform is done with it."""
        return self.accepted or self.given_up

    def settle(self, *, accepted: bool) -> None:
        """Be done with it."""
        self.accepted, self.given_up = accepted, not accepted
        self.send_at = self.ack_by = None
        if self.on_settled is not None:
            self.on_settled(self)
