"""A message as a chat shows it, and the JSON the Bot API makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.telegram.entities import Entity, cut

if TYPE_CHECKING:
    from tests.servers.telegram.chats import Chat
    from tests.servers.telegram.people import Person


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One message at one moment; an edit makes a new one with the same id."""

    chat: Chat = field(repr=False)
    message_id: int
    sender: Person | None
    """None for the bot."""
    date: int
    """Unix seconds."""
    text: str = ""
    entities: list[Entity] = field(default_factory=list)
    words: str = ""
    """What a rich message says, which has no ``text``."""
    reply_markup: dict[str, Any] | None = None
    thread: int | None = None
    """Topic of a forum or private chat; None for its main part and for General."""
    reply_to: int | None = None
    """Id of the message it answers."""
    edited: int | None = None
    """Unix seconds of the last edit."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields of another kind of content: sticker, photo, service message."""
    update: dict[str, Any] | None = field(default=None, repr=False)
    """The update that told the bot of it; None for its own and for what it may not see."""

    @property
    def from_bot(self) -> bool:
        """Whether the bot wrote it."""
        return self.sender is None

    @property
    def buttons(self) -> list[dict[str, Any]]:
        """Its inline buttons, row by row."""
        rows = (self.reply_markup or {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]

    @property
    def labels(self) -> list[str]:
        """The texts of its inline buttons."""
        return [button["text"] for button in self.buttons]

    def covered(self, kind: str) -> list[str]:
        """Return the pieces of text that entities of this type cover."""
        return [cut(self.text, entity) for entity in self.entities if entity["type"] == kind]

    def button(self, wanted: str) -> dict[str, Any]:
        """Return the inline button with this label or callback data; LookupError lists others."""
        for button in self.buttons:
            if wanted in (button["text"], button.get("callback_data")):
                return button
        raise LookupError(f"no button {wanted!r} under {self.text!r}, only {self.labels}")

    def json(self, *, nested: bool = False) -> dict[str, Any]:
        """Return the Message object; a nested one names no message it replies to."""
        author = self.chat.state.bot_user if self.sender is None else self.sender.json()
        data: dict[str, Any] = {
            "message_id": self.message_id,
            "from": author,
            "chat": self.chat.json(),
            "date": self.date,
            **self.extra,
        }
        if self.text:
            data["text"] = self.text
        if self.entities:
            data["entities"] = self.entities
        if self.edited is not None:
            data["edit_date"] = self.edited
        if self.thread is not None:
            data |= {"message_thread_id": self.thread, "is_topic_message": True}
        if self.reply_markup is not None and "inline_keyboard" in self.reply_markup:
            data["reply_markup"] = self.reply_markup
        # In a topic every message hangs on the service message that opened it.
        parent = self.reply_to if self.reply_to is not None else self.thread
        original = self.chat.find(parent) if parent is not None and not nested else None
        if original is not None and original.message_id != self.message_id:
            data["reply_to_message"] = original.json(nested=True)
        return data
