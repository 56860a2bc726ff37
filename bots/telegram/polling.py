"""Long polling that acknowledges nothing before it is stored.

The library's own polling moves the offset before a handler has finished, and lets one update it
cannot decode fail its whole batch. Here updates come raw and are decoded one by one, the batch is
committed by ``intake``, and only then does the offset move, which is Telegram's acknowledgement.
Whatever fails is tried again for ever, with the same offset, and shows in ``trouble`` meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    TelegramConflictError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.methods import AnswerCallbackQuery, Response, TelegramMethod
from aiogram.types import Update

from bots.telegram.failures import reason_of
from bots.telegram.receive import Me, receive
from core.channel import Intake
from core.clock import Clock
from core.context import InboundMessage
from core.i18n import Words

log = logging.getLogger(__name__)

WANTED: Final = ["message", "edited_message", "callback_query", "my_chat_member"]
"""Update types we ask for (F036); all others stay with the platform."""

_SPARE_SECONDS: Final = 10
"""How much longer than a long poll its request may take."""

T = TypeVar("T")


class RawGetUpdates(TelegramMethod[list[Any]]):
    """``getUpdates`` whose result is left undecoded."""

    __returning__: ClassVar[Any] = list[Any]
    __api_method__: ClassVar[str] = "getUpdates"

    offset: int | None = None
    timeout: int
    allowed_updates: list[str]


_ANSWER: Final = Response[list[Any]]
"""Kept, so that the library does not build it anew with each poll (as in ``transport``)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds."""

    long_poll: int = 25
    """How long the platform holds an empty poll."""
    first_retry: float = 0.5
    """Pause after a first failure; it doubles."""
    longest_retry: float = 5.0


class Polling:
    """The receiving half of one bot account, from ``start`` to ``stop``."""

    def __init__(
        self,
        bot: Bot,
        me: Me,
        account: str,
        intake: Intake,
        *,
        clock: Clock,
        words: Words,
        pace: Pace,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.trouble: str | None = None
        """None while updates come in, else a sentence for the one who runs the tutor."""
        self._bot = bot
        self._me = me
        self._account = account
        self._intake = intake
        self._clock = clock
        self._words = words
        self._pace = pace
        self._jitter = jitter
        self._offset: int | None = None
        self._failures = 0
        self._stopping = False
        self._waiting = False
        self._task: asyncio.Task[None] | None = None
        self._answers: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to receive."""
        self._task = asyncio.create_task(self._run(), name="telegram-polling")

    async def stop(self, seconds: float) -> None:
        """Stop receiving. A commit under way may take ``seconds``; a long poll is dropped."""
        self._stopping = True
        if self._task is not None:
            if self._waiting:
                self._task.cancel()
            await asyncio.wait([self._task], timeout=seconds)
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._answers:
            await asyncio.wait(self._answers, timeout=seconds)
        for answer in self._answers:
            answer.cancel()
        if self._answers:
            await asyncio.wait(self._answers)

    async def _run(self) -> None:
        while not self._stopping:
            try:
                pause = await self._poll()
            except Exception as error:  # the one guard of receiving: it has to go on
                log.exception("receiving failed in a way nobody foresaw")
                pause = self._failed(self._words("Receiving failed; trying again."), error)
            if pause and not self._stopping:
                await self._idle(asyncio.sleep(pause))

    async def _poll(self) -> float:
        """Fetch and commit one batch. Return the seconds to wait before the next one."""
        words = self._words
        # After trouble the first poll is a short one, so that recovery shows at once.
        seconds = 0 if self.trouble else self._pace.long_poll
        method = RawGetUpdates(offset=self._offset, timeout=seconds, allowed_updates=WANTED)
        try:
            raw = await self._idle(self._bot(method, request_timeout=seconds + _SPARE_SECONDS))
        except TelegramRetryAfter as error:
            self._failed(words("Telegram asks for a pause; receiving goes on by itself."), error)
            return float(error.retry_after)
        except TelegramConflictError as error:
            await self._drop_webhook(error)
            sentence = words(
                "Another program receives with the same TELEGRAM_BOT_TOKEN. Stop it, or make a "
                "new bot with @BotFather."
            )
            return self._failed(sentence, error)
        except (TelegramUnauthorizedError, TelegramNotFound) as error:
            sentence = words(
                "Telegram no longer accepts TELEGRAM_BOT_TOKEN. Ask @BotFather for the present "
                "one and start again."
            )
            return self._failed(sentence, error)
        except AiogramError as error:
            return self._failed(words("Telegram cannot be reached; trying again."), error)
        return await self._take(raw)

    async def _take(self, raw: list[Any]) -> float:
        updates = [update for update in map(self._decoded, raw) if update is not None]
        batch = [message for message in map(self._received, updates) if message is not None]
        if batch:
            try:
                await self._intake(batch)
            except Exception as error:  # noqa: BLE001 - whatever the store raises: nothing is lost
                sentence = self._words("Incoming messages cannot be stored; trying again.")
                return self._failed(sentence, error)
        self._answer_presses(updates)
        ids = [number for number in map(_update_id, raw) if number is not None]
        if ids:
            self._offset = max(ids) + 1
        elif raw:  # nothing there could ever be acknowledged
            return self._failed(self._words("Telegram sends what cannot be read."), None)
        self._worked()
        return 0.0

    def _decoded(self, raw: Any) -> Update | None:
        try:
            return Update.model_validate(raw, context={"bot": self._bot})
        except ValueError as error:  # its text would show what was written
            self._skipped(raw, error)
            return None

    def _received(self, update: Update) -> InboundMessage | None:
        try:
            return receive(update, self._me, self._account, self._clock.now())
        except Exception as error:  # noqa: BLE001 - one update must never hold the others
            self._skipped({"update_id": update.update_id}, error)
            return None

    def _skipped(self, raw: Any, error: Exception) -> None:
        kinds = sorted(map(str, raw)) if isinstance(raw, dict) else [type(raw).__name__]
        log.error("skipped an update that cannot be read: %s, %s", kinds, type(error).__name__)

    def _answer_presses(self, updates: list[Update]) -> None:
        """End the spinner on pressed buttons, beside the loop; too late is no harm."""
        for update in updates:
            if update.callback_query is not None:
                answer = asyncio.create_task(self._answer(update.callback_query.id))
                self._answers.add(answer)
                answer.add_done_callback(self._answers.discard)

    async def _answer(self, query: str) -> None:
        try:
            await self._bot(AnswerCallbackQuery(callback_query_id=query))
        except AiogramError as error:
            log.debug("a pressed button was not answered: %s", reason_of(error))

    async def _drop_webhook(self, error: TelegramConflictError) -> None:
        if "webhook" not in reason_of(error).lower():
            return
        try:
            await self._bot.delete_webhook()
        except AiogramError as failure:
            log.warning("the webhook in the way stays: %s", reason_of(failure))

    async def _idle(self, waiting: Awaitable[T]) -> T:
        """Await what ``stop`` may cut short without losing anything."""
        self._waiting = True
        try:
            return await waiting
        finally:
            self._waiting = False

    def _failed(self, sentence: str, error: Exception | None) -> float:
        """Note the trouble, logged when it is new. Return the seconds to wait."""
        reason = reason_of(error) if isinstance(error, AiogramError) else type(error).__name__
        level = logging.WARNING if sentence != self.trouble else logging.DEBUG
        log.log(level, "%s (%s)", sentence, reason)
        self.trouble = sentence
        pause = min(self._pace.longest_retry, self._pace.first_retry * 2.0**self._failures)
        self._failures = min(self._failures + 1, 20)
        return pause * (0.75 + 0.25 * self._jitter())  # never in step with a rival

    def _worked(self) -> None:
        if self.trouble is not None:
            log.info("receiving again")
        self.trouble = None
        self._failures = 0


def _update_id(raw: Any) -> int | None:
    number = raw.get("update_id") if isinstance(raw, dict) else None
    return number if isinstance(number, int) else None
