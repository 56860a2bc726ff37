"""The words every floor shares: who wrote what, where, and where the answer goes.

These are plain values. An adapter turns a platform's event into an ``InboundMessage`` once, at the
edge; nothing inside the house sees a platform payload again.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NewType

from pydantic import BaseModel, ConfigDict, Field

from core.llm.port import Picture

LearnerId = NewType("LearnerId", str)
"""ULID of a learner; also the name of the learner's folder."""

AccountId = NewType("AccountId", str)
"""A linked account, ``<channel>:<id>``, for example ``terminal:ada``."""


class ChatKind(StrEnum):
    """Who can read a chat. An adapter that cannot tell says ``GROUP`` (the careful answer)."""

    PRIVATE = "private"
    """One learner and the tutor."""
    GROUP = "group"
    """Anything that more than one person reads."""


class Value(BaseModel):
    """Base of the shared values: immutable, and strict about unknown fields.

    They hold what people wrote, so their errors do not repeat it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ReplyTarget(Value):
    """The whole address of an answer; stored with turns, nudges and buttons."""

    channel: str
    """Name of the channel, for example ``terminal``."""
    account: str
    """The bot account that received the message; one channel can have several."""
    chat: str
    """Platform id of the chat."""
    thread: str | None = None
    """Platform id of the thread or topic inside the chat, where there is one."""
    reply_to: str | None = None
    """Platform id of the message the answer refers to."""


class Sender(Value):
    """The person who wrote, as the platform names them."""

    account: AccountId
    name: str
    """Name shown to people; untrusted text."""
    language: str | None = None
    """The platform's locale for this person (BCP 47), when it tells."""


class AttachmentKind(StrEnum):
    """What can be done with an attachment."""

    IMAGE = "image"
    """A still picture."""
    VOICE = "voice"
    """Recorded speech, or any other sound."""
    FILE = "file"
    """Anything else; its name and type tell more."""


class Attachment(Value):
    """Something that came with a message. It stays on the platform until it is asked for."""

    id: str
    """What ``Channel.fetch`` gets it by; means something to its own channel only."""
    kind: AttachmentKind
    name: str | None = None
    """File name, untrusted, without a path."""
    mime: str | None = None
    """Type as the platform tells it, untrusted."""
    size: int | None = None
    """Bytes, where the platform tells."""


class Quote(Value):
    """A message that the learner replied to or forwarded. Its text is untrusted."""

    author: str
    text: str
    message_id: str | None = None
    from_tutor: bool = False
    """True when the quoted message is one of our own."""
    attachments: tuple[Attachment, ...] = ()


class Text(Value):
    """A written message; mentions are already resolved to names, our own removed."""

    kind: Literal["text"] = "text"
    text: str


class Command(Value):
    """A command, by menu or by text: ``/add 2+2 :: 4`` is ``Command("add", "2+2 :: 4")``."""

    kind: Literal["command"] = "command"
    name: str
    """Lower case, without slash and bot name; may be one we do not know."""
    arguments: str = ""
    overheard: bool = False
    """Said in a group to no bot by name: one that we do not know was meant for another."""


class Press(Value):
    """A pressed button."""

    kind: Literal["press"] = "press"
    action: str
    """The ``Button.action`` as it was sent out."""
    origin: str
    """Platform id of the message that carried the button."""
    filled: tuple[str, ...] = ()
    """What the fields of a form say, in their order; empty where no form was sent."""


class Unsupported(Value):
    """Something we cannot read yet: a sticker, a poll, a contact card."""

    kind: Literal["unsupported"] = "unsupported"
    what: str
    """The platform's name for it, for the log."""


class Joined(Value):
    """The tutor was brought into a group. It introduces itself there, once."""

    kind: Literal["joined"] = "joined"


class Moved(Value):
    """The platform gave the chat of the target another address. Said by nobody."""

    kind: Literal["moved"] = "moved"
    before: str
    """Its platform id until then."""


Content = Annotated[
    Text | Command | Press | Unsupported | Joined | Moved, Field(discriminator="kind")
]


class InboundMessage(Value):
    """One event a person caused, in our own words."""

    message_id: str
    """Unique within (channel, account); a replayed event has the same."""
    target: ReplyTarget
    """Where an answer goes."""
    chat_kind: ChatKind
    sender: Sender
    content: Content
    addressed: bool
    """The tutor is meant: always in private; in a group by mention, reply, command or button."""
    shared_thread: bool = False
    """``target.thread`` is a topic or thread of a group, a conversation of its own."""
    quote: Quote | None = None
    attachments: tuple[Attachment, ...] = ()
    """Beside ``Text``, whose text may be empty then, and never beside anything else."""
    album: str | None = None
    """Messages of one sender with the same album were sent as one: together they are one question.
    """
    cut: bool = False
    """So near the longest text the app can send that the rest may follow in a message of its own.
    """
    edited: bool = False
    """A new version of ``message_id``; never runs a command."""
    received_at: datetime
    """UTC."""


class Role(StrEnum):
    """Author of a line of history."""

    LEARNER = "user"
    TUTOR = "assistant"


class HistoryLine(Value):
    """One earlier line of the conversation, as the model gets it."""

    role: Role
    text: str
    speaker: str | None = None
    """Name of the speaker in shared conversations; None in private ones."""


class Material(Value):
    """Something that came with the message, as it was read. What it says is untrusted."""

    name: str
    """Its name, or what it is; can stand in a mark."""
    text: str = ""
    """What it says; empty for a picture, and for what could not be read."""
    left_out: str = ""
    """English: what of it ``text`` leaves out."""
    picture: Picture | None = None
    trouble: str = ""
    """English: why it could not be read. The learner is told."""
    quoted: bool = False
    """It came with the quoted message."""
    heard: bool = False
    """The text was spoken."""
    earlier: bool = False
    """It came with an earlier message and is shown again."""


class UnifiedContext(Value):
    """The one input of a turn, the same whatever the channel."""

    turn_id: str
    learner_id: LearnerId
    language: str
    """``en`` or ``zh``: language of the tutor's own words to this learner."""
    zone: str
    """IANA zone name of the learner."""
    now: datetime
    """UTC instant at which the turn began."""
    conversation_id: str
    chat_kind: ChatKind
    shared: bool
    """Several people speak in this conversation."""
    speaker: str
    text: str
    quote: Quote | None
    materials: tuple[Material, ...] = ()
    history: tuple[HistoryLine, ...]
    memory_view: str
    """Notes about the learner, already cut to budget and audience; may be empty."""
    persona_id: str
    target: ReplyTarget
