"""A message as a chat shows it, and the JSON that Discord makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.servers.discord.components import BUTTON, SELECTS, every
from tests.servers.discord.files import File
from tests.servers.discord.intents import Event
from tests.servers.discord.mentions import Mentions, Pinged

if TYPE_CHECKING:
    from tests.servers.discord.chats import Chat
    from tests.servers.discord.people import Person

DEFAULT, THREAD_CREATED, REPLY, COMMAND, THREAD_STARTER = 0, 18, 19, 20, 21
"""Message types."""
JOINED = 7
EPHEMERAL, LOADING, VOICE, LAYOUT = 1 << 6, 1 << 7, 1 << 13, 1 << 15
"""Message flags."""


def iso(seconds: float) -> str:
    """Return Unix seconds as the platform writes instants."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One message at one moment; an edit makes a new one with the same id."""

    chat: Chat = field(repr=False)
    message_id: int
    sender: Person | None
    """None for the bot."""
    date: float
    """Unix seconds."""
    text: str = ""
    kind: int = DEFAULT
    """The message type."""
    mentions: Mentions = field(default_factory=Mentions)
    pinged: Pinged = frozenset()
    """Who is notified: ids of people and roles, ``"everyone"``, ``"here"``."""
    embeds: list[dict[str, Any]] = field(default_factory=list)
    components: list[dict[str, Any]] = field(default_factory=list)
    attachments: tuple[File, ...] = ()
    reply_to: int | None = None
    """Id of the message it answers."""
    edited: float | None = None
    """Unix seconds of the last edit."""
    flags: int = 0
    nonce: str | int | None = None
    only_for: Person | None = None
    """Who alone sees it, for an ephemeral message."""
    thread: Chat | None = None
    """The thread that was started from it."""
    reactions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Emoji to the ids of those who reacted with it."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields: what a system message refers to, the interaction behind it."""
    update: Event | None = field(default=None, repr=False)
    """The event that told the bot of it; None for what it may not see."""

    @property
    def from_bot(self) -> bool:
        """Whether the bot wrote it."""
        return self.sender is None

    @property
    def buttons(self) -> list[dict[str, Any]]:
        """Its buttons, row by row."""
        return [item for item in every(self.components) if item.get("type") == BUTTON]

    @property
    def labels(self) -> list[str]:
        """The texts of its buttons."""
        return [str(button.get("label", "")) for button in self.buttons]

    @property
    def selects(self) -> list[dict[str, Any]]:
        """Its select menus."""
        return [item for item in every(self.components) if item.get("type") in SELECTS]

    def button(self, wanted: str) -> dict[str, Any]:
        """Return the button with this label or custom id; LookupError lists the others."""
        for button in self.buttons:
            if wanted in (button.get("label"), button.get("custom_id")):
                return button
        raise LookupError(f"no button {wanted!r} under {self.text!r}, only {self.labels}")

    def menu(self, wanted: str | None = None) -> dict[str, Any]:
        """Return the select menu with this custom id or placeholder, or the only one."""
        for select in self.selects:
            if wanted in (None, select.get("custom_id"), select.get("placeholder")):
                return select
        raise LookupError(f"no select menu {wanted!r} under {self.text!r}")

    def author_json(self) -> dict[str, Any]:
        """Return the User object of its author."""
        return self.chat.state.bot_user if self.sender is None else self.sender.json()

    def json(self, *, gateway: bool = False, nested: bool = False) -> dict[str, Any]:
        """Return the Message object; the gateway adds server and member, a nested one no reply."""
        state, guild = self.chat.state, self.chat.guild
        people = [state.user_json(number) for number in self.mentions.users]
        if gateway and guild is not None:
            for person in people:
                person["member"] = guild.member_json(int(person["id"]), nested=True)
        data: dict[str, Any] = {
            "id": str(self.message_id),
            "channel_id": str(self.chat.id),
            "author": self.author_json(),
            "content": self.text,
            "timestamp": iso(self.date),
            "edited_timestamp": None if self.edited is None else iso(self.edited),
            "tts": False,
            "mention_everyone": bool(self.pinged & {"everyone", "here"}),
            "mentions": people,
            "mention_roles": [str(number) for number in self.mentions.roles],
            "attachments": [file.json(state) for file in self.attachments],
            "embeds": self.embeds,
            "components": self.components,
            "pinned": False,
            "type": self.kind,
            "flags": self.flags,
            **self.extra,
        }
        if self.nonce is not None:
            data["nonce"] = self.nonce
        if self.reactions:
            data["reactions"] = [self._reaction(emoji) for emoji in self.reactions]
        if self.thread is not None:
            data["thread"] = self.thread.json()
        if gateway and guild is not None:
            data["guild_id"] = str(guild.id)
            data["member"] = guild.member_json(int(data["author"]["id"]), nested=True)
        if self.reply_to is not None:
            reference = {"type": 0, "channel_id": str(self.chat.id)}
            if guild is not None:
                reference["guild_id"] = str(guild.id)
            data["message_reference"] = {**reference, "message_id": str(self.reply_to)}
            if not nested:
                original = self.chat.find(self.reply_to)
                data["referenced_message"] = original.json(nested=True) if original else None
        return data

    def _reaction(self, emoji: str) -> dict[str, Any]:
        who = self.reactions[emoji]
        return {
            "emoji": {"id": None, "name": emoji},
            "count": len(who),
            "count_details": {"burst": 0, "normal": len(who)},
            "burst_colors": [],
            "me_burst": False,
            "burst_me": False,
            "me": self.chat.state.bot_id in who,
        }
