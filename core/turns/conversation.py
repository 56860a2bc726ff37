"""Whose conversation is this? One enum, one pure function.

The conversation decides the lane (turns in it run one after the other) and the history the model
sees. Memory is never shared: it is always the speaker's alone.
"""

from __future__ import annotations

from enum import Enum

from core.context import ChatKind, InboundMessage, ReplyTarget


class Whose(Enum):
    """Who shares a conversation."""

    LEARNER = "a private chat, and each topic in it, is its learner's"
    THREAD = "a thread or topic of a group belongs to those who speak there"
    ASKER = "in a group without threads every asker has a conversation of their own"


def whose(message: InboundMessage) -> Whose:
    """Decide from what the message itself says."""
    if message.chat_kind is ChatKind.PRIVATE:
        return Whose.LEARNER
    return Whose.THREAD if message.shared_thread else Whose.ASKER


def conversation_key(message: InboundMessage) -> str:
    """The stable name of a message's conversation."""
    key = private_key(message.target)
    return f"{key}\n{message.sender.account}" if whose(message) is Whose.ASKER else key


def private_key(target: ReplyTarget) -> str:
    """The name of the conversation in a chat, or a topic of it, that is one learner's."""
    return "\n".join((target.channel, target.account, target.chat, target.thread or ""))


def chat_in(key: str) -> str:
    """The platform id of the chat that a name given by ``conversation_key`` tells of."""
    return key.split("\n")[2]
