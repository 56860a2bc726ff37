"""What a message refers to: the one replied to, or the one forwarded."""

from __future__ import annotations

from collections.abc import Callable

from discord import Message, MessageSnapshot
from discord.enums import MessageReferenceType

from bots.discord.media import attachments
from bots.names import shown_name
from core.context import Quote


def is_forward(message: Message) -> bool:
    """Tell whether a message passes another one on; it has no words of its own then."""
    reference = message.reference
    return reference is not None and reference.type is MessageReferenceType.forward


def quoted(message: Message, own_id: int, words_of: Callable[[Message], str]) -> Quote | None:
    """Return the quote of a message, its text untrusted; ``own_id`` is the id of the bot.

    Of a forwarded message the platform does not tell who wrote it. A medium without words is named
    in brackets: ``[attachment]``.
    """
    if is_forward(message):
        snapshot = next(iter(message.message_snapshots), None)
        return Quote(author="", text=_snapshot_text(snapshot)) if snapshot else None
    original = message.reference.resolved if message.reference is not None else None
    if not isinstance(original, Message):
        return None
    return Quote(
        author=shown_name(original.author.display_name),
        text=words_of(original) or f"[{medium(original) or 'message'}]",
        message_id=str(original.id),
        from_tutor=original.author.id == own_id,
        attachments=attachments(original, original),
    )


def medium(message: Message | MessageSnapshot) -> str | None:
    """Name what a message carries besides words, None for words alone."""
    if strange := unreadable(message):
        return strange
    if message.flags.voice:
        return "voice"
    if message.attachments:
        kind = (message.attachments[0].content_type or "").partition("/")[0]
        return kind if kind in ("image", "video", "audio") else "attachment"
    return None


def unreadable(message: Message | MessageSnapshot) -> str | None:
    """Name what a message is instead of words and files; None for one that can be read."""
    if message.stickers:
        return "sticker"
    if isinstance(message, Message):
        if message.poll is not None:
            return "poll"
        if message.activity is not None:
            return "activity"
    return None


def _snapshot_text(snapshot: MessageSnapshot) -> str:
    text = snapshot.content.replace("\x00", "").strip()
    return text or f"[{medium(snapshot) or 'message'}]"
