"""Channels of a server, and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.servers.discord.chats import Chat
from tests.servers.discord.files import Upload, stored
from tests.servers.discord.intents import GUILDS, Event
from tests.servers.discord.permissions import NONE, Permission
from tests.servers.discord.shown import (
    THREAD_CREATED,
    THREAD_STARTER,
    Shown,
    iso,
)

if TYPE_CHECKING:
    from tests.servers.discord.guilds import Guild
    from tests.servers.discord.people import Person

HAS_THREAD = 1 << 5
"""Flag of a message that a thread was started from."""
PUBLIC_THREAD, PRIVATE_THREAD = 11, 12
_TYPES = {"text": 0, "forum": 15}


class Channel(Chat):
    """A text channel, or a forum, whose posts are threads."""

    guild: Guild

    def __init__(self, guild: Guild, channel_id: int, kind: str, name: str) -> None:
        super().__init__(guild.state, channel_id, kind, name=name)
        self.guild = guild
        self.type = _TYPES.get(kind, PUBLIC_THREAD)
        self.allowed = NONE
        """What the bot may do here beyond what the server says."""
        self.denied = NONE
        self.gone = False
        self.threads: list[Thread] = []

    def json(self) -> dict[str, Any]:
        """Return the Channel object."""
        data = {
            **super().json(),
            "guild_id": str(self.guild.id),
            "name": self.name,
            "topic": None,
            "position": 0,
            "nsfw": False,
            "parent_id": None,
            "rate_limit_per_user": 0,
            "permission_overwrites": [
                {
                    "id": str(self.state.bot_id),
                    "type": 1,
                    "allow": str(int(self.allowed)),
                    "deny": str(int(self.denied)),
                }
            ],
        }
        if self.kind == "forum":
            data |= {
                "available_tags": [],
                "default_reaction_emoji": None,
                "default_sort_order": None,
                "default_forum_layout": 0,
                "default_thread_rate_limit_per_user": 0,
            }
        return data

    def bot_may(self, wanted: Permission) -> bool:
        """Tell whether the bot has all of these permissions here."""
        return wanted in (self.guild.permissions & ~self.denied) | self.allowed

    def enter(self, user: Person) -> None:
        """Make sure that a person is where they act."""
        self.guild.join(user)

    def visible_to_bot(self, message: Shown) -> bool:
        """Tell whether the platform lets the bot see a message here."""
        seen = super().visible_to_bot(message) and self.guild.available and not self.gone
        return seen and self.bot_may(Permission.VIEW_CHANNEL)

    # Steering

    def allow(self, wanted: Permission) -> None:
        """Let the bot do this here."""
        self.allowed |= wanted
        self.denied &= ~wanted
        self.state.push(Event("CHANNEL_UPDATE", self.json(), GUILDS))

    def deny(self, unwanted: Permission) -> None:
        """Forbid the bot this here."""
        self.denied |= unwanted
        self.allowed &= ~unwanted
        self.state.push(Event("CHANNEL_UPDATE", self.json(), GUILDS))

    def delete(self) -> None:
        """Delete the channel; the bot is told so."""
        with self.state.changes.lock:
            self.gone = True
            self.state.chats.pop(self.id, None)
            if self in self.guild.channels:
                self.guild.channels.remove(self)
            self.state.push(Event("CHANNEL_DELETE", self.json(), GUILDS))
        self.announce()

    def thread(
        self, name: str, *, by: Person | None = None, message: Shown | None = None
    ) -> Thread:
        """Start a public thread, from a message or without; ``by`` None means the bot."""
        with self.state.changes.lock:
            if by is not None:
                self.enter(by)
            if message is not None:
                return started_from(self.now(message), name, by)
            return started(self, name, by, PUBLIC_THREAD)

    def open_post(
        self,
        user: Person,
        title: str,
        text: str,
        *,
        attachments: Sequence[Upload] = (),
    ) -> Thread:
        """Let a person write a post in a forum; its text is the thread's first message."""
        if self.kind != "forum":
            raise ValueError("only a forum has posts")
        with self.state.changes.lock:
            self.enter(user)
            found = self.mentions_of(text)
            thread = opened(self, title, user)
            thread.show(
                Shown(
                    thread,
                    thread.id,
                    user,
                    self.state.now(),
                    text,
                    mentions=found,
                    pinged=found.pinged,
                    attachments=tuple(stored(self.state, thread.id, file) for file in attachments),
                )
            )
        return thread


