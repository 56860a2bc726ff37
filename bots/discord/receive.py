"""What an event means, in our own words. Pure: no call, no clock, no state.

Decided here: who spoke, where the answer goes, whether we are meant, what was said. A message that
no person is responsible for (another bot, a webhook, the platform itself) becomes nothing.

In a server we are meant by our mention, by that of the role the platform made with the bot, by a
reply to us, by a command and a button, and by every word in a thread that we opened. We are not
meant by @everyone and @here (F058), by a role that others may have, by what is said to somebody
else first (F020), nor by what is passed on.
"""

from __future__ import annotations

from datetime import UTC
from itertools import chain
from typing import Any, Final, Protocol

from discord import DMChannel, Interaction, Member, Message, TextChannel, Thread, User
from discord.abc import Messageable
from discord.enums import ComponentType, InteractionType, MessageType

from bots.discord.commands import ARGUMENTS
from bots.discord.media import attachments
from bots.discord.modal import sent
from bots.discord.quotes import is_forward, quoted, unreadable
from bots.discord.threads import in_own_thread
from bots.discord.words import Known, names_another_first, own_words
from bots.names import shown_name
from core.commands.parse import split_command
from core.context import (
    AccountId,
    Attachment,
    ChatKind,
    Command,
    InboundMessage,
    Press,
    ReplyTarget,
    Sender,
    Text,
    Unsupported,
)

CHANNEL: Final = "discord"

INTERACTION: Final = "ix:"
"""Begins the id of what came as an interaction, and ``reply_to`` of an answer to a command."""

_SPOKEN: Final = (MessageType.default, MessageType.reply)
"""Types of messages that people write; all others tell what happened."""

_PRESSES: Final = (InteractionType.component, InteractionType.modal_submit)

_CHAT_INPUT: Final = 1

_LIMITS: Final = (2000, 4000)
"""Characters of a message, without and with a subscription."""
_NEAR: Final = 100
"""Who pastes more sends the rest in a message of its own, cut at a word (F025)."""


class Reader(Protocol):
    """``receive`` or ``receive_edit``."""

    def __call__(
        self, message: Message, own_id: int, account: str, *, threads: bool
    ) -> InboundMessage | None:
        """Return what a message means, None when nobody has to hear of it."""


def receive(
    message: Message, own_id: int, account: str, *, threads: bool = False
) -> InboundMessage | None:
    """Return what a person wrote, or None when nobody has to hear of it.

    ``own_id`` is the id of the bot, ``account`` the bot account that got the message. With
    ``threads`` a question in a channel is answered in a thread of its own.
    """
    author = message.author
    if author.bot or message.webhook_id is not None or message.type not in _SPOKEN:
        return None
    private = isinstance(message.channel, DMChannel)
    known = _known(message, own_id)
    text, mentioned = own_words(message.content, known)
    kind = unreadable(message)
    forward = is_forward(message)
    quote = quoted(message, own_id, lambda other: own_words(other.content, _known(other, 0))[0])
    answers_us = quote is not None and quote.from_tutor
    to_another = names_another_first(message.content, known.ours)
    # In our own thread one speaks to us, unless to somebody else or to everybody.
    here = _opened_by(message.channel, own_id) and not to_another
    here = here and (quote is None or answers_us or forward) and not message.mention_everyone
    content: Text | Command | Unsupported
    if kind is not None:
        content = Unsupported(what=kind)
    elif forward:
        content = Text(text="")  # somebody else's words: they are the quote, and run nothing
    elif message.attachments:
        content = Text(text=text)  # words under a picture run nothing
    else:
        content = _spoken(text, meant=private or mentioned or here)
    # What is forwarded was said to somebody else, whomever it mentions.
    meant = private or here or ((mentioned or (answers_us and not to_another)) and not forward)
    target = _target(message.channel, account, str(message.id))
    asks = meant and not answers_us and isinstance(content, Text)
    if threads and asks and isinstance(message.channel, TextChannel):
        target = in_own_thread(target, str(message.id))
    return InboundMessage(
        message_id=str(message.id),
        target=target,
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(author, None),
        content=content,
        addressed=meant,
        shared_thread=target.thread is not None,
        quote=quote,
        attachments=_attached(message) if isinstance(content, Text) else (),
        cut=any(limit - _NEAR <= len(message.content) <= limit for limit in _LIMITS),
        received_at=message.created_at.astimezone(UTC),
    )


