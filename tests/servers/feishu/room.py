"""A chat as a place: its messages, how they hang together, and waiting for new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE, Changes
from tests.servers.feishu.shown import Place, Reaction, Shown

if TYPE_CHECKING:
    from tests.servers.feishu.people import Person
    from tests.servers.feishu.state import State

Look = Callable[[Shown], bool]


class Room:
    """A private chat (``p2p``), a group, or a topic group (``topic``)."""

    def __init__(
        self, state: State, chat_id: str, kind: str, *, name: str = "", person: Person | None = None
    ) -> None:
        self.state = state
        self.chat_id = chat_id
        self.kind = kind
        self.name = name
        self.person = person
        """Whose private chat it is."""
        self.members: list[Person] = []
        """People whose ``@Name`` is a mention here; filled as they write."""
        self.bot_is_member = True
        self.dissolved = False
        self.changes = Changes(state.changes.lock)
        self._messages: dict[str, Shown] = {}
        self.bundles: dict[str, list[Shown]] = {}
        """The parts of forwarded bundles."""

    def __repr__(self) -> str:
        return f"Chat({self.chat_id}, {self.kind})"

    def json(self) -> dict[str, Any]:
        """Return the chat object of the chat interfaces."""
        return {
            "name": self.name,
            "description": "",
            "chat_mode": self.kind,
            "group_message_type": "thread" if self.kind == "topic" else "chat",
            "chat_type": "private",
            "chat_status": "dissolved" if self.dissolved else "normal",
            "external": False,
            "tenant_key": self.state.tenant_key,
            "user_count": str(len(self.members)),
            "bot_count": str(int(self.bot_is_member)),
        }

    # Reading

    @property
    def messages(self) -> list[Shown]:
        """What the chat shows now, oldest first; recalled messages are gone."""
        with self.state.changes.lock:
            return [message for message in self._messages.values() if not message.recalled]

    @property
    def from_bot(self) -> list[Shown]:
        """What the chat shows of the bot now."""
        return [message for message in self.messages if message.from_bot]

    def find(self, message_id: str) -> Shown | None:
        """Return a message as it is now, also a recalled one; None when there was none."""
        return self._messages.get(message_id)

    def now(self, message: Shown) -> Shown:
        """Return the present version of a message."""
        return self._messages[message.message_id]

    async def wait_message(
        self, look: Look | None = None, *, after: Shown | None = None, within: float = PATIENCE
    ) -> Shown:
        """Return the first message of the bot, below ``after``, for which ``look`` holds."""
        seen = self._first(look, after)
        return _found(await self.changes.wait_for(seen, within, self._picture))

    def wait_message_blocking(
        self, look: Look | None = None, *, after: Shown | None = None, within: float = PATIENCE
    ) -> Shown:
        """Do the same, blocking the calling thread."""
        seen = self._first(look, after)
        return _found(self.changes.wait_for_blocking(seen, within, self._picture))

    async def wait_reaction(
        self, message: Shown, emoji: str | None = None, within: float = PATIENCE
    ) -> Reaction:
        """Return the bot's first reaction to a message, of this kind when one is named."""

        def look() -> list[Reaction]:
            found = [one for one in self.now(message).reactions if one.by is None]
            return [one for one in found if emoji in (None, one.emoji)]

        return (await self.changes.wait_for(look, within, "no reaction"))[0]

    def _first(self, look: Look | None, after: Shown | None) -> Callable[[], Shown | None]:
        start = 0 if after is None else after.order

        def seen() -> Shown | None:
            for message in self.messages:
                if message.from_bot and message.order > start and (not look or look(message)):
                    return message
            return None

        return seen

    def _picture(self) -> str:
        lines = [
            f"  {'bot' if message.from_bot else message.sender}: {message.text or message.content}"
            for message in self.messages
        ]
        return "no such message; the chat shows\n" + "\n".join(lines)

    # For both sides; called under the lock

    def put(self, message: Shown) -> None:
        """Show a message, or its new version in the old place."""
        self._messages[message.message_id] = message

    def announce(self) -> None:
        """Wake those who wait for this chat and those who wait for the server."""
        self.changes.announce()
        self.state.changes.announce()

    def threading(self, parent: Shown | None, thread_id: str | None, *, quoting: bool) -> Place:
        """Return root, parent and thread of a new message.

        In a topic the parent is the topic's root, unless a person quotes (``quoting``) another
        message of it. In a topic group everything that answers nothing opens a topic.
        """
        if thread_id is not None:
            root = next(
                (one for one in self._messages.values() if one.thread_id == thread_id), None
            )
            if root is None:
                raise ValueError(f"there is no topic {thread_id} here")
            above = parent if quoting and parent is not None else root
            return Place(root.message_id, above.message_id, thread_id)
        if parent is not None:
            return Place(parent.root_id or parent.message_id, parent.message_id)
        return Place(thread_id=self.state.fresh("omt") if self.kind == "topic" else None)


def _found(message: Shown | None) -> Shown:
    assert message is not None
    return message
