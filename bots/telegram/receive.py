"""What an update means, in our own words. Pure: no call, no clock, no state.

Decided here: who spoke, where the answer goes, whether we are meant, what was said. A message that
no person is responsible for (another bot, an anonymous administrator, a channel, the platform
itself) becomes nothing: it could not be anyone's learner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aiogram.enums import ChatMemberStatus, ChatType, ContentType, MessageEntityType
from aiogram.types import CallbackQuery, Chat, ChatMemberUpdated, Message, Update, User

from bots.names import shown_name
from bots.telegram.media import READABLE, attachments
from bots.telegram.quotes import quoted
from bots.telegram.words import own_words
from core.commands.parse import split_command
from core.context import (
    AccountId,
    ChatKind,
    Command,
    InboundMessage,
    Joined,
    Moved,
    Press,
    ReplyTarget,
    Sender,
    Text,
    Unsupported,
)

CHANNEL: Final = "telegram"

_NEAR_LIMIT: Final = 4000
"""UTF-16 units. Apps cut a longer text into messages of nearly 4096 (F025)."""

GENERAL: Final = "1"
"""Thread of the General topic of a forum. The platform leaves it out of messages, and refuses it
when we send (F012)."""

_NAMED = re.compile(r"(/[A-Za-z0-9_]+)@([A-Za-z0-9_]+)")
"""A command that names its bot."""

_UNREADABLE: Final = frozenset(
    {
        ContentType.ANIMATION,
        ContentType.CHECKLIST,
        ContentType.CONTACT,
        ContentType.DICE,
        ContentType.GAME,
        ContentType.LIVE_PHOTO,
        ContentType.LOCATION,
        ContentType.PAID_MEDIA,
        ContentType.POLL,
        ContentType.RICH_MESSAGE,
        ContentType.STICKER,
        ContentType.STORY,
        ContentType.UNKNOWN,  # newer than our library: say so rather than be silent
        ContentType.VENUE,
        ContentType.VIDEO,
        ContentType.VIDEO_NOTE,
    }
)
"""What a person can send and we cannot read yet. Everything else but text is a service message."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as ``getMe`` tells it."""

    id: int
    username: str
    """Without ``@``; compared without regard to case."""


def receive(update: Update, me: Me, account: str, now: datetime) -> InboundMessage | None:
    """Return what a person said or pressed, or None when nobody has to hear of it.

    ``account`` is the bot account that got the update; ``now`` a UTC instant, used for presses,
    which carry no time of their own.
    """
    if update.message is not None:
        if update.message.migrate_from_chat_id is not None:
            return _moved(update.message, account, update.message.migrate_from_chat_id)
        return _message(update.message, me, account)
    if update.edited_message is not None:
        return _edit(update.edited_message, me, account)
    if update.callback_query is not None:
        return _press(update.callback_query, account, now)
    if update.my_chat_member is not None:
        return _joined(update.my_chat_member, account)
    return None


def _message(message: Message, me: Me, account: str) -> InboundMessage | None:
    person = _person(message)
    if person is None:
        return None
    private = message.chat.type == ChatType.PRIVATE
    text, mentioned = own_words(
        message.text if message.text is not None else message.caption or "",
        message.entities if message.text is not None else message.caption_entities,
        me.id,
        me.username,
    )
    content: Text | Command | Unsupported
    if message.content_type in _UNREADABLE:
        content = Unsupported(what=ContentType(message.content_type).value)
    elif message.content_type in READABLE:
        # A caption goes with what it stands under and runs nothing; a forwarded one is the quote.
        content = Text(text="" if message.forward_origin is not None else text)
    elif message.content_type != ContentType.TEXT:
        return None
    elif message.forward_origin is not None:
        content = Text(text="")  # somebody else's words: they are the quote, and run nothing
    else:
        content = _spoken(text, message, me)
    quote = quoted(message, me.id)
    answers_us = (
        quote is not None
        and quote.from_tutor
        and not (_names_another_bot(text, me) or _begins_with_mention(message))
    )
    # What is forwarded was said to somebody else, whomever it mentions.
    addressed = private or (
        message.forward_origin is None and (mentioned or answers_us or isinstance(content, Command))
    )
    if isinstance(content, Command) and not (private or mentioned or answers_us):
        content = content.model_copy(update={"overheard": not _NAMED.match(text)})
    thread = _thread(message.chat, message.message_thread_id, message.is_topic_message)
    key = str(message.message_id)
    if message.media_group_id and addressed and isinstance(content, Unsupported):
        key = f"album:{message.media_group_id}"  # one sentence about all of it, not one each (F026)
    return InboundMessage(
        message_id=f"{message.chat.id}:{key}",
        target=ReplyTarget(
            channel=CHANNEL,
            account=account,
            chat=str(message.chat.id),
            thread=thread,
            reply_to=str(message.message_id),
        ),
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(person),
        content=content,
        addressed=addressed,
        shared_thread=thread is not None and not private,
        quote=quote,
        attachments=attachments(message),
        album=message.media_group_id if message.content_type in READABLE else None,
        cut=message.text is not None and len(message.text.encode("utf-16-le")) >= 2 * _NEAR_LIMIT,
        received_at=message.date.astimezone(UTC),
    )


