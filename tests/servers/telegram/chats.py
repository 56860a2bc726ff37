"""Chats as people use them: they say, press, edit, open topics, throw the bot out.

What a chat shows is ``chat.messages``; what it tells the bot follows the platform's rules
(privacy mode, topics, membership).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE, Changes
from tests.servers.telegram.entities import Entity, detected, units
from tests.servers.telegram.limits import TEXT_UNITS
from tests.servers.telegram.press import Action, Press
from tests.servers.telegram.shown import Shown

if TYPE_CHECKING:
    from tests.servers.telegram.people import Person
    from tests.servers.telegram.state import State

Look = Callable[[Shown], bool]


class Topic:
    """A topic of a forum, or of a private chat of a bot that has topics there."""

    def __init__(self, chat: Chat, thread: int, name: str) -> None:
        self.chat = chat
        self.id = thread
        """The message_thread_id; also the id of the service message that opened it."""
        self.name = name
        self.closed = False

    def say(
        self,
        user: Person,
        text: str,
        *,
        entities: list[Entity] | None = None,
        reply_to: Shown | int | None = None,
    ) -> Shown:
        """Let a person write here."""
        return self.chat.say(user, text, entities=entities, reply_to=reply_to, thread=self)

    @property
    def messages(self) -> list[Shown]:
        """What the topic shows, without the service message that opened it."""
        return [
            message
            for message in self.chat.messages
            if message.thread == self.id and message.message_id != self.id
        ]

    def delete(self) -> None:
        """Remove the topic with all its messages."""
        with self.chat.state.changes.lock:
            self.chat.topics.pop(self.id, None)
            for message in self.chat.messages:
                if message.thread == self.id:
                    self.chat.take_away(message.message_id)
        self.chat.announce()


class Chat:
    """A private chat, group, supergroup or forum."""

    def __init__(
        self,
        state: State,
        chat_id: int,
        kind: str,
        *,
        title: str = "",
        username: str | None = None,
        forum: bool = False,
        person: Person | None = None,
    ) -> None:
        self.state = state
        self.id = chat_id
        self.kind = kind
        """``private``, ``group`` or ``supergroup``."""
        self.title = title
        self.username = username if person is None else person.username
        self.forum = forum
        self.person = person
        """Whose private chat it is."""
        self.bot_is_member = True
        self.bot_is_admin = False
        """An admin sees every message and may delete others'."""
        self.migrated_to: Chat | None = None
        self.topics: dict[int, Topic] = {}
        self.actions: list[Action] = []
        self.drafts: dict[int, str] = {}
        """Drafts shown now, by draft id; a message ends them."""
        self.changes = Changes(state.changes.lock)
        self._messages: dict[int, Shown] = {}
        self._next_id = 1

    def __repr__(self) -> str:
        return f"Chat({self.id}, {self.kind})"

    def json(self) -> dict[str, Any]:
        """Return the Chat object."""
        data: dict[str, Any] = {"id": self.id, "type": self.kind}
        if self.person is not None:
            data["first_name"] = self.person.first_name
        else:
            data["title"] = self.title
        if self.username:
            data["username"] = self.username
        if self.forum:
            data["is_forum"] = True
        return data

    # Reading

    @property
    def messages(self) -> list[Shown]:
        """What the chat shows now, oldest first."""
        with self.state.changes.lock:
            return list(self._messages.values())

    @property
    def from_bot(self) -> list[Shown]:
        """What the chat shows of the bot now."""
        return [message for message in self.messages if message.from_bot]

    def find(self, message_id: int) -> Shown | None:
        """Return a message as it is shown now, None when there is none."""
        return self._messages.get(message_id)

    def now(self, message: Shown) -> Shown:
        """Return the present version of a message; KeyError when it has been deleted."""
        return self._messages[message.message_id]

    async def wait_message(
        self,
        look: Look | None = None,
        *,
        after: Shown | None = None,
        within: float = PATIENCE,
    ) -> Shown:
        """Return the first message of the bot, below ``after``, for which ``look`` holds."""
        seen = self._first(look, after)
        return _found(await self.changes.wait_for(seen, within, self._picture))

    def wait_message_blocking(
        self,
        look: Look | None = None,
        *,
        after: Shown | None = None,
        within: float = PATIENCE,
    ) -> Shown:
        """Do the same, blocking the calling thread."""
        seen = self._first(look, after)
        return _found(self.changes.wait_for_blocking(seen, within, self._picture))

    async def wait_action(self, action: str = "typing", within: float = PATIENCE) -> Action:
        """Return the first action of this kind once it was shown."""

        def look() -> list[Action]:
            return [shown for shown in self.actions if shown.action == action]

        return (await self.changes.wait_for(look, within, f"no {action} was shown"))[0]

    def _first(self, look: Look | None, after: Shown | None) -> Callable[[], Shown | None]:
        start = 0 if after is None else after.message_id

        def seen() -> Shown | None:
            for message in self._messages.values():
                if message.from_bot and message.message_id > start and (not look or look(message)):
                    return message
            return None

        return seen

    def _picture(self) -> str:
        lines = [
            f"  {'bot' if message.from_bot else message.sender}: {message.text or message.extra}"
            for message in self.messages
        ]
        return "no such message; the chat shows\n" + "\n".join(lines)

    # What people do

    def say(
        self,
        user: Person,
        text: str,
        *,
        entities: list[Entity] | None = None,
        reply_to: Shown | int | None = None,
        thread: Topic | int | None = None,
        unlimited: bool = False,
    ) -> Shown:
        """Let a person write here; commands, mentions and links are found unless given.

        ``unlimited`` allows a text that the platform's own apps would have split.
        """
        if units(text) > TEXT_UNITS and not unlimited:
            raise ValueError("an app splits messages over 4096 units; pass unlimited=True")
        marked = detected(text, []) if entities is None else entities
        return self.post(user, text, marked, reply_to=reply_to, thread=thread)

    def post(
        self,
        user: Person,
        text: str = "",
        entities: list[Entity] | None = None,
        *,
        reply_to: Shown | int | None = None,
        thread: Topic | int | None = None,
        extra: dict[str, Any] | None = None,
    ) -> Shown:
        """Let a person send any content and tell the bot, where it may know."""
        if user.blocked and self.person is user:
            raise ValueError(f"{user} has blocked the bot and must unblock it first")
        with self.state.changes.lock:
            if self.person is user:
                user.started = True
            message = Shown(
                chat=self,
                message_id=self.next_id(),
                sender=user,
                date=self.state.date(),
                text=text,
                entities=entities or [],
                reply_to=_number(reply_to),
                thread=_number(thread),
                extra=extra or {},
            )
            self.put(message)
            if self.visible_to_bot(message):
                update = self.state.push("message", message.json())
                message = replace(message, update=update)
                self.put(message)
        self.announce()
        return message

    def edit(self, message: Shown, text: str, *, entities: list[Entity] | None = None) -> Shown:
        """Let the author of a message rewrite it."""
        with self.state.changes.lock:
            edited = replace(
                self.now(message),
                text=text,
                entities=detected(text, []) if entities is None else entities,
                edited=self.state.date(),
                update=None,
            )
            if self.visible_to_bot(edited):
                edited = replace(edited, update=self.state.push("edited_message", edited.json()))
            self.put(edited)
        self.announce()
        return edited

    def press(self, message: Shown, button: str, user: Person | None = None) -> Press:
        """Press the inline button with this label or callback data; LookupError if it is gone."""
        presser = user or self.person
        if presser is None:
            raise ValueError("say who presses in a group")
        with self.state.changes.lock:
            present = self.now(message)
            found = present.button(button)
            if "callback_data" not in found:
                raise LookupError(f"button {button!r} sends nothing to the bot")
            query_id = str(self.state.fresh_id())
            query = {
                "id": query_id,
                "from": presser.json(),
                "message": present.json(),
                "chat_instance": str(self.id),
                "data": found["callback_data"],
            }
            press = Press(self.state, query_id, self.state.push("callback_query", query))
            self.state.presses[query_id] = press
        return press

    def remove(self, message: Shown) -> None:
        """Let a person delete a message; the bot is not told."""
        self.take_away(message.message_id)
        self.announce()

    # What happens to the chat

    def topic(self, name: str, *, by: Person | None = None) -> Topic:
        """Open a topic; ``by`` None means that the bot did."""
        if not self.forum and not (self.person and self.state.private_topics):
            raise ValueError("this chat has no topics")
        with self.state.changes.lock:
            number = self.next_id()
            topic = Topic(self, number, name)
            self.topics[number] = topic
            opened = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
            message = Shown(self, number, by, self.state.date(), thread=number, extra=opened)
            self.put(message)
            if by is not None:
                self.state.push("message", message.json())
        self.announce()
        return topic

    def migrate(self) -> Chat:
        """Turn a basic group into a supergroup with a new id, as the platform does."""
        number = -1_000_000_000_000 - self.state.fresh_id()
        with self.state.changes.lock:
            target = Chat(self.state, number, "supergroup", title=self.title)
            self.state.chats[number] = target
            self.migrated_to = target
            for chat, notice in (
                (self, {"migrate_to_chat_id": number}),
                (target, {"migrate_from_chat_id": self.id}),
            ):
                service = Shown(chat, chat.next_id(), None, self.state.date(), extra=notice)
                chat.put(service)
                self.state.push("message", service.json())
        self.announce()
        return target

    def kick_bot(self, by: Person) -> None:
        """Throw the bot out; it is told so."""
        self.bot_is_member = False
        self.membership(by, "member", "kicked")

    def add_bot(self, by: Person) -> None:
        """Take the bot in; it is told so."""
        self.bot_is_member = True
        self.membership(by, "left", "member")

    def membership(self, by: Person, old: str, new: str) -> None:
        """Tell the bot that its own standing here has changed."""

        def member(status: str) -> dict[str, Any]:
            until = {"until_date": 0} if status == "kicked" else {}
            return {"status": status, "user": self.state.bot_user, **until}

        change = {
            "chat": self.json(),
            "from": by.json(),
            "date": self.state.date(),
            "old_chat_member": member(old),
            "new_chat_member": member(new),
        }
        self.state.push("my_chat_member", change)

    # For the Bot API's side; called under the lock

    def next_id(self) -> int:
        """Return the id of the next message: per supergroup, else shared by all chats."""
        if self.kind != "supergroup":
            return self.state.fresh_id()
        # 1 is the General topic's.
        self._next_id += 1
        return self._next_id

    def put(self, message: Shown) -> None:
        """Show a message, or its new version in the old place."""
        self._messages[message.message_id] = message

    def take_away(self, message_id: int) -> None:
        """Show a message no longer."""
        with self.state.changes.lock:
            self._messages.pop(message_id, None)

    def announce(self) -> None:
        """Wake those who wait for this chat and those who wait for the server."""
        self.changes.announce()
        self.state.changes.announce()

    def visible_to_bot(self, message: Shown) -> bool:
        """Tell whether the platform lets the bot see a person's message."""
        if self.person is not None:
            return True
        if not self.bot_is_member:
            return False
        if self.bot_is_admin:
            return True
        replied = self._messages.get(message.reply_to or 0)
        return self.state.addressed(
            message.text, message.entities, replied is not None and replied.from_bot
        )


def _number(given: Shown | Topic | int | None) -> int | None:
    if isinstance(given, Shown):
        return given.message_id
    return given.id if isinstance(given, Topic) else given


def _found(message: Shown | None) -> Shown:
    assert message is not None
    return message
