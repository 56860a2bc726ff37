"""A server (Discord's word on the wire is guild), its roles, members and channels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.discord.channels import Channel
from tests.servers.discord.intents import GUILDS, MEMBERS, Event
from tests.servers.discord.permissions import NONE, USUAL, Permission
from tests.servers.discord.shown import JOINED, iso

if TYPE_CHECKING:
    from tests.servers.discord.people import Person
    from tests.servers.discord.state import State


@dataclass(slots=True)
class Role:
    """A role of a server."""

    id: int
    name: str
    permissions: Permission = NONE
    managed: bool = False
    """Belongs to the bot."""

    def json(self) -> dict[str, Any]:
        """Return the Role object."""
        colours = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
        return {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(int(self.permissions)),
            "position": 0,
            "color": 0,
            "colors": colours,
            "hoist": False,
            "icon": None,
            "unicode_emoji": None,
            "managed": self.managed,
            "mentionable": True,
            "flags": 0,
        }


@dataclass(slots=True)
class Member:
    """A person, or the bot, in a server."""

    joined: float
    nick: str | None = None
    roles: set[int] = field(default_factory=set)


class Guild:
    """A server with the bot in it."""

    def __init__(self, state: State, guild_id: int, name: str) -> None:
        self.state = state
        self.id = guild_id
        self.name = name
        self.available = True
        """False when the bot is out or the platform has an outage there."""
        everyone = Role(guild_id, "@everyone", USUAL)
        self.commands_allowed = True
        """The invitation held the scope ``applications.commands``."""
        self.bot_role = Role(state.snowflake(), str(state.bot_user["username"]), managed=True)
        self.roles = {everyone.id: everyone, self.bot_role.id: self.bot_role}
        own = Member(state.now(), roles={self.bot_role.id})
        self.members: dict[int, Member] = {state.bot_id: own}
        self.owner: Person | None = None
        self.channels: list[Channel] = []

    def __repr__(self) -> str:
        return f"Guild({self.id}, {self.name!r})"

    @property
    def permissions(self) -> Permission:
        """What the bot may do where a channel says nothing else."""
        roles = (self.roles[self.id], self.bot_role)
        return roles[0].permissions | roles[1].permissions

    # Steering

    def channel(self, name: str = "general") -> Channel:
        """Create a text channel."""
        return self._add(Channel(self, self.state.snowflake(), "text", name))

    def forum(self, name: str = "questions") -> Channel:
        """Create a forum; ``post`` writes there."""
        return self._add(Channel(self, self.state.snowflake(), "forum", name))

    def _add(self, channel: Channel) -> Channel:
        with self.state.changes.lock:
            self.channels.append(channel)
            self.state.chats[channel.id] = channel
            if self.available:
                self.state.push(Event("CHANNEL_CREATE", channel.json(), GUILDS))
        return channel

    def role(self, name: str, *people: Person, bot: bool = False) -> Role:
        """Create a role and give it to people, and to the bot where ``bot``."""
        with self.state.changes.lock:
            role = Role(self.state.snowflake(), name)
            self.roles[role.id] = role
            self.state.push(
                Event("GUILD_ROLE_CREATE", {"guild_id": str(self.id), "role": role.json()}, GUILDS)
            )
            for person in people:
                self.join(person).roles.add(role.id)
            if bot:
                own = self.members[self.state.bot_id]
                own.roles.add(role.id)
                data = {**self.member_json(self.state.bot_id), "guild_id": str(self.id)}
                # A bot is told of its own changes whatever its intents.
                self.state.push(Event("GUILD_MEMBER_UPDATE", data, GUILDS | MEMBERS))
        return role

    def join(self, person: Person, *, welcome: Channel | None = None) -> Member:
        """Let a person in, once; ``welcome`` gets the platform's own message about it."""
        with self.state.changes.lock:
            if person.id not in self.members:
                self.members[person.id] = Member(self.state.now())
                self.owner = self.owner or person
                data = {**self.member_json(person.id), "guild_id": str(self.id)}
                self.state.push(Event("GUILD_MEMBER_ADD", data, MEMBERS))
                if welcome is not None:
                    welcome.post(person, kind=JOINED)
            return self.members[person.id]

    def leave(self, person: Person) -> None:
        """Let a person out."""
        with self.state.changes.lock:
            self.members.pop(person.id, None)
            data = {"guild_id": str(self.id), "user": person.json()}
            self.state.push(Event("GUILD_MEMBER_REMOVE", data, MEMBERS))

    def allow(self, wanted: Permission) -> None:
        """Give the bot's role permissions in the whole server."""
        self.bot_role.permissions |= wanted
        self._role_changed(self.bot_role)

    def deny(self, unwanted: Permission) -> None:
        """Take permissions from the bot's role and from everyone."""
        for role in (self.bot_role, self.roles[self.id]):
            role.permissions &= ~unwanted
            self._role_changed(role)

    def _role_changed(self, role: Role) -> None:
        data = {"guild_id": str(self.id), "role": role.json()}
        self.state.push(Event("GUILD_ROLE_UPDATE", data, GUILDS))

    def kick_bot(self) -> None:
        """Throw the bot out; it is told so."""
        with self.state.changes.lock:
            self.available = False
            self.state.push(Event("GUILD_DELETE", {"id": str(self.id)}, GUILDS))

    def outage(self) -> None:
        """Make the server unreachable, as in an outage; the bot is told so."""
        with self.state.changes.lock:
            self.available = False
            data = {"id": str(self.id), "unavailable": True}
            self.state.push(Event("GUILD_DELETE", data, GUILDS))

    def add_bot(self) -> None:
        """Take the bot in again, or end the outage; it is told so."""
        with self.state.changes.lock:
            self.available = True
            self.state.push(self.created_event())

    # JSON

    def member_json(self, number: int, *, nested: bool = False) -> dict[str, Any]:
        """Return the Member object; a nested one leaves the user out."""
        member = self.members.get(number) or Member(self.state.now())
        data: dict[str, Any] = {
            "roles": [str(role) for role in sorted(member.roles)],
            "joined_at": iso(member.joined),
            "nick": member.nick,
            "avatar": None,
            "premium_since": None,
            "communication_disabled_until": None,
            "pending": False,
            "deaf": False,
            "mute": False,
            "flags": 0,
        }
        return data if nested else {**data, "user": self.state.user_json(number)}

    def members_json(self) -> list[dict[str, Any]]:
        """Return all members."""
        return [self.member_json(number) for number in self.members]

    def json(self) -> dict[str, Any]:
        """Return the Guild object."""
        owner = self.owner.id if self.owner is not None else self.state.bot_id
        nothing = (
            *("icon", "splash", "discovery_splash", "banner", "description", "afk_channel_id"),
            *("vanity_url_code", "application_id", "public_updates_channel_id", "icon_hash"),
            *("system_channel_id", "rules_channel_id", "safety_alerts_channel_id"),
        )
        numbers = (
            *("verification_level", "default_message_notifications", "explicit_content_filter"),
            *("mfa_level", "premium_tier", "premium_subscription_count", "nsfw_level"),
            "system_channel_flags",
        )
        return {
            **dict.fromkeys(nothing),
            **dict.fromkeys(numbers, 0),
            "id": str(self.id),
            "name": self.name,
            "owner_id": str(owner),
            "afk_timeout": 300,
            "preferred_locale": "en-US",
            "features": [],
            "emojis": [],
            "stickers": [],
            "roles": [role.json() for role in self.roles.values()],
            "premium_progress_bar_enabled": False,
        }

    def created_event(self) -> Event:
        """Return GUILD_CREATE: the server as it is now."""
        threads = [thread for channel in self.channels for thread in channel.threads]
        data = {
            **self.json(),
            "joined_at": iso(self.members[self.state.bot_id].joined),
            "large": False,
            "unavailable": False,
            "member_count": len(self.members),
            "members": [self.member_json(self.state.bot_id)],
            "channels": [channel.json() for channel in self.channels],
            "threads": [thread.json() for thread in threads if not thread.archived],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }
        return Event("GUILD_CREATE", data, GUILDS)
