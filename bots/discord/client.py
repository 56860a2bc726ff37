"""The library's client as this door uses it: what it asks for, and whom it tells.

It caches no messages and no members, and asks for the four intents that a conversation needs.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

from discord import (
    AllowedMentions,
    Client,
    Intents,
    Interaction,
    MemberCacheFlags,
    Message,
    RawMessageUpdateEvent,
    VoiceClient,
)

log = logging.getLogger(__name__)

VoiceClient.warn_nacl = VoiceClient.warn_dave = False  # this bot never speaks


class _Brief(logging.Filter):
    """Makes a lost connection, which is no fault of the program, a warning of one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = None
        record.levelno = min(record.levelno, logging.WARNING)
        record.levelname = logging.getLevelName(record.levelno)
        return True


logging.getLogger("discord").setLevel(logging.WARNING)
logging.getLogger("discord.client").addFilter(_Brief())


class Events(Protocol):
    """Who hears of what people do."""

    def begun(self) -> None:
        """A session begins: what was said before it is not told."""

    def said(self, message: Message) -> None:
        """A message was written."""

    def edited(self, message: Message) -> None:
        """A message was changed."""

    async def acted(self, interaction: Interaction[Any]) -> None:
        """A command was used or a button pressed."""


class Owner(Protocol):
    """Who holds a client."""

    events: Events

    def came_up(self, client: Client, *, anew: bool) -> None:
        """Events come in, ``anew``: after READY, and without what a lost session missed."""

    def went_down(self, client: Client) -> None:
        """The connection is lost, or did not come about; the library tries again."""


class TutorClient(Client):
    """The library's client, which only passes on what it hears."""

    def __init__(self, owner: Owner, *, silence: float) -> None:
        """``silence``: seconds without any frame after which a connection counts as dead."""
        super().__init__(
            intents=Intents(
                guilds=True, guild_messages=True, dm_messages=True, message_content=True
            ),
            allowed_mentions=AllowedMentions.none(),
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=0.1,  # nobody waits for the library's own "ready"
            heartbeat_timeout=silence,
            max_ratelimit_timeout=30.0,
        )
        self._owner = owner

    async def on_connect(self) -> None:
        """READY was told."""
        self._owner.came_up(self, anew=True)

    async def on_resumed(self) -> None:
        """What was missed has been told."""
        self._owner.came_up(self, anew=False)

    async def on_disconnect(self) -> None:
        """The line was lost, or a try came to nothing."""
        self._owner.went_down(self)

    async def on_message(self, message: Message) -> None:
        """Somebody wrote."""
        self._owner.events.said(message)

    async def on_raw_message_edit(self, payload: RawMessageUpdateEvent) -> None:
        """A message has changed, whoever or whatever changed it."""
        self._owner.events.edited(payload.message)

    async def on_interaction(self, interaction: Interaction[Any]) -> None:
        """Somebody used a command or pressed a button."""
        await self._owner.events.acted(interaction)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """One event must never hold the others."""
        log.exception("%s failed in a way nobody foresaw", event_method)


def reads_content(client: Client) -> bool:
    """Tell whether the portal lets the bot read what people write (F042)."""
    flags = client.application.flags if client.application is not None else None
    return flags is None or flags.gateway_message_content or flags.gateway_message_content_limited
