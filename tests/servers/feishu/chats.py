"""Chats as people use them: they say, send, press, react, recall, open topics, throw the bot out.

What a chat shows is ``chat.messages``; what it tells the bot follows the platform's rules
(scopes, membership, mentions, subscriptions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.servers.feishu.mentions import ALL, Account, Encoder, Mention, everyone
from tests.servers.feishu.press import Press, press
from tests.servers.feishu.room import Room
from tests.servers.feishu.shown import Reaction, Shown

if TYPE_CHECKING:
    from tests.servers.feishu.people import Person


class Topic:
    """A topic (thread): everything under one root message."""

    def __init__(self, chat: Chat, thread_id: str) -> None:
        self.chat = chat
        self.id = thread_id
        """The thread_id, ``omt_...``."""

    @property
    def messages(self) -> list[Shown]:
        """What the topic shows, its root first."""
        return [message for message in self.chat.messages if message.thread_id == self.id]

    @property
    def root(self) -> Shown:
        """The message that opened it."""
        return self.messages[0]

    def say(self, user: Person, text: str, *, reply_to: Shown | None = None) -> Shown:
        """Let a person write here."""
        return self.chat.say(user, text, reply_to=reply_to, thread=self)


class Chat(Room):
    """A private chat, a group or a topic group, with what people do in it."""

    def say(
        self,
        user: Person,
        text: str,
        *,
        reply_to: Shown | None = None,
        thread: Topic | None = None,
        all_listed: bool = False,
    ) -> Shown:
        """Let a person write; ``@Name`` of members and of the bot, and ``@all``, are mentions.

        ``all_listed`` puts ``@all`` among the mentions, which the platform does only sometimes.
        """
        encoder = Encoder()
        coded = encoder.text(text, self._accounts(user))
        extra = [everyone()] if all_listed else []
        return self.send(
            user,
            "text",
            {"text": coded},
            mentions=encoder.mentions + extra,
            reply_to=reply_to,
            thread=thread,
        )

    def say_rich(
        self,
        user: Person,
        rows: list[list[dict[str, Any]]],
        title: str = "",
        *,
        reply_to: Shown | None = None,
        thread: Topic | None = None,
    ) -> Shown:
        """Let a person write a post; an ``at`` element names an open_id and gets a placeholder."""
        encoder = Encoder()

        def coded(element: dict[str, Any]) -> dict[str, Any]:
            if element.get("tag") != "at":
                return element
            account = self.state.account(element["user_id"])
            if account is None:
                raise ValueError(f"nobody has the open_id {element['user_id']}")
            return {**element, "user_id": encoder.key(account), "user_name": account.name}

        content = {"title": title, "content": [[coded(one) for one in row] for row in rows]}
        return self.send(
            user, "post", content, mentions=encoder.mentions, reply_to=reply_to, thread=thread
        )

    def send_image(self, user: Person, data: bytes, *, thread: Topic | None = None) -> Shown:
        """Let a person send a picture."""
        file = self.state.add_file(data, "image.png", "image", from_bot=False)
        return self.send(user, "image", {"image_key": file.key}, thread=thread)

    def send_file(
        self, user: Person, data: bytes, name: str = "notes.pdf", *, thread: Topic | None = None
    ) -> Shown:
        """Let a person send a file."""
        file = self.state.add_file(data, name, "stream", from_bot=False)
        return self.send(user, "file", {"file_key": file.key, "file_name": name}, thread=thread)

    def send_audio(self, user: Person, data: bytes, milliseconds: int = 1000) -> Shown:
        """Let a person send a voice message."""
        file = self.state.add_file(data, "voice.opus", "opus", from_bot=False)
        return self.send(user, "audio", {"file_key": file.key, "duration": milliseconds})

    def send_sticker(self, user: Person) -> Shown:
        """Let a person send a sticker."""
        file = self.state.add_file(b"sticker", "sticker", "sticker", from_bot=False)
        return self.send(user, "sticker", {"file_key": file.key})

    def send_card(self, user: Person, card: dict[str, Any]) -> Shown:
        """Let a person forward a card: the bot gets only its words."""
        return self.send(user, "interactive", card)

    def forward(self, user: Person, messages: list[Shown]) -> Shown:
        """Let a person forward several messages as a bundle; its parts come by a look-up only."""
        with self.state.changes.lock:
            bundle = self.send(user, "merge_forward", {"content": "Merged and Forwarded Message"})
            for message in messages:
                number = self.state.fresh_number()
                copy = replace(
                    message,
                    chat=self,
                    message_id=self.state.fresh("om"),
                    order=number,
                    upper_message_id=bundle.message_id,
                    delivery=None,
                )
                self.bundles.setdefault(bundle.message_id, []).append(copy)
        return bundle

    def send(
        self,
        user: Person,
        kind: str,
        content: dict[str, Any],
        *,
        mentions: list[Mention] | None = None,
        reply_to: Shown | None = None,
        thread: Topic | None = None,
    ) -> Shown:
        """Let a person send any content, well formed or not, and tell the bot where it may know."""
        if self.person is not None and not user.available:
            raise ValueError(f"{user} cannot find the bot")
        with self.state.changes.lock:
            if user not in self.members:
                self.members.append(user)
            thread_id = thread.id if thread is not None else None
            if thread_id is None and reply_to is not None:
                thread_id = self.now(reply_to).thread_id
            message = Shown(
                self,
                self.state.fresh("om"),
                self.state.fresh_number(),
                user,
                self.state.fresh_moment(),
                kind,
                content,
                mentions or [],
                self.threading(reply_to, thread_id, quoting=True),
            )
            if self.visible_to_bot(message):
                message = replace(message, delivery=self._tell(message))
            self.put(message)
        self.announce()
        return message

    def topic(self, user: Person, text: str) -> Topic:
        """Open a topic with a message: any message of a topic group does, elsewhere a reply."""
        root = self.say(user, text)
        return self.open_topic(root)

    def open_topic(self, root: Shown) -> Topic:
        """Make a message the root of a topic, unless it is one."""
        with self.state.changes.lock:
            present = self.now(root)
            if present.thread_id is None:
                place = replace(present.place, thread_id=self.state.fresh("omt"))
                present = replace(present, place=place)
                self.put(present)
        self.announce()
        return Topic(self, str(present.thread_id))

    def edit(self, message: Shown, text: str) -> Shown:
        """Let the author rewrite a text; apps that subscribed to updates are told."""
        with self.state.changes.lock:
            present = self.now(message)
            encoder = Encoder()
            coded = encoder.text(text, self._accounts(present.sender))
            edited = replace(
                present,
                content={"text": coded},
                mentions=encoder.mentions,
                updated=self.state.clock.milliseconds(),
                edits=present.edits + 1,
            )
            self.put(edited)
            self.state.emit("im.message.updated_v1", {"message": edited.event()})
        self.announce()
        return edited

    def recall(self, message: Shown) -> None:
        """Take a message back; the bot is told."""
        with self.state.changes.lock:
            present = replace(self.now(message), recalled=True)
            self.put(present)
            if present.sender is None or self.visible_to_bot(present):
                recalled = {
                    "message_id": present.message_id,
                    "chat_id": self.chat_id,
                    "recall_time": str(self.state.clock.milliseconds()),
                    "recall_type": "message_owner",
                }
                self.state.emit("im.message.recalled_v1", recalled)
        self.announce()

    def react(self, message: Shown, emoji: str, by: Person | None) -> Reaction:
        """Put a reaction under a message; ``by`` None is the bot, which is told of its own too."""
        with self.state.changes.lock:
            present = self.now(message)
            reaction = Reaction(self.state.fresh("reaction"), emoji, by)
            self.put(replace(present, reactions=(*present.reactions, reaction)))
            self._tell_reaction("created", present, reaction)
        self.announce()
        return reaction

    def unreact(self, message: Shown, reaction: Reaction) -> None:
        """Take a reaction away."""
        with self.state.changes.lock:
            present = self.now(message)
            left = tuple(one for one in present.reactions if one != reaction)
            self.put(replace(present, reactions=left))
            self._tell_reaction("deleted", present, reaction)
        self.announce()

    def read(self, user: Person, *messages: Shown) -> None:
        """Let a person read messages of the bot in private; the bot is told."""
        now = str(self.state.clock.milliseconds())
        reader = {"reader_id": user.ids(), "read_time": now, "tenant_key": self.state.tenant_key}
        ids = [message.message_id for message in messages]
        self.state.emit("im.message.message_read_v1", {"reader": reader, "message_id_list": ids})

    def press(
        self,
        message: Shown,
        button: object,
        user: Person | None = None,
        form: dict[str, Any] | None = None,
    ) -> Press:
        """Press the button with this label or value; ``form`` is what its form holds."""
        presser = user or self.person
        if presser is None:
            raise ValueError("say who presses in a group")
        return press(self, message, button, presser, form)

    def add_bot(self, by: Person) -> None:
        """Take the bot in; it is told so."""
        self._membership(by, "added", is_member=True)

    def kick_bot(self, by: Person) -> None:
        """Throw the bot out; it is told so."""
        self._membership(by, "deleted", is_member=False)

    def dissolve(self) -> None:
        """End the group."""
        with self.state.changes.lock:
            self.dissolved = True

    def visible_to_bot(self, message: Shown) -> bool:
        """Tell whether the platform lets the bot see a person's message."""
        scopes = self.state.scopes
        if self.person is not None:
            return "im:message.p2p_msg:readonly" in scopes
        if not self.bot_is_member or self.dissolved:
            return False
        if "im:message.group_msg" in scopes:
            return True
        called = any(mention.is_bot or mention.key == ALL for mention in message.mentions)
        everyone_called = message.kind == "text" and ALL in str(message.content.get("text"))
        return "im:message.group_at_msg:readonly" in scopes and (called or everyone_called)

    def _accounts(self, author: Person | None) -> list[Account]:
        people = [*self.members, author] if author is not None else self.members
        return [self.state.bot, *people]

    def _tell(self, message: Shown) -> Any:
        sender = message.sender
        assert sender is not None
        data = message.event()
        if "im:user_agent:read" in self.state.scopes:
            data["user_agent"] = f"Mozilla/5.0 Lark/7.30.0 LarkLocale/{sender.locale} SDK/7.30.0"
        event = {
            "sender": {
                "sender_id": sender.ids(),
                "sender_type": "user",
                "tenant_key": self.state.tenant_key,
            },
            "message": data,
        }
        return self.state.emit("im.message.receive_v1", event)

    def _tell_reaction(self, what: str, message: Shown, reaction: Reaction) -> None:
        if not self.bot_is_member:
            return
        data: dict[str, Any] = {
            "message_id": message.message_id,
            "reaction_type": {"emoji_type": reaction.emoji},
            "operator_type": "app" if reaction.by is None else "user",
            "action_time": str(self.state.clock.milliseconds()),
        }
        if reaction.by is None:
            data["app_id"] = self.state.app_id
        else:
            data["user_id"] = reaction.by.ids()
        self.state.emit(f"im.message.reaction.{what}_v1", data)

    def _membership(self, by: Person, what: str, *, is_member: bool) -> None:
        with self.state.changes.lock:
            self.bot_is_member = is_member
            change = {
                "chat_id": self.chat_id,
                "operator_id": by.ids(),
                "external": False,
                "operator_tenant_key": self.state.tenant_key,
                "name": self.name,
            }
            self.state.emit(f"im.chat.member.bot.{what}_v1", change)
