"""Chats as people use them: they say, edit, react, press, type commands.

What a chat shows is ``chat.messages``; what it tells the bot follows the platform's rules
(permissions, intents, archived threads). ``Chat`` itself is a DM; channels of a server and
threads are kinds of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE, Changes
from tests.servers.discord import acting, intents
from tests.servers.discord.files import Upload, stored
from tests.servers.discord.intents import Event
from tests.servers.discord.limits import CONTENT
from tests.servers.discord.mentions import Mentions, mentioned
from tests.servers.discord.permissions import USUAL, Permission
from tests.servers.discord.shown import DEFAULT, REPLY, Shown

if TYPE_CHECKING:
    from tests.servers.discord.guilds import Guild
    from tests.servers.discord.people import Person
    from tests.servers.discord.press import Press
    from tests.servers.discord.state import State

Look = Callable[[Shown], bool]


@dataclass(frozen=True, slots=True)
class Action:
    """A typing sign of the bot."""

    action: str = "typing"


class Chat:
    """A place with messages."""

    type = 1
    """The channel type."""
    guild: Guild | None = None

    def __init__(
        self,
        state: State,
        chat_id: int,
        kind: str,
        *,
        name: str = "",
        person: Person | None = None,
    ) -> None:
        self.state = state
        self.id = chat_id
        self.kind = kind
        """``dm``, ``text``, ``forum`` or ``thread``."""
        self.name = name
        self.person = person
        """Whose DM it is."""
        self.actions: list[Action] = []
        self.changes = Changes(state.changes.lock)
        self._messages: dict[int, Shown] = {}

    def __repr__(self) -> str:
        return f"Chat({self.id}, {self.kind})"

    def json(self) -> dict[str, Any]:
        """Return the Channel object."""
        last = max(self._messages, default=None)
        data: dict[str, Any] = {
            "id": str(self.id),
            "type": self.type,
            "flags": 0,
            "last_message_id": None if last is None else str(last),
        }
        if self.person is not None:
            data["recipients"] = [self.person.json()]
        return data

    # Reading

    @property
    def messages(self) -> list[Shown]:
        """What the chat shows now, oldest first; those only one person sees are among them."""
        with self.state.changes.lock:
            return [self._messages[number] for number in sorted(self._messages)]

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
            for message in self.messages:
                if message.from_bot and message.message_id > start and (not look or look(message)):
                    return message
            return None

        return seen

    def _picture(self) -> str:
        lines = [
            f"  {'bot' if message.from_bot else message.sender}: {message.text!r}"
            for message in self.messages
        ]
        return "no such message; the chat shows\n" + "\n".join(lines)

    # What people do

    def say(
        self,
        user: Person,
        text: str,
        *,
        reply_to: Shown | int | None = None,
        ping: bool = True,
        attachments: Sequence[Upload] = (),
        unlimited: bool = False,
    ) -> Shown:
        """Let a person write here; ``<@id>``, ``<@&id>`` and ``@everyone`` become mentions.

        ``ping`` False answers without notifying. ``unlimited`` allows a text that the
        platform's own apps would not have sent.
        """
        if len(text) > CONTENT and not unlimited:
            raise ValueError("an app sends at most 2000 characters; pass unlimited=True")
        return self.post(user, text, reply_to=reply_to, ping=ping, attachments=attachments)

    def post(
        self,
        user: Person,
        text: str = "",
        *,
        reply_to: Shown | int | None = None,
        ping: bool = True,
        attachments: Sequence[Upload] = (),
        kind: int | None = None,
        **fields: Any,
    ) -> Shown:
        """Let a person send any content and tell the bot, where it may know."""
        if user.blocked and self.person is user:
            raise ValueError(f"{user} has blocked the bot and must unblock it first")
        with self.state.changes.lock:
            self.enter(user)
            answered = _number(reply_to)
            message = Shown(
                chat=self,
                message_id=self.state.snowflake(),
                sender=user,
                date=self.state.now(),
                text=text,
                kind=kind if kind is not None else DEFAULT if answered is None else REPLY,
                attachments=tuple(stored(self.state, self.id, file) for file in attachments),
                reply_to=answered,
                **fields,
            )
            found = self.mentions_of(text)
            replied = self._messages.get(answered or 0)
            if replied is not None and ping:
                author = self.state.bot_id if replied.sender is None else replied.sender.id
                users = dict.fromkeys((*found.users, author))
                found = replace(found, users=tuple(users))
            return self.show(replace(message, mentions=found, pinged=found.pinged))

    def edit(self, message: Shown, text: str) -> Shown:
        """Let the author of a message rewrite it; nobody is notified again."""
        with self.state.changes.lock:
            edited = replace(
                self.now(message),
                text=text,
                mentions=self.mentions_of(text),
                edited=self.state.now(),
            )
            return self.show(edited, "MESSAGE_UPDATE")

    def remove(self, message: Shown) -> None:
        """Let a person delete a message; the bot is told its id."""
        self.take_away(message.message_id)

    def react(self, message: Shown, user: Person, emoji: str) -> None:
        """Let a person react to a message."""
        self.reacted(self.now(message), user.id, emoji, added=True)

    def press(self, message: Shown, button: str, user: Person | None = None) -> Press:
        """Press the button with this label or custom id; LookupError if it is gone or grey."""
        return acting.press(self, message, button, self._who(user))

    def select(
        self,
        message: Shown,
        values: str | Sequence[str],
        user: Person | None = None,
        *,
        menu: str | None = None,
    ) -> Press:
        """Choose options, by label or value, of a select menu; ``menu`` is its custom id."""
        chosen = [values] if isinstance(values, str) else list(values)
        return acting.select(self, message, chosen, self._who(user), menu)

    def slash(self, user: Person, name: str, options: Mapping[str, object] | None = None) -> Press:
        """Use an application command; a subcommand is named with a space before it.

        LookupError when the bot has registered no such command here, ValueError when the
        app would not have sent these options.
        """
        return acting.slash(self, user, name, options or {})

    def autocomplete(
        self,
        user: Person,
        name: str,
        focused: str,
        typed: str,
        options: Mapping[str, object] | None = None,
    ) -> Press:
        """Type into an option of a command that has suggestions; ``press.choices`` are they."""
        return acting.autocomplete(self, user, name, focused, typed, options or {})

    def submit_modal(
        self, press: Press, values: Mapping[str, str], user: Person | None = None
    ) -> Press:
        """Fill in, by custom id, and send the modal that was the answer to ``press``."""
        return acting.submit_modal(self, press, values, user or press.user)

    def _who(self, user: Person | None) -> Person:
        who = user or self.person
        if who is None:
            raise ValueError("say who it is in a server")
        return who

    # For the REST side; called under the lock

    def bot_may(self, wanted: Permission) -> bool:
        """Tell whether the bot has all of these permissions here."""
        return wanted in USUAL

    def enter(self, user: Person) -> None:
        """Make sure that a person is where they act."""

    def visible_to_bot(self, message: Shown) -> bool:
        """Tell whether the platform lets the bot see a message here."""
        return message.only_for is None

    def mentions_of(self, text: str) -> Mentions:
        """Return what a text mentions here."""
        return mentioned(text, self.state.knows, self._knows_role)

    def _knows_role(self, number: int) -> bool:
        return self.guild is not None and number in self.guild.roles

    def show(self, message: Shown, event: str = "MESSAGE_CREATE") -> Shown:
        """Show a message, or its new version in the old place, and tell the bot."""
        self._messages[message.message_id] = message
        if self.visible_to_bot(message):
            told = self.state.push(self.event_of(event, message))
            message = replace(message, update=told)
            self._messages[message.message_id] = message
        self.announce()
        return message

    def event_of(self, name: str, message: Shown) -> Event:
        """Return the event that tells of a message."""
        in_guild = self.guild is not None
        needs = intents.GUILD_MESSAGES if in_guild else intents.DIRECT_MESSAGES
        own = message.from_bot or self.state.bot_id in message.mentions.users
        return Event(name, message.json(gateway=True), needs, guarded=in_guild and not own)

    def take_away(self, message_id: int) -> None:
        """Show a message no longer and tell the bot."""
        with self.state.changes.lock:
            gone = self._messages.pop(message_id, None)
            if gone is not None and self.visible_to_bot(gone):
                data = {"id": str(message_id), **self.place()}
                needs = intents.GUILD_MESSAGES if self.guild else intents.DIRECT_MESSAGES
                self.state.push(Event("MESSAGE_DELETE", data, needs))
        self.announce()

    def reacted(self, message: Shown, user_id: int, emoji: str, *, added: bool) -> Shown:
        """Add or remove one reaction and tell the bot."""
        with self.state.changes.lock:
            before = message.reactions.get(emoji, ())
            after = tuple(number for number in before if number != user_id)
            after = (*after, user_id) if added else after
            others = {name: who for name, who in message.reactions.items() if name != emoji}
            message = replace(message, reactions={**others, **({emoji: after} if after else {})})
            self._messages[message.message_id] = message
            if before != after and self.visible_to_bot(message):
                data: dict[str, Any] = {
                    "user_id": str(user_id),
                    "message_id": str(message.message_id),
                    "emoji": {"id": None, "name": emoji},
                    "burst": False,
                    "type": 0,
                    **self.place(),
                }
                if added and self.guild is not None:
                    data["member"] = self.guild.member_json(user_id)
                needs = intents.GUILD_REACTIONS if self.guild else intents.DIRECT_REACTIONS
                name = "MESSAGE_REACTION_ADD" if added else "MESSAGE_REACTION_REMOVE"
                self.state.push(Event(name, data, needs))
        self.announce()
        return message

    def place(self) -> dict[str, Any]:
        """Return the fields by which events name this chat."""
        named = {"channel_id": str(self.id)}
        return named if self.guild is None else {**named, "guild_id": str(self.guild.id)}

    def announce(self) -> None:
        """Wake those who wait for this chat and those who wait for the server."""
        self.changes.announce()
        self.state.changes.announce()


def _number(given: Shown | int | None) -> int | None:
    return given.message_id if isinstance(given, Shown) else given


def _found(message: Shown | None) -> Shown:
    assert message is not None
    return message
