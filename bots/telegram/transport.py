"""One call, one part: what leaves for the platform, and how the platform's answers are taken.

Text goes out with ``entities`` and never with a parse mode, so nothing a person or a model wrote
can be read as markup. Every send and edit waits for the limiter of the account first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from aiogram import Bot
from aiogram.enums import ChatAction
from aiogram.exceptions import (
    AiogramError,
    TelegramBadRequest,
    TelegramMigrateToChat,
    TelegramRetryAfter,
)
from aiogram.methods import EditMessageText, Response, SendChatAction, SendMessage, TelegramMethod
from aiogram.types import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)

from bots.calls import Calls
from bots.limiter import Limiter
from bots.telegram.failures import is_entity_trouble, is_unchanged, reason_of, send_error
from bots.telegram.receive import GENERAL
from bots.telegram.render import TelegramPart, plain_part
from core.channel import Leaving, Rejected, Sent, at_once
from core.context import ReplyTarget

log = logging.getLogger(__name__)

REQUEST_SECONDS: Final = 20
"""How long the platform may take for one call."""

TYPING_SECONDS: Final = 4.0
"""The sign fades after five seconds (sendChatAction)."""

_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)

_ANSWERS: Final = tuple(
    Response[method.__returning__]  # type: ignore[name-defined]
    for method in (SendMessage, EditMessageText, SendChatAction)
)
"""Kept, so that they are there: the library builds the model of an answer from its parts, with each
call anew where nobody holds it, which costs more than the call."""

T = TypeVar("T")


class Transport:
    """Sends, edits and typing signs of one bot account."""

    def __init__(self, bot: Bot, limiter: Limiter) -> None:
        self._bot = bot
        self._limiter = limiter
        self._calls = Calls()

    async def close(self, seconds: float) -> None:
        """Let calls under way finish, for ``seconds`` at most; refuse all others from now on."""
        await self._calls.close(seconds)

    async def send(
        self, target: ReplyTarget, part: TelegramPart, *, reply: bool, leaving: Leaving = at_once
    ) -> Sent:
        """Send one part to the target's chat and thread. Raises a SendError.

        ``leaving`` is awaited after the limiter and before the first call. Formatting that is
        refused is left out and the text sent again; a group that became a supergroup gets the
        part at its new address, which the receipt tells (F033).
        """
        try:
            return await self._send(target, part, reply, leaving)
        except TelegramMigrateToChat as moved:
            there = target.model_copy(update={"chat": str(moved.migrate_to_chat_id)})
            log.info("a group became a supergroup: its chat id has changed")
            try:
                # Message ids begin anew there: a reply would quote a stranger's words.
                return await self._send(there, part, False, at_once)
            except AiogramError as error:
                raise send_error(error) from error
        except AiogramError as error:
            raise send_error(error) from error

    async def _send(
        self, target: ReplyTarget, part: TelegramPart, reply: bool, leaving: Leaving
    ) -> Sent:
        def method(part: TelegramPart) -> SendMessage:
            return SendMessage(
                chat_id=int(target.chat),
                message_thread_id=_sending_thread(target),
                text=part.text,
                entities=_entities(part),
                reply_markup=_keyboard(part),
                reply_parameters=_reply(target) if reply else None,
                link_preview_options=_NO_PREVIEW,
            )

        message = await self._formatted_or_plain(target, part, method, leaving)
        return Sent(message_id=str(message.message_id), chat=str(message.chat.id))

    async def edit(self, target: ReplyTarget, message_id: str, part: TelegramPart) -> None:
        """Replace text and buttons of a message. Raises a SendError.

        That it already reads like this is no error.
        """

        def method(part: TelegramPart) -> EditMessageText:
            return EditMessageText(
                chat_id=int(target.chat),
                message_id=int(message_id),
                text=part.text,
                entities=_entities(part),
                reply_markup=_keyboard(part),
                link_preview_options=_NO_PREVIEW,
            )

        try:
            await self._formatted_or_plain(target, part, method)
        except TelegramMigrateToChat as moved:
            raise Rejected("the message stayed behind in the old group") from moved
        except AiogramError as error:
            if not is_unchanged(error):
                raise send_error(error) from error

    async def _formatted_or_plain(
        self,
        target: ReplyTarget,
        part: TelegramPart,
        method: Callable[[TelegramPart], TelegramMethod[T]],
        leaving: Leaving = at_once,
    ) -> T:
        try:
            return await self._call(target, method(part), leaving)
        except TelegramBadRequest as error:
            if not is_entity_trouble(error):
                raise
            log.warning("formatting refused, sending plain text: %s", reason_of(error))
            return await self._call(target, method(plain_part(part)))

    async def _call(
        self, target: ReplyTarget, method: TelegramMethod[T], leaving: Leaving = at_once
    ) -> T:
        group = target.chat.startswith("-")  # chat ids of groups are negative, of people positive
        await self._limiter.wait(target.chat, group=group)
        async with self._calls.call():
            await leaving()
            try:
                return await self._bot(method, request_timeout=REQUEST_SECONDS)
            except TelegramRetryAfter as error:
                self._limiter.pause(target.chat, float(error.retry_after), group=group)
                raise

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show "typing" until the context is left. Never raises, never delays.

        The library's ``ChatActionSender`` waits at its end for a call under way.
        """
        return self._calls.sign(lambda: self._keep_typing(target))

    async def _keep_typing(self, target: ReplyTarget) -> None:
        action = SendChatAction(
            chat_id=int(target.chat),
            message_thread_id=int(target.thread) if target.thread else None,  # General too (F035)
            action=ChatAction.TYPING,
        )
        while True:
            pause = TYPING_SECONDS
            try:
                await self._bot(action, request_timeout=REQUEST_SECONDS)
            except TelegramRetryAfter as error:
                pause = max(pause, float(error.retry_after))
            except AiogramError as error:
                log.debug("no typing sign: %s", reason_of(error))
            await asyncio.sleep(pause)


def _sending_thread(target: ReplyTarget) -> int | None:
    """Return the thread to name in a send: the General topic must not be named (F012)."""
    return None if target.thread in (None, GENERAL) else int(target.thread)


def _reply(target: ReplyTarget) -> ReplyParameters | None:
    if target.reply_to is None:
        return None
    return ReplyParameters(message_id=int(target.reply_to), allow_sending_without_reply=True)


def _entities(part: TelegramPart) -> list[MessageEntity]:
    return [
        MessageEntity(
            type=entity.type,
            offset=entity.offset,
            length=entity.length,
            url=entity.url,
            language=entity.language,
        )
        for entity in part.entities
    ]


def _keyboard(part: TelegramPart) -> InlineKeyboardMarkup | None:
    if not part.buttons:
        return None
    return InlineKeyboardMarkup(
        inline_keyboard=[
            [
                InlineKeyboardButton(text=button.label, callback_data=button.callback_data)
                for button in row
            ]
            for row in part.buttons
        ]
    )
