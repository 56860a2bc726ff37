"""A person with an account, and what they do to the bot in private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.servers.telegram.chats import Chat, Topic
from tests.servers.telegram.entities import Entity
from tests.servers.telegram.shown import Shown

if TYPE_CHECKING:
    from tests.servers.telegram.state import State


class Person:
    """A person with an account, and the private chat with the bot that belongs to it."""

    def __init__(
        self,
        state: State,
        person_id: int,
        first_name: str,
        language_code: str | None,
        username: str | None,
        started: bool,
    ) -> None:
        self.state = state
        self.id = person_id
        self.first_name = first_name
        self.language_code = language_code
        self.username = username
        self.started = started
        """Has written to the bot; before that the bot cannot write to them."""
        self.blocked = False
        """Has blocked the bot."""
        self.private = Chat(state, person_id, "private", person=self)

    def __repr__(self) -> str:
        return f"Person({self.id}, {self.first_name!r})"

    def json(self) -> dict[str, Any]:
        """Return the User object."""
        data: dict[str, Any] = {"id": self.id, "is_bot": False, "first_name": self.first_name}
        if self.username:
            data["username"] = self.username
        if self.language_code:
            data["language_code"] = self.language_code
        return data

    def say(
        self,
        text: str,
        *,
        entities: list[Entity] | None = None,
        reply_to: Shown | int | None = None,
        thread: Topic | int | None = None,
        unlimited: bool = False,
    ) -> Shown:
        """Write to the bot in private."""
        return self.private.say(
            self, text, entities=entities, reply_to=reply_to, thread=thread, unlimited=unlimited
        )

    def block(self) -> None:
        """Block the bot; it is told so."""
        self.blocked = True
        self.private.membership(self, "member", "kicked")

    def unblock(self) -> None:
        """Let the bot in again; it is told so."""
        self.blocked = False
        self.private.membership(self, "kicked", "member")
