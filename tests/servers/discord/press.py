"""An interaction: a button pressed, an option chosen, a command used, a modal sent."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE
from tests.servers.discord.limits import RESPONSE_SECONDS, TOKEN_SECONDS

if TYPE_CHECKING:
    from tests.servers.discord.chats import Chat
    from tests.servers.discord.intents import Event
    from tests.servers.discord.people import Person
    from tests.servers.discord.shown import Shown
    from tests.servers.discord.state import State

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
"""Interaction types."""


@dataclass(slots=True, eq=False)
class Press:
    """One interaction, and what the bot answered."""

    state: State = field(repr=False)
    interaction_id: int
    kind: int
    chat: Chat
    user: Person
    born: float
    """Seconds of the server's clock."""
    message: Shown | None = None
    """The message whose button or menu it was."""
    name: str | None = None
    """Of the command."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    update: Event | None = field(default=None, repr=False)
    """The event that told the bot of it."""
    stale: bool = False
    """Forgotten by the platform before its time."""
    dead: bool = False
    """Its token was ended before its time."""
    answer: dict[str, Any] | None = None
    """Type and data of the first response; None until it came."""
    original: int | None = None
    """Id of the message that is the first response, or is going to be."""
    thinking: bool = False
    """The bot promised an answer and the chat shows that it thinks."""
    hidden: bool = False
    """Only the one who acted sees the promised answer."""
    written: list[int] = field(default_factory=list)
    """Ids of the messages that answer it, in the order they were sent."""

    # Its life

    @property
    def late(self) -> bool:
        """Whether a first response comes too late."""
        return self.stale or self.state.clock() - self.born > RESPONSE_SECONDS

    @property
    def over(self) -> bool:
        """Whether its token has died."""
        return self.dead or self.state.clock() - self.born > TOKEN_SECONDS

    @property
    def failed(self) -> bool:
        """Whether the person is told that the application did not respond."""
        return self.answer is None and self.late

    def expire(self) -> None:
        """Let the platform forget the interaction: a first response is now too late."""
        self.stale = True

    def end_token(self) -> None:
        """Let the token die: nothing can be edited or followed up any more."""
        self.dead = True

    # Reading

    @property
    def replies(self) -> list[Shown]:
        """The messages that answer it, as the chat shows them now."""
        found = [self.chat.find(number) for number in self.written]
        return [message for message in found if message is not None]

    @property
    def modal(self) -> dict[str, Any] | None:
        """The modal that the bot opened, None when it opened none."""
        if self.answer is None or self.answer["type"] != 9:
            return None
        data: dict[str, Any] = self.answer["data"]
        return data

    @property
    def choices(self) -> list[dict[str, Any]]:
        """The suggestions of an autocompletion."""
        data = (self.answer or {}).get("data") or {}
        return list(data.get("choices") or [])

    async def wait_answered(self, within: float = PATIENCE) -> dict[str, Any]:
        """Return the first response once it came."""
        await self.state.changes.wait_for(lambda: self.answer is not None, within, "no answer")
        return self.answer or {}

    def wait_answered_blocking(self, within: float = PATIENCE) -> dict[str, Any]:
        """Do the same, blocking the calling thread."""
        changes = self.state.changes
        changes.wait_for_blocking(lambda: self.answer is not None, within, "no answer")
        return self.answer or {}

    async def wait_reply(self, within: float = PATIENCE) -> Shown:
        """Return the first message that answers it once it can be read."""
        return (await self.state.changes.wait_for(lambda: self.replies, within, "no reply"))[0]

    def wait_reply_blocking(self, within: float = PATIENCE) -> Shown:
        """Do the same, blocking the calling thread."""
        wait = self.state.changes.wait_for_blocking
        return wait(lambda: self.replies, within, "no reply")[0]
