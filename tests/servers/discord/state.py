"""Everything the server knows: the bot, people, servers, channels, files, interactions.

Guarded by ``changes.lock``. Nothing here reads HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.servers.changes import Changes
from tests.servers.discord.chats import Chat
from tests.servers.discord.commands import Command
from tests.servers.discord.files import File
from tests.servers.discord.gateway import Gateway
from tests.servers.discord.intents import Event
from tests.servers.discord.limits import RateLimits, Rates
from tests.servers.discord.press import Press
from tests.servers.discord.shown import Shown

if TYPE_CHECKING:
    from tests.servers.discord.guilds import Guild
    from tests.servers.discord.people import Person

EPOCH_MS = 1_420_070_400_000
"""Milliseconds of the first second of 2015, from which snowflakes count."""


class State:
    """One bot's world."""

    def __init__(
        self,
        changes: Changes,
        token: str,
        bot_user: dict[str, Any],
        application_id: int,
        rates: Rates,
        portal_intents: int,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self.changes = changes
        self.token = token
        self.bot_user = bot_user
        """The bot as a User object."""
        self.bot_id = int(bot_user["id"])
        self.application_id = application_id
        self.portal_intents = portal_intents
        """Privileged intents switched on in the developer portal."""
        self.code_grant = False
        """Invitations need a code grant."""
        self.interactions_url: str | None = None
        """Where interactions are sent; None for the gateway."""
        self.limits = RateLimits(rates, clock, now)
        self.clock = clock
        self.now = now
        self.origin: Callable[[], str] = str
        """The server's own address, known once it listens."""
        self.gateway = Gateway(self)
        self.guilds: dict[int, Guild] = {}
        self.chats: dict[int, Chat] = {}
        self.people: dict[int, Person] = {}
        self.files: dict[int, File] = {}
        self.presses: dict[int, Press] = {}
        self.commands: dict[int | None, dict[int, Command]] = {}
        """Server, None for everywhere, to commands by id."""
        self.nonces: dict[str, tuple[float, Shown]] = {}
        """Nonces of the last minutes to the moment and message they made."""
        self._last_id = 0

    def snowflake(self) -> int:
        """Return a fresh id that grows with time."""
        with self.changes.lock:
            made = (int(self.now() * 1000) - EPOCH_MS) << 22
            self._last_id = max(self._last_id + 1, made)
            return self._last_id

    def user_json(self, number: int) -> dict[str, Any]:
        """Return a fresh User object of a person or the bot."""
        if number == self.bot_id:
            return dict(self.bot_user)
        return self.people[number].json()

    def knows(self, number: int) -> bool:
        """Tell whether there is a person, or the bot itself, with this id."""
        return number == self.bot_id or number in self.people

    def push(self, event: Event) -> Event:
        """Tell the bot."""
        return self.gateway.dispatch(event)

    def application_json(self) -> dict[str, Any]:
        """Return the parts of the Application object that READY carries."""
        switches = {1 << 8: 1 << 13, 1 << 1: 1 << 15, 1 << 15: 1 << 19}
        flags = sum(flag for bit, flag in switches.items() if self.portal_intents & bit)
        return {"id": str(self.application_id), "flags": flags}

    def ready_data(self, session_id: str) -> dict[str, Any]:
        """Return READY for a session."""
        return {
            "v": 10,
            "user": {**self.bot_user, "verified": True, "mfa_enabled": False, "email": None},
            "user_settings": {},
            "relationships": [],
            "private_channels": [],
            "presences": [],
            "guilds": [{"id": str(number), "unavailable": True} for number in self.guilds],
            "session_id": session_id,
            "session_type": "normal",
            "resume_gateway_url": self.origin().replace("http", "ws", 1) + "/resume",
            "application": self.application_json(),
        }
