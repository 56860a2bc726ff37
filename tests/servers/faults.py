"""What can go wrong between a client and a server, as switches a test turns.

A rule waits for requests that match it and applies to the next ``times`` of them. ``Gate`` is a
place where an exchange stands still until the test lets it go on or cuts the connection; it is
how a test kills a process at an exact step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.servers.changes import PATIENCE, Changes


@dataclass(slots=True)
class RecordedRequest:
    """One request as it arrived, and what became of it."""

    index: int
    """Position among all requests since the server was created."""
    name: str
    """What it asked for in the platform's words: a method or an endpoint."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Case-insensitive."""
    body: bytes
    json: dict[str, Any]
    """The decoded parameters, whatever encoding they came in."""
    started: float
    """Seconds of the monotonic clock."""
    ended: float | None = None
    """None while it is being served or held."""
    status: int | None = None
    """HTTP status answered; None while under way and after a cut connection."""
    answer: Any = None
    """The decoded JSON answer, where there was one."""
    hung_up: bool = False
    """The client closed the connection before the answer was complete."""


Matcher = str | Callable[[RecordedRequest], bool]
"""A request name in any case, ``"*"`` for every request, or a function that decides."""


class Stage(Enum):
    """Where in an exchange something happens."""

    REQUEST = "request"
    """It has arrived and nothing has been done: a cut here means it never took effect."""
    ANSWER = "answer"
    """It has taken effect and the answer is ready: a cut here leaves the client in doubt."""


class Gate:
    """A place where one exchange waits for the test's decision."""

    def __init__(self) -> None:
        self._changes = Changes()
        self._reached: RecordedRequest | None = None
        self._open: bool | None = None

    @property
    def request(self) -> RecordedRequest | None:
        """The request that stands here, None before it arrived."""
        return self._reached

    def release(self) -> None:
        """Let the exchange go on as if nothing had been."""
        self._decide(True)

    def drop(self) -> None:
        """Cut the connection here. A decision made earlier stays."""
        self._decide(False)

    async def wait_reached(self, within: float = PATIENCE) -> RecordedRequest:
        """Return the request once it stands here; TimeoutError after ``within`` seconds."""
        return _present(
            await self._changes.wait_for(lambda: self._reached, within, "no request got here")
        )

    def wait_reached_blocking(self, within: float = PATIENCE) -> RecordedRequest:
        """Do the same, blocking the calling thread."""
        return _present(
            self._changes.wait_for_blocking(lambda: self._reached, within, "no request got here")
        )

    async def enter(self, request: RecordedRequest) -> bool:
        """Stand here on the server's side; return False when the connection is to be cut."""
        self._reached = request
        self._changes.announce()
        await self._changes.wait_for(lambda: self._open is not None, None)
        return self._open is True

    def _decide(self, go_on: bool) -> None:
        with self._changes.lock:
            if self._open is None:
                self._open = go_on
        self._changes.announce()


def _present(request: RecordedRequest | None) -> RecordedRequest:
    assert request is not None
    return request


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait this many seconds before doing anything."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Answer with this instead of doing anything."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection without a word."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class Standstill:
    """Wait at a gate."""

    stage: Stage
    gate: Gate


Fault = Delay | Failure | Cut | Standstill


@dataclass(slots=True)
class Rule:
    """One fault and the requests it is meant for."""

    matches: Matcher
    fault: Fault
    left: int | None
    """How many more requests it applies to; None for every one until cancelled."""
    used: int = 0

    def cancel(self) -> None:
        """Apply to no further request."""
        self.left = 0

    def applies(self, request: RecordedRequest) -> bool:
        """Tell whether it is meant for this request and not used up."""
        if self.left == 0:
            return False
        if isinstance(self.matches, str):
            return self.matches == "*" or self.matches.lower() == request.name.lower()
        return self.matches(request)


class Rules:
    """All faults that wait for a request. Guarded by the owner's lock."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []

    def add(self, matches: Matcher, fault: Fault, times: int | None) -> Rule:
        """Add a rule behind the others."""
        rule = Rule(matches, fault, times)
        self._rules.append(rule)
        return rule

    def clear(self) -> None:
        """Forget every rule."""
        for rule in self._rules:
            rule.cancel()
        self._rules.clear()

    def take(self, request: RecordedRequest) -> list[Fault]:
        """Return the faults of this request, at most one of each kind and stage, and count them."""
        taken: dict[object, Fault] = {}
        for rule in self._rules:
            kind = (type(rule.fault), getattr(rule.fault, "stage", None))
            if kind not in taken and rule.applies(request):
                taken[kind] = rule.fault
                rule.used += 1
                if rule.left is not None:
                    rule.left -= 1
        self._rules = [rule for rule in self._rules if rule.left != 0]
        return list(taken.values())