def _attached(message: Message) -> tuple[Attachment, ...]:
    """Return what comes with a message, and with the one it passes on."""
    forwarded = message.message_snapshots if is_forward(message) else []
    return (
        *attachments(message, message),
        *chain.from_iterable(attachments(snapshot, message) for snapshot in forwarded),
    )


def receive_edit(
    message: Message, own_id: int, account: str, *, threads: bool = False
) -> InboundMessage | None:
    """Return the new version of a text. An edit never is a command, nor its text (F023).

    The platform tells of an update also when it adds the preview of a link: that has no moment of
    an edit.
    """
    if message.edited_at is None:
        return None
    new = receive(message, own_id, account, threads=threads)
    if new is None or not isinstance(new.content, Text) or new.content.text.startswith("/"):
        return None
    return new.model_copy(update={"edited": True, "received_at": message.edited_at.astimezone(UTC)})


def receive_interaction(interaction: Interaction[Any], account: str) -> InboundMessage | None:
    """Return a command used, a button pressed, a choice made or a form sent; None for what we never
    offered."""
    channel = interaction.channel
    if not isinstance(channel, Messageable):
        return None
    number = f"{INTERACTION}{interaction.id}"
    content: Command | Press
    if interaction.type is InteractionType.application_command:
        used = _used(interaction)
        if used is None:
            return None
        content, reply_to = used, number
    elif interaction.message is not None and interaction.type in _PRESSES:
        action, filled = _pressed(interaction), sent(interaction)
        if action is None:
            return None
        reply_to = str(interaction.message.id)
        content = Press(action=action, origin=reply_to, filled=filled)
    else:
        return None
    private = isinstance(channel, DMChannel)
    return InboundMessage(
        message_id=number,
        target=_target(channel, account, reply_to),
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(interaction.user, str(interaction.locale)),
        content=content,
        addressed=True,
        shared_thread=isinstance(channel, Thread),
        received_at=interaction.created_at.astimezone(UTC),
    )


def _pressed(interaction: Interaction[Any]) -> str | None:
    """Return what a button, what was chosen in a menu, or a form stands for."""
    data: Any = interaction.data or {}
    if interaction.type is InteractionType.modal_submit:
        return str(data["custom_id"])
    match data.get("component_type"):
        case ComponentType.button.value:
            return str(data["custom_id"])
        case ComponentType.select.value if data.get("values"):
            return str(data["values"][0])
        case _:
            return None


def _opened_by(channel: Messageable, own_id: int) -> bool:
    return isinstance(channel, Thread) and channel.owner_id == own_id


def _used(interaction: Interaction[Any]) -> Command | None:
    data: Any = interaction.data or {}
    if data.get("type", _CHAT_INPUT) != _CHAT_INPUT:
        return None
    given = [option for option in data.get("options", ()) if option["name"] == ARGUMENTS]
    arguments = str(given[0]["value"]).replace("\x00", "").strip() if given else ""
    return Command(name=str(data["name"]).lower(), arguments=arguments)


def _spoken(text: str, *, meant: bool) -> Text | Command:
    """Return text, or a command written out by somebody who surely speaks to us."""
    command = split_command(text) if meant else None
    return Command(name=command[0], arguments=command[1]) if command else Text(text=text)


def _target(channel: Messageable, account: str, reply_to: str) -> ReplyTarget:
    """Return the address of an answer.

    A thread is a channel of its own to the platform, so it is both chat and thread here: whatever
    is sent to the chat lands in it, and no thread waits for another of the same parent.
    """
    chat = str(getattr(channel, "id"))  # noqa: B009 - every kind of channel has one, the base tells not
    return ReplyTarget(
        channel=CHANNEL,
        account=account,
        chat=chat,
        thread=chat if isinstance(channel, Thread) else None,
        reply_to=reply_to,
    )


def _sender(user: User | Member, language: str | None) -> Sender:
    return Sender(
        account=AccountId(f"{CHANNEL}:{user.id}"),
        name=shown_name(user.display_name) or shown_name(user.name) or str(user.id),
        language=language,
    )


def _known(message: Message, own_id: int) -> Known:
    """Collect names. Our own role, which the platform made with the bot, is a way to call us."""
    me = message.guild.me if message.guild is not None else None
    own_roles = {role.id for role in me.roles if role.managed} if me is not None else set()
    called = {role.id for role in message.role_mentions} & own_roles if own_id else set()
    return Known(
        users={user.id: user.display_name for user in message.mentions},
        roles={role.id: role.name for role in message.role_mentions},
        channels={channel.id: channel.name for channel in message.channel_mentions},
        ours=frozenset({own_id, *called}),
    )
