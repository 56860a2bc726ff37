"""Events that are acknowledged only once they are stored.

The platform delivers an event again (after 15 seconds, 5 minutes, an hour, six) unless it is
answered with 200 within three seconds. One second goes to look-ups, one to the commit; a commit
that takes longer goes on, and the event counts as not received: when it comes again, its message
is known already. Events of one chat are taken one after the other, in the order they came.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

from bots.feishu.again import as_written, edited_id, sameness_of
from bots.feishu.failures import CALL_ERRORS, is_final, reason_of
from bots.feishu.lookups import REMEMBERED, Lookups, Recent
from bots.feishu.receive import (
    PRESS,
    Me,
    bundle_of,
    event_type,
    parent_of,
    person_of,
    receive,
)
from bots.feishu.rest import Refusal
from core.channel import Intake
from core.clock import Clock
from core.context import ChatKind, InboundMessage, Press
from core.i18n import Words

log = logging.getLogger(__name__)

Answer = Mapping[str, Any]
"""What the platform gets back beside the 200."""

_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)


class NotStoredError(Exception):
    """The event must be delivered again."""


class Receiving:
    """The way of one app's events into the inbox; a commit may take some ``seconds``."""

    def __init__(
        self,
        intake: Intake,
        lookups: Lookups,
        me: Me,
        *,
        seconds: float,
        clock: Clock,
        words: Words,
    ) -> None:
        self.trouble: str | None = None
        """None while messages are stored, else a sentence for the one who runs the tutor."""
        self._intake = intake
        self._lookups = lookups
        self._me = me
        self._seconds = seconds
        self._clock = clock
        self._words = words
        self._told: Recent[str, str] = Recent(REMEMBERED)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._commits: set[asyncio.Task[None]] = set()

    async def take(self, payload: bytes) -> Answer | None:
        """Store what an event says; return when it may be acknowledged.

        What nobody has to hear of, and what can never be read, is acknowledged at once. Raises
        NotStoredError.
        """
        try:
            body = json.loads(payload)
            rewritten = edited_id(body)
            if rewritten is None:
                self._keep_first_id(body)
            else:
                body = await self._rewritten(rewritten)
            message = receive(body, self._me, self._clock.now())
            answer: Answer | None = {} if event_type(body) == PRESS else None
        except _UNREADABLE as error:  # its text would show what was written
            log.error("skipped an event that cannot be read: %s", type(error).__name__)
            return None
        if message is not None:
            turn = self._turns.setdefault(message.target.chat, asyncio.Lock())
            async with turn:
                if rewritten is None and not isinstance(message.content, Press):
                    private = message.chat_kind is ChatKind.PRIVATE
                    self._lookups.learn_chat(message.target.chat, private=private)
                message = await self._completed(body, message)
                edited = rewritten is not None
                await self._store(message.model_copy(update={"edited": edited}))
        return answer

    async def close(self, seconds: float) -> None:
        """Let commits under way finish."""
        if self._commits:
            await asyncio.wait(self._commits, timeout=seconds)

    def _keep_first_id(self, body: Mapping[str, Any]) -> None:
        """Let a message that was told before under another id have that one again."""
        sameness = sameness_of(body)
        if sameness is None:
            return
        message = body["event"]["message"]
        first = self._told.get(sameness)
        if first is None:
            self._told.put(sameness, str(message["message_id"]))
        else:
            message["message_id"] = first

    async def _rewritten(self, message_id: str) -> Mapping[str, Any]:
        """Return a rewritten message as an event, an empty one where nobody may read it any more.

        Raises NotStoredError when it may be had later.
        """
        try:
            found = await self._lookups.edited(message_id)
        except (TimeoutError, *CALL_ERRORS) as error:
            if not (isinstance(error, Refusal) and is_final(error)):
                raise NotStoredError from error
            log.info("an edit cannot be read: %s", reason_of(error))
            return {}
        return {} if found is None else as_written(found[0], private=found[1])

    async def _completed(self, body: Mapping[str, Any], message: InboundMessage) -> InboundMessage:
        """Return a message with what its event left out, as far as it is to be had."""
        lookups, me = self._lookups, self._me
        person, chat = person_of(body), message.target.chat
        pressed = isinstance(message.content, Press)
        parent_id = parent_of(body)
        parent = await lookups.parent(parent_id) if parent_id else None
        now = message.received_at
        if parent is not None:
            message = receive(body, me, now, parent) or message
        if not message.addressed:
            return message
        known, bundle = await asyncio.gather(
            lookups.person(person, chat if pressed else None), lookups.bundle(bundle_of(body))
        )
        known = replace(known, bundle=bundle)
        if parent is not None:
            known = replace(known, parent=parent.parent, parent_author=parent.parent_author)
        return receive(body, me, now, known) or message

    async def _store(self, message: InboundMessage) -> None:
        commit = asyncio.create_task(self._commit(message), name="feishu-commit")
        self._commits.add(commit)
        commit.add_done_callback(self._commits.discard)
        # Not cancelled when it is late: it would be stored without anybody working on it.
        done, _ = await asyncio.wait({commit}, timeout=self._seconds)
        if not done:
            raise NotStoredError
        commit.result()

    async def _commit(self, message: InboundMessage) -> None:
        try:
            await self._intake([message])
        except Exception as error:  # whatever the store raises: the event comes again
            sentence = self._words("Incoming messages cannot be stored; trying again.")
            level = logging.WARNING if self.trouble is None else logging.DEBUG
            log.log(level, "%s (%s)", sentence, type(error).__name__)
            self.trouble = sentence
            raise NotStoredError from error
        self.trouble = None
