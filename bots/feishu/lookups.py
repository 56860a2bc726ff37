"""What events leave out and has to be asked for: names, kinds of chats, messages replied to.

All of it is a help and none of it a need: what cannot be had in time is done without.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable
from typing import Any, Final, Generic, TypeVar

from bots.feishu.failures import CALL_ERRORS, reason_of
from bots.feishu.receive import Known, Me, author_of, bundled
from bots.feishu.rest import Refusal, Rest

log = logging.getLogger(__name__)

_MOST_AUTHORS: Final = 10
"""People of a bundle whose names are asked for."""
REMEMBERED: Final = 2000

_UNKNOWN: Final = frozenset({41012, 41050, 99991672})
"""Codes that say: this name is not for us. Asking again would not help."""

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A dictionary that forgets what was used least recently."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return what is remembered, None when nothing is."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: K, value: V) -> None:
        """Remember a value."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)


class Lookups:
    """The look-ups of one app, with what they brought so far. Each may take some ``seconds``."""

    def __init__(self, rest: Rest, me: Me, seconds: float) -> None:
        self._rest = rest
        self._me = me
        self._seconds = seconds
        self._names: Recent[str, str] = Recent(REMEMBERED)
        self._private: Recent[str, bool] = Recent(REMEMBERED)

    def learn_chat(self, chat: str, *, private: bool) -> None:
        """Remember a kind of chat that an event told."""
        self._private.put(chat, private)

    async def parent(self, message_id: str) -> Known:
        """Return the message replied to and its author's name, as far as they are to be had."""
        found = await self._in_time(self._message(message_id))
        if found is None:
            return Known()
        author, ours = author_of(found, self._me)
        name = "" if ours else self._names.get(author) or ""
        return Known(parent=found, parent_author=name)

    async def edited(self, message_id: str) -> tuple[dict[str, Any], bool] | None:
        """Return a message as it is now and whether its chat is private, None for one taken back.

        Raises what calls raise, and TimeoutError.
        """
        async with asyncio.timeout(self._seconds):
            found = await self._message(message_id)
            if found is None or found.get("deleted"):
                return None
            return found, await self._is_private(str(found.get("chat_id"))) is True

    async def bundle(self, message_id: str | None) -> str:
        """Return the words of a bundle of messages, empty when they are not to be had."""
        if message_id is None:
            return ""
        return await self._in_time(self._bundle(message_id)) or ""

    async def person(self, open_id: str, chat: str | None) -> Known:
        """Return the name of a person and, of a chat, whether it is a private one."""
        name, private = await asyncio.gather(
            self._in_time(self._name(open_id)), self._in_time(self._is_private(chat))
        )
        return Known(name=name or "", private=private)

    async def _bundle(self, message_id: str) -> str:
        items = _data(await self._rest.call("GET", f"/im/v1/messages/{message_id}")).get("items")
        authors = {
            author_of(item, self._me)[0]
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict)
        }
        people = sorted(author for author in authors if author.startswith("ou_"))[:_MOST_AUTHORS]
        names = await asyncio.gather(*map(self._name, people), return_exceptions=True)
        known = zip(people, names, strict=True)
        return bundled(items, {who: name for who, name in known if isinstance(name, str)})

    async def _name(self, open_id: str) -> str | None:
        known = self._names.get(open_id)
        if known is not None:
            return known
        try:
            answer = await self._rest.call(
                "GET", f"/contact/v3/users/{open_id}", query={"user_id_type": "open_id"}
            )
        except Refusal as refusal:
            if refusal.code in _UNKNOWN:
                self._names.put(open_id, "")
            raise
        name = str(_data(answer, "user").get("name") or "")
        self._names.put(open_id, name)
        return name

    async def _is_private(self, chat: str | None) -> bool | None:
        known = None if chat is None else self._private.get(chat)
        if chat is None or known is not None:
            return known
        answer = await self._rest.call("GET", f"/im/v1/chats/{chat}")
        mode = _data(answer).get("chat_mode")
        if not isinstance(mode, str):
            return None
        self._private.put(chat, mode == "p2p")
        return mode == "p2p"

    async def _message(self, message_id: str) -> dict[str, Any] | None:
        answer = await self._rest.call("GET", f"/im/v1/messages/{message_id}")
        items = _data(answer).get("items")
        first = items[0] if isinstance(items, list) and items else None
        return first if isinstance(first, dict) else None

    async def _in_time(self, looking: Awaitable[K]) -> K | None:
        """Return what a look-up brings, None when it fails or takes too long."""
        try:
            async with asyncio.timeout(self._seconds):
                return await looking
        except TimeoutError:
            log.debug("a look-up took too long")
        except CALL_ERRORS as error:
            log.debug("a look-up failed: %s", reason_of(error))
        return None


def _data(answer: dict[str, Any], *path: str) -> dict[str, Any]:
    found: Any = answer
    for name in ("data", *path):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
