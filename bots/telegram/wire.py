"""Parts and addresses as the client library's own objects. Pure."""

from __future__ import annotations

from aiogram.types import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputRichMessage,
    MessageEntity,
    ReplyParameters,
)

from bots.telegram.receive import GENERAL
from bots.telegram.render import TelegramPart
from core.context import ReplyTarget


def is_group(target: ReplyTarget) -> bool:
    """Tell whether an address is a group's."""
    return target.chat.startswith("-")  # chat ids of groups are negative, of people positive


def sending_thread(target: ReplyTarget) -> int | None:
    """Return the thread to name in a send: the General topic must not be named (F012)."""
    return None if target.thread in (None, GENERAL) else int(target.thread)


def reply_to(target: ReplyTarget) -> ReplyParameters | None:
    """Return what a message refers to; a parent that was deleted keeps nothing from coming."""
    if target.reply_to is None:
        return None
    return ReplyParameters(message_id=int(target.reply_to), allow_sending_without_reply=True)


def entities(part: TelegramPart) -> list[MessageEntity]:
    """Return the formatting of a part."""
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


def rich_message(part: TelegramPart) -> InputRichMessage:
    """Return a part as a rich message in which no name is looked for."""
    content = {"blocks": list(part.rich), "skip_entity_detection": True}
    return InputRichMessage.model_validate(content)


def keyboard(part: TelegramPart) -> InlineKeyboardMarkup | None:
    """Return the buttons of a part."""
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
