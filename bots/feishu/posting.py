"""Where a message goes and when it may: chats, threads, the limiter, what comes back.

Everything that sends or changes a message goes through here. A key travels as ``uuid``, under which
the platform shows a message once within an hour.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from bots.calls import Calls
from bots.feishu.failures import RECALLED, CallError, send_error
from bots.feishu.rest import NO_CODE, Refusal, Rest
from bots.limiter import Limiter
from core.channel import SendError, Sent, Throttled
from core.context import ReplyTarget

LONGEST_UUID: Final = 50


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message goes: below another one, or at the end of a chat."""

    chat: str
    answers: str | None
    """Id of the message it is a reply to."""
    in_thread: bool


class Posting:
    """The messages of one app on their way out."""

    def __init__(self, rest: Rest, limiter: Limiter) -> None:
        self.calls = Calls()
        """Those under way."""
        self._rest = rest
        self._limiter = limiter

    @asynccontextmanager
    async def turn(self, target: ReplyTarget) -> AsyncIterator[None]:
        """Wait for the limiter; what happens inside is under way."""
        await self._limiter.wait(target.chat, group=False)
        async with self.calls.call():
            yield

    @asynccontextmanager
    async def spare_turn(self, target: ReplyTarget) -> AsyncIterator[None]:
        """Like ``turn``, but raise Throttled where that would wait."""
        if wait := self._limiter.spare(target.chat, group=False):
            raise Throttled(wait)
        async with self.calls.call():
            yield

    async def place(self, target: ReplyTarget, reply: bool) -> Place:
        """Return where a part goes; a thread can only be reached through a message in it.

        Raises what calls raise.
        """
        if target.thread is None:
            return Place(target.chat, target.reply_to if reply else None, in_thread=False)
        anchor = target.reply_to or await self._first_of(target.thread)
        return Place(target.chat, anchor, in_thread=True)

    async def post(self, place: Place, kind: str, content: str, key: str) -> Sent:
        """Send a message; under the same key it is shown once. Raises what calls raise."""
        body: dict[str, Any] = {"msg_type": kind, "content": content, "uuid": _uuid(key)}
        if place.answers is not None:
            body |= {"reply_in_thread": True} if place.in_thread else {}
            path = f"/im/v1/messages/{place.answers}/reply"
            answer = await self._rest.call("POST", path, body=body)
        else:
            answer = await self._rest.call(
                "POST",
                "/im/v1/messages",
                query={"receive_id_type": "chat_id"},
                body={**body, "receive_id": place.chat},
            )
        data = answer.get("data")
        if not isinstance(data, Mapping) or "message_id" not in data:
            raise Refusal(200, NO_CODE, "the answer names no message")
        return Sent(str(data["message_id"]), str(data.get("chat_id") or place.chat))

    def heeded(self, target: ReplyTarget, error: CallError) -> SendError:
        """Translate an error; flood control also holds back what else goes to this chat."""
        told = send_error(error)
        if isinstance(told, Throttled):
            self._limiter.pause(target.chat, told.retry_after, group=False)
        return told

    async def _first_of(self, thread: str) -> str:
        query = {"container_id_type": "thread", "container_id": thread, "page_size": "1"}
        answer = await self._rest.call("GET", "/im/v1/messages", query=query)
        try:
            return str(answer["data"]["items"][0]["message_id"])
        except (KeyError, IndexError, TypeError):
            raise Refusal(200, RECALLED, "the thread is empty") from None


def _uuid(key: str) -> str:
    """Return a key as the platform takes it, at most 50 characters."""
    if len(key) <= LONGEST_UUID:
        return key
    return hashlib.sha256(key.encode()).hexdigest()[:LONGEST_UUID]