def _edit(message: Message, me: Me, account: str) -> InboundMessage | None:
    """Return the new version of a text. An edit never is a command, nor its text (F023)."""
    new = _message(message, me, account)
    if new is None or not isinstance(new.content, Text) or new.content.text.startswith("/"):
        return None
    at = new.received_at
    if message.edit_date is not None:
        at = datetime.fromtimestamp(message.edit_date, UTC)
    return new.model_copy(update={"edited": True, "received_at": at})


def _press(query: CallbackQuery, account: str, now: datetime) -> InboundMessage | None:
    origin = query.message
    if query.data is None or origin is None:
        return None  # a game, or a button of an inline message, which has no chat to answer in
    chat = origin.chat
    if isinstance(origin, Message):
        thread = _thread(chat, origin.message_thread_id, origin.is_topic_message)
    elif chat.is_forum:
        return None  # too old to be shown to us, and with it went the topic the answer belongs to
    else:
        thread = None
    private = chat.type == ChatType.PRIVATE
    return InboundMessage(
        message_id=f"cb:{query.id}",
        target=ReplyTarget(
            channel=CHANNEL,
            account=account,
            chat=str(chat.id),
            thread=thread,
            reply_to=str(origin.message_id),
        ),
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(query.from_user),
        content=Press(action=query.data, origin=str(origin.message_id)),
        addressed=True,
        shared_thread=thread is not None and not private,
        received_at=now,
    )


def _moved(message: Message, account: str, before: int) -> InboundMessage:
    """Return that a group became a supergroup, told in the new chat; the platform says it."""
    return InboundMessage(
        message_id=f"moved:{before}",
        target=ReplyTarget(channel=CHANNEL, account=account, chat=str(message.chat.id)),
        chat_kind=ChatKind.GROUP,
        sender=Sender(account=AccountId(f"{CHANNEL}:0"), name=CHANNEL),
        content=Moved(before=str(before)),
        addressed=True,
        received_at=message.date.astimezone(UTC),
    )


def _joined(change: ChatMemberUpdated, account: str) -> InboundMessage | None:
    """Return that we were taken into a group, the same event however often that happens."""
    outside = (ChatMemberStatus.LEFT, ChatMemberStatus.KICKED)
    came = change.old_chat_member.status in outside and change.new_chat_member.status not in outside
    group = change.chat.type in (ChatType.GROUP, ChatType.SUPERGROUP)
    if not (came and group) or change.from_user.is_bot:
        return None
    return InboundMessage(
        message_id=f"joined:{change.chat.id}",
        target=ReplyTarget(
            channel=CHANNEL,
            account=account,
            chat=str(change.chat.id),
            thread=_thread(change.chat, None, None),
        ),
        chat_kind=ChatKind.GROUP,
        sender=_sender(change.from_user),
        content=Joined(),
        addressed=True,
        received_at=change.date.astimezone(UTC),
    )


def _person(message: Message) -> User | None:
    """Return who wrote, if that is a person and the message can be answered where it stands.

    Messages in the name of a chat (``sender_chat``) are written by whoever has the right to, so
    they name no learner. Ephemeral messages (no id) are shown to one member of a group; a usual
    answer would be shown to all. Direct messages of a channel need an address of their own kind.
    """
    user = message.from_user
    if user is None or user.is_bot or message.sender_chat is not None:
        return None
    if not message.message_id or message.ephemeral_message_id or message.chat.is_direct_messages:
        return None
    return user


def _sender(user: User) -> Sender:
    return Sender(
        account=AccountId(f"{CHANNEL}:{user.id}"),
        name=shown_name(user.full_name) or shown_name(user.username or "") or str(user.id),
        language=user.language_code,
    )


def _thread(chat: Chat, thread: int | None, is_topic: bool | None) -> str | None:
    """Return the topic, if it is one: replies in plain groups carry a thread id too (F017)."""
    if is_topic and thread is not None:
        return str(thread)
    return GENERAL if chat.is_forum and chat.type == ChatType.SUPERGROUP else None


def _spoken(text: str, message: Message, me: Me) -> Text | Command:
    if _is_code(message) or _names_another_bot(text, me):
        return Text(text=text)
    named = _NAMED.match(text)
    command = split_command(named[1] + text[named.end() :] if named else text)
    return Command(name=command[0], arguments=command[1]) if command else Text(text=text)


def _names_another_bot(text: str, me: Me) -> bool:
    named = _NAMED.match(text)
    return named is not None and named[2].casefold() != me.username.casefold()


def _begins_with_mention(message: Message) -> bool:
    """Tell whether somebody is called by name first: a reply to us may be meant for them (F020)."""
    called = (MessageEntityType.MENTION, MessageEntityType.TEXT_MENTION)
    return any(entity.type in called and entity.offset == 0 for entity in message.entities or ())


def _is_code(message: Message) -> bool:
    code = (MessageEntityType.CODE, MessageEntityType.PRE)
    return any(entity.type in code and entity.offset == 0 for entity in message.entities or ())
