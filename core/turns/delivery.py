"""Sending: takes parcels from the outbox to their channel, each chat in order, chats side by side.

It alone calls ``Channel.send`` and ``Channel.edit``. A wait for one chat (flood control, a retry)
holds no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from sqlmodel import Session

from core import outbox
from core.channel import (
    Channel,
    NotSent,
    OutcomeUnknown,
    Part,
    Rejected,
    Sent,
    Throttled,
    Unreachable,
)
from core.clock import Clock
from core.document import Document
from core.i18n import words_for
from core.logs import log_context, reference
from core.outbox import Parcel
from core.store.session import Store
from core.turns.closed import close
from core.turns.moved import moved

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
"""Seconds between looks for rows that other processes wrote."""
FIRST_RETRY, LONGEST_RETRY = 1.0, 60.0
"""Seconds; the wait doubles from one to the other."""
MOST_ATTEMPTS = 60
"""About an hour of retries; then the answer is given up, with a log line."""


class _TakenElsewhere(Exception):
    """The row is not ours to send any more."""


class Delivery:
    """The sender of one process, for the channels it holds."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._channels: dict[tuple[str, str], Channel] = {}
        self._doors: dict[tuple[str, str], str | None] = {}
        self._queues: dict[tuple[str, str, str], deque[Parcel]] = {}
        self._under_way: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self._wake = asyncio.Event()

    async def serve(self, channel: Channel, door: str | None = None) -> None:
        """Take over a started channel: settle what a killed process left, then send for it.

        ``door`` names it in the log.
        """
        now = self._clock.now()
        lost = await self._store.write(
            partial(
                outbox.recover,
                channel=channel.name,
                account=channel.account,
                now=now,
                repeatable_for=channel.capabilities.repeatable_for,
            )
        )
        if lost:
            log.warning("%d messages were cut off while being sent; their learners are told", lost)
        self._channels[channel.name, channel.account] = channel
        self._doors[channel.name, channel.account] = door
        self._wake.set()

    def hand(self, parcel: Parcel | None) -> None:
        """Send a freshly written row without waiting for the next look."""
        if parcel is None or parcel.id in self._under_way or self._closing.is_set():
            return
        address = (parcel.target.channel, parcel.target.account)
        if address not in self._channels:
            return  # another process holds that channel
        self._under_way.add(parcel.id)
        chat = (*address, parcel.target.chat)
        queue = self._queues.get(chat)
        if queue is not None:
            queue.append(parcel)
            return
        queue = self._queues[chat] = deque([parcel])
        task = asyncio.create_task(self._drive(chat, queue))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def look(self) -> None:
        """Look for new rows soon."""
        self._wake.set()

    async def run(self) -> None:
        """Look for rows of other processes until cancelled."""
        while True:
            self._wake.clear()
            try:
                await self._look()
            except Exception:  # the one guard of the look: the next one comes in any case
                log.exception("the outbox could not be read; the next look tries again")
            try:
                await asyncio.wait_for(self._wake.wait(), LOOK_EVERY)
            except TimeoutError:
                continue

    async def _look(self) -> None:
        for channel, account in list(self._channels):
            now = self._clock.now()
            look = partial(outbox.waiting, channel=channel, account=account, now=now)
            found = await self._store.read(look)
            if found.unreadable:
                await self._store.write(partial(outbox.give_up, ids=found.unreadable))
            for parcel in found.parcels:
                self.hand(parcel)

    async def drain(self, seconds: float) -> None:
        """Finish the sends under way within some seconds; the rest waits for the next start."""
        self._closing.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def settle(self) -> None:
        """Wait until everything handed over so far is sent or put back."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _drive(self, chat: tuple[str, str, str], queue: deque[Parcel]) -> None:
        channel = self._channels[chat[0], chat[1]]
        try:
            while queue and not self._closing.is_set():
                parcel = queue[0]
                with log_context(door=self._doors[chat[:2]], learner=parcel.learner_id):
                    await self._guarded(channel, parcel)
                queue.popleft()
                self._under_way.discard(parcel.id)
        finally:
            self._under_way.difference_update(parcel.id for parcel in queue)
            del self._queues[chat]

    async def _guarded(self, channel: Channel, parcel: Parcel) -> None:
        """The one guard of a send: an error nobody foresaw leaves its outcome unknown."""
        try:
            await self._deliver(channel, parcel)
        except Exception:
            log.exception("sending %s failed in an unforeseen way", parcel.key)
            now = self._clock.now()
            # Claimed or not: it would fail again, so it does not stay where it is looked for.
            await self._store.insist(partial(outbox.claim, parcel=parcel, now=now))
            await self._store.insist(partial(outbox.lose, parcel=parcel, now=now))

    async def _deliver(self, channel: Channel, parcel: Parcel) -> None:
        try:
            parts = channel.render(parcel.document)
        except ValueError:
            log.exception("the document of %s cannot be rendered", parcel.key)
            now = self._clock.now()
            await self._store.insist(partial(outbox.claim, parcel=parcel, now=now))
            await self._refused(parcel)
            return
        own = len(parts)
        if len(parcel.edits) > own:
            words = words_for(parcel.language)
            spare = Document(markdown=words("(My new answer stands above.)"))
            parts = [*parts, *list(channel.render(spare)) * (len(parcel.edits) - own)]
        while not self._closing.is_set():
            left = parts if parcel.edits else parts[:own]  # said anew, it leaves nothing to mark
            if parcel.part >= len(left) or not await self._send(channel, parcel, left, own):
                return

    async def _claim(self, parcel: Parcel) -> None:
        """Mark a part as leaving: from here to its receipt a kill leaves its outcome unknown."""
        now = self._clock.now()
        if not await self._store.insist(partial(outbox.claim, parcel=parcel, now=now)):
            raise _TakenElsewhere

    async def _send(
        self, channel: Channel, parcel: Parcel, parts: Sequence[Part], own: int
    ) -> bool:
        """Send a part; True when the next one may follow (or this one again).

        From ``own`` on the parts only mark messages of a longer answer that stood here before.
        """
        part = parts[parcel.part]
        last = parcel.part == len(parts) - 1
        try:
            if (replaced := parcel.replaces) is not None:
                await self._claim(parcel)
                await channel.edit(parcel.target, replaced, part)
                sent = Sent(replaced, parcel.target.chat)
            elif parcel.preview and parcel.concludes:
                await self._claim(parcel)
                sent = await channel.conclude(parcel.target, parcel.preview, part)
            else:
                sent = await channel.send(
                    parcel.target,
                    part,
                    key=f"{parcel.id}:{parcel.part}",
                    reply=parcel.part == 0,
                    leaving=partial(self._claim, parcel),
                )
        except _TakenElsewhere:
            return False
        except Throttled as error:
            log.info("flood control: %s waits %.1f s", parcel.key, error.retry_after)
            parcel.tried_at = None
            await self._put_back(parcel, error.retry_after)
            return True
        except NotSent as error:
            parcel.tried_at = None
            return await self._again(parcel, error)
        except OutcomeUnknown as error:
            now = self._clock.now()
            # To hear twice that something may be lost harms nobody; not to hear of it does.
            if parcel.is_notice or parcel.repeatable(now, channel.capabilities.repeatable_for):
                return await self._again(parcel, error)
            log.warning("no receipt for %s: %s", parcel.key, error)
            notice = await self._store.insist(partial(outbox.lose, parcel=parcel, now=now))
            self.hand(notice)
            return False
        except Unreachable as error:
            log.warning("%s cannot be delivered: %s", parcel.key, error)
            now = self._clock.now()
            self.hand(await self._store.insist(partial(close, parcel=parcel, now=now)))
            return False
        except Rejected as error:
            log.warning("the platform refused %s: %s", parcel.key, error)
            if parcel.part >= own:
                # Nothing is lost: the answer is there, and what was there before stays.
                await self._store.insist(partial(outbox.done, parcel=parcel))
                return False
            if parcel.replaces is not None or parcel.concludes:
                await self._store.insist(partial(outbox.as_new_message, parcel=parcel))
                return True
            await self._refused(parcel)
            return False
        now = self._clock.now()

        def record(session: Session) -> None:
            outbox.receipt(session, parcel, sent.chat, sent.message_id, now, last=last)
            target = parcel.target
            if sent.moved:
                moved(session, target.channel, target.account, target.chat, sent.chat)

        await self._store.insist(record)
        parcel.part += 1
        return True

    async def _again(self, parcel: Parcel, error: Exception) -> bool:
        """Put a part back with a growing wait; give up after about an hour."""
        parcel.attempts += 1
        if parcel.attempts > MOST_ATTEMPTS:
            log.error("gave up on %s after %d attempts: %s", parcel.key, MOST_ATTEMPTS, error)
            await self._store.insist(partial(outbox.fail, parcel=parcel))
            return False
        wait = min(LONGEST_RETRY, FIRST_RETRY * 2.0 ** (parcel.attempts - 1))
        log.info("%s is sent again in %.0f s: %s", parcel.key, wait, error)
        await self._put_back(parcel, wait)
        return True

    async def _put_back(self, parcel: Parcel, wait: float) -> None:
        later = self._clock.now() + timedelta(seconds=wait)
        await self._store.insist(partial(outbox.put_back, parcel=parcel, not_before=later))
        try:
            await asyncio.wait_for(self._closing.wait(), wait)
        except TimeoutError:
            return

    async def _refused(self, parcel: Parcel) -> None:
        """The platform will never take this: tell the learner in one plain sentence."""
        await self._store.insist(partial(outbox.fail, parcel=parcel))
        if parcel.is_notice:
            return
        words = words_for(parcel.language)
        document = Document(
            markdown=words(
                "I have an answer, but this app would not show it. Please ask again in other "
                "words. (ref {ref})",
                ref=reference(parcel.id),
            )
        )
        now = self._clock.now()
        self.hand(
            await self._store.insist(
                partial(outbox.notice, parcel=parcel, document=document, now=now)
            )
        )
