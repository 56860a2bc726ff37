"""The life of a Telegram bot account: the ``Channel`` port over polling and transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import AiogramError, TelegramNotFound, TelegramUnauthorizedError
from aiogram.types import User
from aiogram.utils.token import TokenValidationError
from pydantic import SecretStr

from bots.limiter import Limiter, Rates
from bots.parts import message_of, payload_of
from bots.telegram.failures import reason_of
from bots.telegram.polling import Pace, Polling
from bots.telegram.preview import preview
from bots.telegram.profile import register
from bots.telegram.receive import CHANNEL, Me
from bots.telegram.render import TelegramPart, render
from bots.telegram.settings import API_BASE
from bots.telegram.transport import REQUEST_SECONDS, Transport
from core.channel import (
    AttachmentUnreachable,
    Capabilities,
    ChannelStartError,
    ChannelUnreachable,
    Intake,
    Leaving,
    NotSent,
    Part,
    Sent,
    Shown,
    Watch,
    at_once,
)
from core.clock import Clock, SystemClock
from core.commands.declare import Menu
from core.context import Attachment, ReplyTarget
from core.document import Document
from core.i18n import Words

log = logging.getLogger(__name__)

RATES: Final = Rates(per_chat=1.0, per_group_minute=20, overall=30)
"""What a bot may send (core.telegram.org/bots/faq, "My bot is hitting limits")."""

STOP_SECONDS: Final = 2.0
"""How long ``stop`` waits for a commit and for sends under way."""


class TelegramChannel:
    """One bot account. ``words`` are for the one who runs the tutor; ``rates`` None lifts them."""

    name: str = CHANNEL
    capabilities = Capabilities(can_edit=True, repeatable_for=0, proactive=True)

    def __init__(
        self,
        token: SecretStr,
        *,
        words: Words,
        api_base: str = API_BASE,
        rates: Rates | None = RATES,
        clock: Clock | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.account: str = token.get_secret_value().partition(":")[0]
        self._token = token
        self._words = words
        self._api_base = api_base
        self._clock = clock or SystemClock()
        self._pace = pace or Pace()
        self._limiter = Limiter(rates)
        self._bot: Bot | None = None
        self._transport: Transport | None = None
        self._polling: Polling | None = None

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        """Introduce the bot, register the menus, begin to receive. Raises ChannelStartError."""
        try:
            bot = Bot(
                self._token.get_secret_value(),
                session=AiohttpSession(
                    api=TelegramAPIServer.from_base(self._api_base), timeout=REQUEST_SECONDS
                ),
            )
        except TokenValidationError:
            raise self._wrong_token() from None
        started = False
        try:
            user = await self._introduce(bot)
            await register(bot, menus)
            started = True
        finally:
            if not started:
                await bot.session.close()
        self.account = str(user.id)
        self._bot = bot
        self._transport = Transport(bot, self._limiter)
        self._polling = Polling(
            bot,
            Me(id=user.id, username=user.username or ""),
            self.account,
            intake,
            clock=self._clock,
            words=self._words,
            pace=self._pace,
        )
        self._polling.start()

    async def stop(self) -> None:
        """Stop receiving, let sends under way finish, disconnect. Safe to call twice."""
        bot, self._bot = self._bot, None
        if bot is None or self._transport is None or self._polling is None:
            return
        try:
            await asyncio.gather(
                self._polling.stop(STOP_SECONDS), self._transport.close(STOP_SECONDS)
            )
        finally:
            await bot.session.close()

    def render(self, document: Document) -> Sequence[Part]:
        """Split a document into messages within the platform's limits."""
        return [Part(payload=part) for part in (*render(document), *document.files)]

    async def send(
        self,
        target: ReplyTarget,
        part: Part,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Send one part; the platform knows no idempotency key. Raises a SendError."""
        return await self._open().send(
            target, payload_of(part, TelegramPart), reply=reply, leaving=leaving
        )

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        """Replace a sent message. Raises a SendError."""
        await self._open().edit(target, message_id, message_of(part, TelegramPart))

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show "typing" until the context is left. Never raises; nothing is shown when closed."""
        return self._transport.typing(target) if self._transport else nullcontext()

    def preview(
        self,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
        again: bool = False,
    ) -> AbstractAsyncContextManager[Watch]:
        """Show the growing answer: as a draft in private, as a message that is edited elsewhere.

        A draft passes by itself and leaves no handle.
        """
        if self._transport is None:
            return nullcontext(lambda event: None)
        return preview(self._transport, target, key=key, handle=handle, shown=shown)

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        """Put the final answer in the place of a preview. Raises a SendError."""
        await self.edit(target, handle, part)
        return Sent(handle, target.chat)

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        """Get an attachment. Raises a FetchError."""
        if self._transport is None:
            raise AttachmentUnreachable("the channel is not open")
        return await self._transport.fetch(attachment.id, most)

    def health(self) -> str | None:
        """None while updates come in, else a sentence that says what is wrong."""
        if self._bot is None or self._polling is None:
            return self._words("Telegram is not connected.")
        return self._polling.trouble

    def _open(self) -> Transport:
        if self._transport is None:
            raise NotSent("the channel has not started")
        return self._transport

    async def _introduce(self, bot: Bot) -> User:
        """Return who the bot is, and take it from a webhook to polling."""
        try:
            user = await bot.get_me()
            await bot.delete_webhook()
        except (TelegramUnauthorizedError, TelegramNotFound):
            raise self._wrong_token() from None
        except AiogramError as error:
            sentence = self._words(
                "Telegram cannot be reached at {address} ({reason}). Check the connection and "
                "TELEGRAM_API_BASE.",
                address=self._api_base,
                reason=reason_of(error),
            )
            raise ChannelUnreachable(sentence) from error
        log.info("connected as @%s", user.username)
        if not user.can_read_all_group_messages:
            log.info(
                "privacy mode is on: in groups the bot gets commands, mentions and replies, which "
                "is all it needs; if mentions do not reach it, turn privacy off with @BotFather "
                "and add the bot to the group again"
            )
        return user

    def _wrong_token(self) -> ChannelStartError:
        return ChannelStartError(
            self._words(
                "Telegram does not know TELEGRAM_BOT_TOKEN. Copy the whole token from @BotFather "
                "(send it /token) into .env and start again."
            )
        )
