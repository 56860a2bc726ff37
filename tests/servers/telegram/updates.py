"""The queue of updates and who may read it.

An update stays until a later getUpdates has a higher offset; what is not confirmed comes again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.changes import Changes
from tests.servers.telegram.errors import conflict
from tests.servers.telegram.limits import POLL_SECONDS, UPDATES_AT_ONCE

Update = dict[str, Any]

NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""Kinds of updates that come only when asked for by name."""


@dataclass(slots=True)
class _Entry:
    update: Update
    again: bool
    """Delivered once more whatever the offset says."""
    delivered: bool = False


class Updates:
    """Updates not confirmed yet. Guarded by the server's lock."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._pending: list[_Entry] = []
        self._next_id = 1000
        self._allowed: frozenset[str] | None = None
        self._poller: object | None = None
        self._lost_to = ""
        self.confirmed_offset = 0
        """Highest offset a getUpdates has come with: all below are the client's own care now."""
        self.webhook = ""
        self.closed: Callable[[], bool] = lambda: False

    @property
    def pending(self) -> list[Update]:
        """Updates not confirmed, in the order they will be delivered."""
        with self._changes.lock:
            return [entry.update for entry in self._pending]

    @property
    def waiting(self) -> bool:
        """Whether a getUpdates stands open."""
        return self._poller is not None

    def push(self, kind: str, payload: dict[str, Any]) -> Update | None:
        """Queue an update; None when the client has not asked for this kind."""
        with self._changes.lock:
            if self._allowed is None and kind in NOT_BY_DEFAULT:
                return None
            if self._allowed is not None and kind not in self._allowed:
                return None
            return self.push_raw({kind: payload})

    def push_raw(self, update: Update, *, again: bool = False) -> Update:
        """Queue any object; it gets the next id unless it has one."""
        with self._changes.lock:
            update = {"update_id": self._next_id, **update}
            if isinstance(update["update_id"], int):
                self._next_id = max(self._next_id, update["update_id"] + 1)
            self._pending.append(_Entry(update, again))
        self._changes.announce()
        return update

    def allow(self, kinds: object) -> None:
        """Set which kinds are queued from now on; an empty list means the default."""
        if isinstance(kinds, list):
            self._allowed = frozenset(map(str, kinds)) or None

    def forget_all(self) -> None:
        """Drop what is pending."""
        self._pending.clear()

    async def read(self, offset: int, limit: int, seconds: int) -> list[Update]:
        """Confirm below ``offset``, then return updates, waiting ``seconds`` for one."""
        limit = min(max(limit, 1), UPDATES_AT_ONCE)
        ticket = object()
        with self._changes.lock:
            if self.webhook:
                raise conflict(
                    "can't use getUpdates method while webhook is active; "
                    "use deleteWebhook to delete the webhook first"
                )
            self._confirm(offset)
            batch = self._take(limit)
            if batch or seconds <= 0:
                return batch
            # The newcomer stays, the older one is told to go.
            self._lost_to = "other getUpdates request; make sure that only one bot instance"
            self._lost_to += " is running"
            self._poller = ticket
        self._changes.announce()
        with contextlib.suppress(TimeoutError):
            await self._changes.wait_for(
                lambda: self._poller is not ticket or self._pending or self.closed(),
                min(seconds, POLL_SECONDS),
            )
        with self._changes.lock:
            if self._poller is not ticket:
                raise conflict(f"terminated by {self._lost_to}")
            self._poller = None
            return self._take(limit)

    def set_webhook(self, url: str) -> None:
        """Turn long polling off; a getUpdates that stands open is told so."""
        with self._changes.lock:
            self.webhook = url
            if url and self._poller is not None:
                self._lost_to = "setWebhook request"
                self._poller = None
        self._changes.announce()

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            self._pending = self._pending[offset:]
        elif offset > 0:
            self.confirmed_offset = max(self.confirmed_offset, offset)
            self._pending = [entry for entry in self._pending if not _done(entry, offset)]

    def _take(self, limit: int) -> list[Update]:
        batch = self._pending[:limit]
        for entry in batch:
            entry.delivered = True
        return [entry.update for entry in batch]


def _done(entry: _Entry, offset: int) -> bool:
    if entry.again:
        return entry.delivered
    number = entry.update["update_id"]
    return isinstance(number, int) and number < offset
