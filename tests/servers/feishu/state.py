"""Everything the server knows: the app, people, chats, messages, files, cards, settings.

Guarded by ``changes.lock``. Nothing here reads HTTP.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.changes import Changes
from tests.servers.feishu.cards import Known
from tests.servers.feishu.delivery import Delivery
from tests.servers.feishu.gateway import Gateway
from tests.servers.feishu.limits import Clock, Frequency, Rates

if TYPE_CHECKING:
    from tests.servers.feishu.chats import Chat
    from tests.servers.feishu.mentions import Account
    from tests.servers.feishu.people import Bot, Person
    from tests.servers.feishu.shown import Shown

SCOPES = frozenset(
    {
        "cardkit:card:write",
        "contact:contact.base:readonly",
        "contact:user.base:readonly",
        "im:chat:readonly",
        "im:message",
        "im:message.group_at_msg:readonly",
        "im:message.p2p_msg:readonly",
        "im:message.reactions:write_only",
        "im:message:readonly",
        "im:message:send_as_bot",
        "im:message:update",
        "im:resource",
        "im:user_agent:read",
    }
)
"""What the app may do unless a test says otherwise; among it not: all messages of a group."""
ALL_GROUP_MESSAGES = "im:message.group_msg"

SUBSCRIBED = frozenset(
    {
        "card.action.trigger",
        "im.chat.access_event.bot_p2p_chat_entered_v1",
        "im.chat.member.bot.added_v1",
        "im.chat.member.bot.deleted_v1",
        "im.message.message_read_v1",
        "im.message.reaction.created_v1",
        "im.message.reaction.deleted_v1",
        "im.message.receive_v1",
        "im.message.recalled_v1",
    }
)
"""Events the app has subscribed to unless a test says otherwise."""


@dataclass(slots=True)
class File:
    """Something a person or the bot uploaded."""

    key: str
    data: bytes
    name: str
    kind: str
    """``image`` or the file type: opus, mp4, pdf, doc, xls, ppt, stream, sticker."""
    from_bot: bool


@dataclass(slots=True)
class Entity:
    """A card entity of the card kit."""

    card_id: str
    card: dict[str, Any]
    created: float
    sequence: int = 0
    """Of the last operation."""
    message: Shown | None = None
    """Where it was sent; an entity can be sent once."""
    streaming_since: float | None = None
    """None while it does not stream."""
    timed_out: bool = False
    """Streaming ended by itself."""
    uuids: set[str] = field(default_factory=set)


class State:
    """One app's world."""

    def __init__(
        self,
        changes: Changes,
        clock: Clock,
        gateway: Gateway,
        app_id: str,
        app_secret: str,
        token_seconds: float,
        rates: Rates,
        bot: Bot,
    ) -> None:
        self.changes = changes
        self.clock = clock
        self.gateway = gateway
        self.app_id = app_id
        self.app_secret = app_secret
        self.token_seconds = token_seconds
        self.tenant_key = "736588c9260f175e"
        self.bot = bot
        self.bot_ability = True
        """False: the app has no bot."""
        self.installed = True
        """False: no version was published yet."""
        self.long_connection = True
        """False: events and callbacks are sent to a web address."""
        self.rates = rates
        self.frequency = Frequency(clock)
        self.scopes = set(SCOPES)
        self.subscribed = set(SUBSCRIBED)
        self.people: dict[str, Person] = {}
        """By open_id."""
        self.chats: dict[str, Chat] = {}
        self.files: dict[str, File] = {}
        self.entities: dict[str, Entity] = {}
        self.tokens: dict[str, float] = {}
        """Valid tokens to the moment they expire."""
        self.sent: dict[str, tuple[float, Shown]] = {}
        """uuid to when and what was sent under it."""
        self.pressed: set[str] = set()
        """Messages whose card waits for the answer to a press."""
        self._numbers = itertools.count(1)
        self._latest = 0

    def fresh(self, prefix: str) -> str:
        """Return an id used nowhere else."""
        return f"{prefix}_{next(self._numbers):032x}"

    def fresh_moment(self) -> int:
        """Return the present for a message, in milliseconds; no two messages have the same."""
        self._latest = max(self._latest + 1, self.clock.milliseconds())
        return self._latest

    def fresh_number(self) -> int:
        """Return a number used nowhere else."""
        return next(self._numbers)

    @property
    def known(self) -> Known:
        """What cards may refer to."""
        return Known(self.has_image, lambda open_id: self.account(open_id) is not None)

    def has_image(self, key: str) -> bool:
        """Tell whether the bot may show this image."""
        file = self.files.get(key)
        return file is not None and file.kind == "image" and file.from_bot

    def account(self, open_id: str) -> Account | None:
        """Return the person or bot with this open_id."""
        return self.bot if open_id == self.bot.open_id else self.people.get(open_id)

    def find_message(self, message_id: str) -> Shown | None:
        """Return a message of any chat as it is shown now."""
        for chat in self.chats.values():
            if (found := chat.find(message_id)) is not None:
                return found
        return None

    def add_file(self, data: bytes, name: str, kind: str, *, from_bot: bool) -> File:
        """Keep a file."""
        prefix = "img_v3" if kind == "image" else "file_v3"
        file = File(self.fresh(prefix), data, name, kind, from_bot)
        self.files[file.key] = file
        return file

    def envelope(
        self, event_type: str, event: dict[str, Any], event_id: str | None = None
    ) -> dict[str, Any]:
        """Return an event of schema 2.0 around a payload."""
        return {
            "schema": "2.0",
            "header": {
                "event_id": event_id or self.fresh("ev"),
                "event_type": event_type,
                "create_time": str(self.clock.milliseconds()),
                "token": "",
                "app_id": self.app_id,
                "tenant_key": self.tenant_key,
            },
            "event": event,
        }

    def emit(self, event_type: str, event: dict[str, Any]) -> Delivery | None:
        """Deliver an event; None when the app has not subscribed to its kind."""
        with self.changes.lock:
            if event_type not in self.subscribed:
                return None
            return self.gateway.push(self.envelope(event_type, event))
