"""One call, one part: what leaves for the platform, and how the platform's answers are taken.

Text goes out with ``entities`` and never with a parse mode, so nothing a person or a model wrote
can be read as markup. Every send and edit waits for the limiter of the account first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from typing import Any, Final, TypeVar

from aiogram import Bot
from aiogram.enums import ChatAction
from aiogram.exceptions import (
    AiogramError,
    TelegramBadRequest,
    TelegramMigrateToChat,
    TelegramNotFound,
    TelegramRetryAfter,
)
from aiogram.methods import (
    EditMessageText,
    Response,
    SendChatAction,
    SendDocument,
    SendMessage,
    SendMessageDraft,
    SendPhoto,
    SendRichMessage,
    TelegramMethod,
)
from aiogram.types import (
    BufferedInputFile,
    LinkPreviewOptions,
    Message,
)
from aiohttp import ClientError, ClientResponseError

from bots.calls import Calls
from bots.limiter import Limiter
from bots.telegram.failures import (
    fetch_error,
    is_entity_trouble,
    is_picture_trouble,
    is_rich_trouble,
    is_rich_unknown,
    is_unchanged,
    reason_of,
    send_error,
)
from bots.telegram.render import TelegramPart, plain_part
from bots.telegram.wire import (
    entities,
    is_group,
    keyboard,
    reply_to,
    rich_message,
    sending_thread,
)
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    Leaving,
    Rejected,
    Sent,
    Throttled,
    at_once,
)
from core.context import ReplyTarget
from core.document import File

log = logging.getLogger(__name__)

REQUEST_SECONDS: Final = 20
"""How long the platform may take for one call."""

TYPING_SECONDS: Final = 4.0
"""The sign fades after five seconds (sendChatAction)."""

FETCH_SECONDS: Final = 60
"""How long a file may take to come."""

_PHOTOS: Final = frozenset({"image/jpeg", "image/png", "image/webp"})
_LARGEST_PHOTO: Final = 10_000_000
"""Bytes (sendPhoto); larger pictures go as files."""

_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)

_ANSWERS: Final = tuple(
    Response[method.__returning__]  # type: ignore[name-defined]
    for method in (
        SendMessage,
        SendRichMessage,
        EditMessageText,
        SendChatAction,
        SendPhoto,
        SendDocument,
    )
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
        self.drafts = True
        """The server knows drafts; False from the first one that it did not know."""
        self._rich = True
        """The same of rich messages."""

    async def close(self, seconds: float) -> None:
        """Let calls under way finish, for ``seconds`` at most; refuse all others from now on."""
        await self._calls.close(seconds)

    async def send(
        self,
        target: ReplyTarget,
        part: TelegramPart | File,
        *,
        reply: bool,
        leaving: Leaving = at_once,
        patient: bool = True,
    ) -> Sent:
        """Send one part to the target's chat and thread. Raises a SendError.

        ``leaving`` is awaited after the limiter and before the first call; ``patient`` False raises
        Throttled where the limiter would wait. Formatting that is refused is left out and the text
        sent again; a group that became a supergroup gets the part at its new address, which the
        receipt tells (F033).
        """
        if not patient:
            self._take_spare(target)
        try:
            return await self._send(target, part, reply, leaving, patient)
        except TelegramMigrateToChat as moved:
            if not patient:
                raise Rejected("the group has moved") from moved  # a preview is not worth it
            there = target.model_copy(update={"chat": str(moved.migrate_to_chat_id)})
            log.info("a group became a supergroup: its chat id has changed")
            try:
                # Message ids begin anew there: a reply would quote a stranger's words.
                sent = await self._send(there, part, False, at_once, True)
                return replace(sent, moved=True)
            except AiogramError as error:
                raise send_error(error) from error
        except AiogramError as error:
            raise send_error(error) from error

    async def _send(
        self,
        target: ReplyTarget,
        part: TelegramPart | File,
        reply: bool,
        leaving: Leaving,
        patient: bool,
    ) -> Sent:
        if isinstance(part, File):
            return await self._send_file(target, part, reply, leaving)

        place: dict[str, Any] = {
            "chat_id": int(target.chat),
            "message_thread_id": sending_thread(target),
            "reply_parameters": reply_to(target) if reply else None,
            "reply_markup": keyboard(part),
        }

        def method(part: TelegramPart) -> TelegramMethod[Message]:
            if part.rich:
                return SendRichMessage(rich_message=rich_message(part), **place)
            return SendMessage(
                text=part.text,
                entities=entities(part),
                link_preview_options=_NO_PREVIEW,
                **place,
            )

        message = await self._formatted_or_plain(target, part, method, leaving, patient)
        return Sent(message_id=str(message.message_id), chat=str(message.chat.id))

    async def _send_file(
        self, target: ReplyTarget, file: File, reply: bool, leaving: Leaving
    ) -> Sent:
        """Send a picture as one, anything else as a file; a picture that is refused too."""
        given = BufferedInputFile(file.data, file.name)
        place: dict[str, Any] = {
            "chat_id": int(target.chat),
            "message_thread_id": sending_thread(target),
            "reply_parameters": reply_to(target) if reply else None,
        }
        if file.mime in _PHOTOS and len(file.data) <= _LARGEST_PHOTO:
            try:
                message = await self._call(target, SendPhoto(photo=given, **place), leaving)
                return Sent(message_id=str(message.message_id), chat=str(message.chat.id))
            except TelegramBadRequest as error:
                if not is_picture_trouble(error):
                    raise
                log.info("sent as a file, the picture was refused: %s", reason_of(error))
                leaving = at_once
        document = SendDocument(document=given, disable_content_type_detection=True, **place)
        message = await self._call(target, document, leaving)
        return Sent(message_id=str(message.message_id), chat=str(message.chat.id))

    async def fetch(self, file_id: str, most: int) -> bytes:
        """Get a file of at most ``most`` bytes. Raises a FetchError."""
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                file = await self._bot.get_file(file_id, request_timeout=REQUEST_SECONDS)
                if file.file_path is None:
                    raise AttachmentGone("the platform names no place for the file")
                if (file.file_size or 0) > most:
                    raise AttachmentTooLarge(f"{file.file_size} bytes")
                session = self._bot.session
                address = session.api.file_url(self._bot.token, file.file_path)
                data = bytearray()
                async with aclosing(session.stream_content(address, timeout=FETCH_SECONDS)) as body:
                    async for piece in body:
                        data += piece
                        if len(data) > most:
                            raise AttachmentTooLarge(f"more than {most} bytes")
        except AiogramError as error:
            raise fetch_error(error) from error
        except ClientResponseError as error:
            raise AttachmentGone(f"status {error.status}") from None  # its text holds the token
        except (ClientError, TimeoutError) as error:
            raise AttachmentUnreachable(type(error).__name__) from None
        return bytes(data)

    async def draft(self, target: ReplyTarget, draft_id: int, part: TelegramPart) -> None:
        """Show a passing preview in a private chat, which no rate counts. Raises a SendError."""
        if wait := self._limiter.paused(target.chat):
            raise Throttled(wait)
        method = SendMessageDraft(
            chat_id=int(target.chat),
            message_thread_id=sending_thread(target),
            draft_id=draft_id,
            text=part.text,
            entities=entities(part),
        )
        try:
            await self._call(target, method, patient=False)
        except TelegramNotFound as error:
            self.drafts = False
            raise Rejected("this server knows no drafts") from error
        except AiogramError as error:
            raise send_error(error) from error

    async def edit(
        self, target: ReplyTarget, message_id: str, part: TelegramPart, *, patient: bool = True
    ) -> None:
        """Replace text and buttons of a message. Raises a SendError.

        That it already reads like this is no error. ``patient`` False raises Throttled where the
        limiter would wait.
        """
        if not patient:
            self._take_spare(target)

        def method(part: TelegramPart) -> EditMessageText:
            place: dict[str, Any] = {
                "chat_id": int(target.chat),
                "message_id": int(message_id),
                "reply_markup": keyboard(part),
            }
            if part.rich:
                return EditMessageText(rich_message=rich_message(part), **place)
            return EditMessageText(
                text=part.text,
                entities=entities(part),
                link_preview_options=_NO_PREVIEW,
                **place,
            )

        try:
            await self._formatted_or_plain(target, part, method, patient=patient)
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
        patient: bool = True,
    ) -> T:
        """Make a call with as much of the formatting as the server takes."""
        if part.rich and self._rich:
            try:
                return await self._call(target, method(part), leaving, patient=patient)
            except (TelegramNotFound, TelegramBadRequest) as error:
                if not is_rich_trouble(error):
                    raise
                self._rich = not is_rich_unknown(error)
                log.info("a rich message was refused, sending a plain one: %s", reason_of(error))
                leaving = at_once
        part = replace(part, rich=())
        try:
            return await self._call(target, method(part), leaving, patient=patient)
        except TelegramBadRequest as error:
            if not is_entity_trouble(error):
                raise
            log.warning("formatting refused, sending plain text: %s", reason_of(error))
            return await self._call(target, method(plain_part(part)), patient=patient)

    def _take_spare(self, target: ReplyTarget) -> None:
        wait = self._limiter.spare(target.chat, group=is_group(target))
        if wait:
            raise Throttled(wait)

    async def _call(
        self,
        target: ReplyTarget,
        method: TelegramMethod[T],
        leaving: Leaving = at_once,
        *,
        patient: bool = True,
    ) -> T:
        """Make a call, after the limiter's wait unless the moment was taken already."""
        group = is_group(target)
        if patient:
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
