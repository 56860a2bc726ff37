"""A message as a chat shows it, and the JSON the platform makes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.feishu import cards, posts
from tests.servers.feishu.delivery import Delivery
from tests.servers.feishu.mentions import Mention, readable

if TYPE_CHECKING:
    from tests.servers.feishu.chats import Chat
    from tests.servers.feishu.people import Person


@dataclass(frozen=True, slots=True)
class Reaction:
    """One reaction to a message; ``by`` None is the bot."""

    reaction_id: str
    emoji: str
    by: Person | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message hangs: the ids of its root, of what it answers, of its topic."""

    root_id: str | None = None
    parent_id: str | None = None
    thread_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One message at one moment; a change makes a new one with the same id."""

    chat: Chat = field(repr=False)
    message_id: str
    order: int
    """Position among all messages of the server."""
    sender: Person | None
    """None for the bot."""
    created: int
    """Unix milliseconds."""
    kind: str
    """The message type: text, post, interactive, image, ..."""
    content: dict[str, Any]
    """The decoded content; the whole present card for a card."""
    mentions: list[Mention] = field(default_factory=list)
    place: Place = field(default_factory=Place)
    updated: int | None = None
    """Unix milliseconds of the last change."""
    edits: int = 0
    recalled: bool = False
    reactions: tuple[Reaction, ...] = ()
    upper_message_id: str | None = None
    """The forwarded bundle it is a part of."""
    card_id: str | None = None
    """The card entity it shows."""
    delivery: Delivery | None = field(default=None, repr=False)
    """The event that told the bot of it; None for its own and for what it may not see."""

    @property
    def root_id(self) -> str | None:
        """The first message of the replies it belongs to; None outside of replies."""
        return self.place.root_id

    @property
    def parent_id(self) -> str | None:
        """The message it answers."""
        return self.place.parent_id

    @property
    def thread_id(self) -> str | None:
        """The topic it is in."""
        return self.place.thread_id

    @property
    def from_bot(self) -> bool:
        """Whether the bot wrote it."""
        return self.sender is None

    @property
    def card(self) -> dict[str, Any]:
        """The card; LookupError when it is none."""
        if self.kind != "interactive":
            raise LookupError(f"a {self.kind} message is no card")
        return self.content

    @property
    def text(self) -> str:
        """What it says, in words, mentions as names; empty for images and files."""
        match self.kind:
            case "text":
                return readable(str(self.content["text"]), self.mentions)
            case "post":
                return readable(posts.words(self.content), self.mentions)
            case "interactive":
                return cards.shown_text(self.content)
            case _:
                return ""

    @property
    def streaming(self) -> bool:
        """Whether a card still shows that it is being generated."""
        config = self.content.get("config", {}) if self.kind == "interactive" else {}
        return bool(config.get("streaming_mode"))

    @property
    def emojis(self) -> list[str]:
        """The reactions it has now."""
        return [reaction.emoji for reaction in self.reactions]

    @property
    def buttons(self) -> list[dict[str, Any]]:
        """The buttons of a card."""
        return cards.buttons(self.content) if self.kind == "interactive" else []

    @property
    def labels(self) -> list[str]:
        """What is written on its buttons."""
        return [cards.label(button) for button in self.buttons]

    def button(self, wanted: object) -> dict[str, Any]:
        """Return the button with this label or value; LookupError lists the others."""
        for button in self.buttons:
            if wanted in (cards.label(button), cards.value(button)):
                return button
        raise LookupError(f"no button {wanted!r} under {self.text!r}, only {self.labels}")

    def event(self) -> dict[str, Any]:
        """Return the ``message`` of a receive event."""
        tenant = self.chat.state.tenant_key
        data: dict[str, Any] = {
            "message_id": self.message_id,
            **self._threading(),
            "create_time": str(self.created),
            "update_time": str(self.updated or self.created),
            "chat_id": self.chat.chat_id,
            "chat_type": "p2p" if self.chat.kind == "p2p" else "group",
            "message_type": self.kind,
            "content": json.dumps(self.plain_content(), ensure_ascii=False),
        }
        if self.mentions:
            data["mentions"] = [mention.event(tenant) for mention in self.mentions]
        return data

    def json(self, *, raw_card: bool = False) -> dict[str, Any]:
        """Return the message object of the REST interfaces."""
        state = self.chat.state
        content = self.content if raw_card else self.plain_content()
        data: dict[str, Any] = {
            "message_id": self.message_id,
            **self._threading(),
            "msg_type": self.kind,
            "create_time": str(self.created),
            "update_time": str(self.updated or self.created),
            "deleted": self.recalled,
            "updated": self.updated is not None,
            "chat_id": self.chat.chat_id,
            "sender": {
                "id": state.app_id if self.sender is None else self.sender.open_id,
                "id_type": "app_id" if self.sender is None else "open_id",
                "sender_type": "app" if self.sender is None else "user",
                "tenant_key": state.tenant_key,
            },
            "body": {"content": json.dumps(content, ensure_ascii=False)},
        }
        if self.recalled:
            data["body"] = {"content": "This message was recalled"}
        if self.mentions:
            data["mentions"] = [mention.rest(state.tenant_key) for mention in self.mentions]
        if self.upper_message_id:
            data["upper_message_id"] = self.upper_message_id
        return data

    def plain_content(self) -> dict[str, Any]:
        """Return the content as others may read it: of a card only its words, row by row."""
        if self.kind != "interactive":
            return self.content
        header = self.content.get("header", {})
        lines = cards.shown_text({**self.content, "header": {}}).split("\n")
        return {
            "title": header.get("title", {}).get("content", ""),
            "elements": [[{"tag": "text", "text": line}] for line in lines],
        }

    def _threading(self) -> dict[str, str]:
        given = {
            "root_id": self.root_id,
            "parent_id": self.parent_id,
            "thread_id": self.thread_id,
        }
        return {name: value for name, value in given.items() if value is not None}