class Thread(Channel):
    """A thread, of a channel or a post of a forum."""

    def __init__(
        self, parent: Channel, thread_id: int, name: str, owner: Person | None, kind: int
    ) -> None:
        super().__init__(parent.guild, thread_id, "thread", name)
        self.parent = parent
        self.type = kind
        self.owner = owner
        """None for the bot."""
        self.archived = False
        self.locked = False
        self.archive_minutes = 1440
        self.joined: set[int] = set()
        """Members: ids of people and the bot."""
        self.begun = self.state.now()

    def json(self) -> dict[str, Any]:
        """Return the Channel object of a thread."""
        owner = self.state.bot_id if self.owner is None else self.owner.id
        replies = sum(message.message_id != self.id for message in self.messages)
        data = {
            **Chat.json(self),
            "guild_id": str(self.guild.id),
            "parent_id": str(self.parent.id),
            "owner_id": str(owner),
            "name": self.name,
            "message_count": replies,
            "total_message_sent": replies,
            "member_count": len(self.joined),
            "rate_limit_per_user": 0,
            "applied_tags": [],
            "thread_metadata": {
                "archived": self.archived,
                "locked": self.locked,
                "auto_archive_duration": self.archive_minutes,
                "archive_timestamp": iso(self.begun),
                "create_timestamp": iso(self.begun),
            },
        }
        if self.state.bot_id in self.joined:
            data["member"] = {
                "id": str(self.id),
                "user_id": str(self.state.bot_id),
                "join_timestamp": iso(self.begun),
                "flags": 0,
            }
        return data

    def bot_may(self, wanted: Permission) -> bool:
        """Tell whether the bot has all of these permissions here."""
        if self.type == PRIVATE_THREAD and self.state.bot_id not in self.joined:
            return False
        return self.parent.bot_may(wanted)

    def enter(self, user: Person) -> None:
        """Make sure that a person is where they act."""
        super().enter(user)
        self.joined.add(user.id)
        if self.archived and not self.locked:
            self.archive(False)

    # Steering

    def archive(self, archived: bool = True, *, locked: bool | None = None) -> None:
        """Archive the thread or take it back; ``locked`` keeps all but moderators out."""
        with self.state.changes.lock:
            self.archived = archived
            self.locked = self.locked if locked is None else locked
            self.changed()

    def changed(self) -> None:
        """Tell the bot what the thread is like now."""
        self.state.push(Event("THREAD_UPDATE", self.json(), GUILDS))
        self.announce()

    def delete(self) -> None:
        """Delete the thread with all its messages; the bot is told so."""
        with self.state.changes.lock:
            self.gone = True
            self.state.chats.pop(self.id, None)
            self.parent.threads.remove(self)
            data = {
                "id": str(self.id),
                "guild_id": str(self.guild.id),
                "parent_id": str(self.parent.id),
                "type": self.type,
            }
            self.state.push(Event("THREAD_DELETE", data, GUILDS))
        self.announce()


def opened(
    parent: Channel,
    name: str,
    owner: Person | None,
    kind: int = PUBLIC_THREAD,
    number: int | None = None,
) -> Thread:
    """Create a thread and tell the bot; called under the lock."""
    state = parent.state
    thread = Thread(parent, number or state.snowflake(), name, owner, kind)
    thread.joined.add(state.bot_id if owner is None else owner.id)
    parent.threads.append(thread)
    state.chats[thread.id] = thread
    if parent.guild.available and thread.bot_may(Permission.VIEW_CHANNEL):
        state.push(Event("THREAD_CREATE", {**thread.json(), "newly_created": True}, GUILDS))
    parent.announce()
    return thread


def started_from(message: Shown, name: str, owner: Person | None) -> Thread:
    """Start a thread from a message, whose id it takes; called under the lock."""
    parent = message.chat
    assert isinstance(parent, Channel)
    thread = opened(parent, name, owner, number=message.message_id)
    parent.show(replace(message, thread=thread, flags=message.flags | HAS_THREAD), "MESSAGE_UPDATE")
    reference = {**parent.place(), "type": 0, "message_id": str(message.message_id)}
    thread.show(
        Shown(
            thread,
            parent.state.snowflake(),
            message.sender,
            parent.state.now(),
            kind=THREAD_STARTER,
            extra={
                "message_reference": reference,
                "referenced_message": message.json(nested=True),
            },
        )
    )
    return thread


def started(parent: Channel, name: str, owner: Person | None, kind: int) -> Thread:
    """Start a thread without a message; a public one is announced in its channel."""
    thread = opened(parent, name, owner, kind)
    if kind == PUBLIC_THREAD:
        reference = {"type": 0, "channel_id": str(thread.id), "guild_id": str(parent.guild.id)}
        parent.show(
            Shown(
                parent,
                parent.state.snowflake(),
                owner,
                parent.state.now(),
                name,
                kind=THREAD_CREATED,
                thread=thread,
                extra={"message_reference": reference},
            )
        )
    return thread
