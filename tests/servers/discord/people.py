"""A person with an account, and what they do to the bot in private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.servers.discord.chats import Chat
from tests.servers.discord.files import Upload
from tests.servers.discord.shown import Shown

if TYPE_CHECKING:
    from tests.servers.discord.state import State


class Person:
    """A person with an account, and the DM with the bot that belongs to it."""

    def __init__(
        self,
        state: State,
        person_id: int,
        name: str,
        locale: str,
        username: str,
        bot: bool,
    ) -> None:
        self.state = state
        self.id = person_id
        self.name = name
        """The display name."""
        self.locale = locale
        """Language of their app, such as ``en-US`` or ``zh-CN``."""
        self.username = username
        self.bot = bot
        self.blocked = False
        """Has blocked the bot."""
        self.dms_closed = False
        """Takes no messages from members of shared servers."""
        self.private = Chat(state, state.snowflake(), "dm", person=self)

    def __repr__(self) -> str:
        return f"Person({self.id}, {self.name!r})"

    @property
    def reachable(self) -> bool:
        """Whether the bot may write to them: they wrote first, or share a server with it."""
        if self.blocked or self.dms_closed:
            return False
        wrote = any(message.sender is self for message in self.private.messages)
        return wrote or any(
            guild.available and self.id in guild.members for guild in self.state.guilds.values()
        )

    def json(self) -> dict[str, Any]:
        """Return the User object."""
        data: dict[str, Any] = {
            "id": str(self.id),
            "username": self.username,
            "global_name": self.name,
            "discriminator": "0",
            "avatar": None,
            "public_flags": 0,
        }
        if self.bot:
            data["bot"] = True
        return data

    def say(
        self,
        text: str,
        *,
        reply_to: Shown | int | None = None,
        attachments: Sequence[Upload] = (),
        unlimited: bool = False,
    ) -> Shown:
        """Write to the bot in private."""
        return self.private.say(
            self, text, reply_to=reply_to, attachments=attachments, unlimited=unlimited
        )

    def block(self) -> None:
        """Block the bot; it is not told so."""
        self.blocked = True

    def unblock(self) -> None:
        """Let the bot in again; it is not told so."""
        self.blocked = False
