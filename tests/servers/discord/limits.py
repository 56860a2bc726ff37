"""Discord's limits, and its rate limits.

Numbers are those of the API reference (its OpenAPI description, "Rate Limits", "Gateway"). The
reference names no rate of a single route: the platform tells them in headers only, so the
figures in ``USUAL`` are those that bots commonly see. Lengths are in Unicode code points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

CONTENT = 2000
NONCE = 25
EMBEDS = 10
EMBED_TOTAL = 6000
"""Characters of all embeds of a message together."""
ATTACHMENTS = 10
FILE_BYTES = 10 * 1024 * 1024
ROWS = 5
ROW_WIDTH = 5
"""Buttons in a row; a select fills it."""
CUSTOM_ID = 100
LABEL = 80
OPTIONS = 25
"""Options of a select, of a command and of an autocompletion."""
V2_COMPONENTS = 40
V2_TEXT = 4000
"""Characters of all text displays of a message together."""
MODAL_TITLE = 45
THREAD_NAME = 100
REACTIONS = 20
COMMANDS = 100
COMMAND_NAME = 32
COMMAND_DESCRIPTION = 100
COMMAND_TOTAL = 8000
MENTIONS = 100
"""Ids in a list of ``allowed_mentions``."""
RESPONSE_SECONDS = 3.0
"""To the first response to an interaction."""
TOKEN_SECONDS = 15 * 60.0
"""An interaction's token lives."""
NONCE_SECONDS = 5 * 60.0
"""A nonce is remembered; the reference says "a few minutes"."""
FILE_SECONDS = 24 * 60 * 60.0
"""A link to an attachment lives."""
GATEWAY_BYTES = 4096
"""Of one event a client sends."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """So many requests in so many seconds."""

    limit: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a client may call. A bucket is counted per channel, server or webhook."""

    routes: Mapping[str, Bucket] = field(
        default_factory=lambda: {
            "createMessage": Bucket(5, 5),
            "editMessage": Bucket(5, 5),
            "deleteMessage": Bucket(5, 1),
            "addReaction": Bucket(1, 0.25),
            "removeReaction": Bucket(1, 0.25),
            "typing": Bucket(5, 5),
            "openDirect": Bucket(10, 60),
            "followUp": Bucket(5, 2),
            "editAnswer": Bucket(5, 2),
        }
    )
    default: Bucket = Bucket(50, 1)
    everywhere: int | None = 50
    """Requests a second over all routes except interactions; None lifts it."""
    gateway_per_minute: int | None = 120
    """Events a client may send on one connection."""
    identify_seconds: float | None = 5.0
    """Between two IDENTIFY of a shard."""


USUAL = Rates()
LIFTED = Rates({}, Bucket(1_000_000, 1), None, None, None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may pass, and the headers its answer carries either way."""

    headers: dict[str, str]
    retry_after: float | None = None
    """Seconds to wait; None when it may pass."""
    everywhere: bool = False
    """The global limit is what it met."""


class RateLimits:
    """Counts requests in windows. Time comes from ``clock``, dates from ``now`` (seconds)."""

    def __init__(self, rates: Rates, clock: Callable[[], float], now: Callable[[], float]) -> None:
        self.rates = rates
        self._clock = clock
        self._now = now
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}
        """(route, major parameter) to (end of the window, requests so far)."""

    def take(self, route: str, major: str, *, bound: bool) -> Verdict:
        """Count a request; ``bound`` says whether the global limit holds for it."""
        if bound and self.rates.everywhere is not None:
            wait, _ = self._count("", "", Bucket(self.rates.everywhere, 1.0))
            if wait > 0:
                headers = {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
                return Verdict(headers, wait, True)
        bucket = self.rates.routes.get(route, self.rates.default)
        wait, left = self._count(route, major, bucket)
        ends = self._windows[route, major][0]
        after = max(0.0, ends - self._clock())
        headers = {
            "X-RateLimit-Bucket": f"{route.lower()}-bucket",
            "X-RateLimit-Limit": str(bucket.limit),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": f"{self._now() + after:.3f}",
            "X-RateLimit-Reset-After": f"{after:.3f}",
        }
        if wait > 0:
            return Verdict({**headers, "X-RateLimit-Scope": "user"}, wait)
        return Verdict(headers)

    def _count(self, route: str, major: str, bucket: Bucket) -> tuple[float, int]:
        now = self._clock()
        ends, used = self._windows.get((route, major), (0.0, 0))
        if now >= ends:
            ends, used = now + bucket.seconds, 0
        if used >= bucket.limit:
            self._windows[route, major] = (ends, used)
            return ends - now, 0
        self._windows[route, major] = (ends, used + 1)
        return 0.0, bucket.limit - used - 1
