"""What a message refers to: the one replied to, the passage marked in it, or the one forwarded."""

from __future__ import annotations

from aiogram.enums import ContentType
from aiogram.types import (
    ExternalReplyInfo,
    Message,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
)

from bots.names import shown_name
from bots.telegram.media import attachments
from bots.telegram.rich import text_of
from core.context import Quote

Origin = MessageOriginUser | MessageOriginHiddenUser | MessageOriginChat | MessageOriginChannel


def reply_of(message: Message) -> Message | None:
    """Return the message replied to.

    In a topic every message "replies" to the service message that opened the topic; that is no
    reply (F017).
    """
    reply = message.reply_to_message
    if reply is None or reply.forum_topic_created is not None:
        return None
    if message.is_topic_message and reply.message_id == message.message_thread_id:
        return None
    return reply


def quoted(message: Message, own_id: int) -> Quote | None:
    """Return the quote of a message, its text untrusted. ``own_id`` is the id of the bot.

    A passage marked by the writer stands for the whole; a medium without caption is named in
    brackets: ``[photo]``.
    """
    if message.forward_origin is not None:
        author, from_tutor = _origin(message.forward_origin, own_id)
        return Quote(author=author, text=_text(message), from_tutor=from_tutor)
    marked = message.quote.text if message.quote else None
    reply = reply_of(message)
    if reply is not None:
        return Quote(
            author=_author(reply),
            text=marked or _text(reply),
            message_id=str(reply.message_id),
            from_tutor=reply.from_user is not None and reply.from_user.id == own_id,
            attachments=attachments(reply),
        )
    if message.external_reply is not None:
        author, from_tutor = _origin(message.external_reply.origin, own_id)
        text = marked or f"[{_kind(message.external_reply)}]"
        return Quote(author=author, text=text, from_tutor=from_tutor)
    return None


def _text(message: Message) -> str:
    text = message.text or message.caption or ""
    if message.rich_message is not None:
        text = text_of(message.rich_message.model_dump(exclude_none=True)["blocks"])
    text = text.replace("\x00", "").strip()
    return text or f"[{ContentType(message.content_type).value}]"


def _author(message: Message) -> str:
    if message.sender_chat is not None:
        return shown_name(message.sender_chat.title or "")
    return shown_name(message.from_user.full_name) if message.from_user else ""


def _origin(origin: Origin, own_id: int) -> tuple[str, bool]:
    """Return the author of a message from elsewhere, and whether that is the bot."""
    match origin:
        case MessageOriginUser():
            return shown_name(origin.sender_user.full_name), origin.sender_user.id == own_id
        case MessageOriginHiddenUser():
            return shown_name(origin.sender_user_name), False
        case MessageOriginChat():
            return shown_name(origin.sender_chat.title or ""), False
        case MessageOriginChannel():
            return shown_name(origin.chat.title or ""), False


def _kind(reply: ExternalReplyInfo) -> str:
    """Name the medium of a message that the platform shows us without its text."""
    for kind in ContentType:
        if getattr(reply, kind.value, None) is not None:
            return kind.value
    return ContentType.TEXT.value
