"""Everything the server knows: the bot, people, chats, files, button presses, settings.

Guarded by ``changes.lock``. Nothing here reads HTTP.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.changes import Changes
from tests.servers.telegram.chats import Chat
from tests.servers.telegram.entities import Entity
from tests.servers.telegram.limits import FloodControl, Rates
from tests.servers.telegram.press import Press
from tests.servers.telegram.updates import Update, Updates


@dataclass(slots=True)
class File:
    """Something a person sent. ``size`` may claim more than ``data`` holds."""

    file_id: str
    data: bytes
    path: str
    size: int
    linked: bool = False
    """getFile has handed out its path."""

    def json(self) -> dict[str, Any]:
        """Return the fields every file object has."""
        return {
            "file_id": self.file_id,
            "file_unique_id": f"u{self.file_id}",
            "file_size": self.size,
        }


class State:
    """One bot's world."""

    def __init__(
        self,
        changes: Changes,
        bot_user: dict[str, Any],
        rates: Rates,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self.changes = changes
        self.bot_user = bot_user
        """The bot as a User object without the fields only getMe shows."""
        self.reads_all = False
        self.private_topics = False
        self.profile: dict[tuple[str, str], str] = {}
        """(which text, language) to the text."""
        self.rich = False
        """The server is new enough for rich messages."""
        self.joins_groups = True
        self.flood = FloodControl(rates, clock)
        self.now = now
        self.updates = Updates(changes)
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, File] = {}
        self.presses: dict[str, Press] = {}
        self.commands: dict[tuple[str, str], list[dict[str, str]]] = {}
        """(scope as JSON, language code) to commands."""
        self._ids = itertools.count(1)

    def fresh_id(self) -> int:
        """Return a number used nowhere else: message ids of private chats, group ids, files."""
        return next(self._ids)

    def date(self) -> int:
        """Return the present in Unix seconds."""
        return int(self.now())

    def find_chat(self, given: str) -> Chat | None:
        """Return the chat with this id or @name that the bot may know of."""
        if given.startswith("@"):
            for chat in self.chats.values():
                if chat.username and chat.username.lower() == given[1:].lower():
                    return chat
            return None
        if not given.lstrip("-").isdigit():
            return None
        found = self.chats.get(int(given))
        # A person who never wrote is nobody to a bot.
        return None if found is not None and found.person and not found.person.started else found

    def add_file(self, name: str, data: bytes, size: int | None) -> File:
        """Keep a file a person sent."""
        number = self.fresh_id()
        file_id = f"file-{number}"
        folder, _, ending = name.partition(".")
        path = f"{folder}/file_{number}.{ending}" if ending else f"{folder}/file_{number}"
        file = File(file_id, data, path, len(data) if size is None else size)
        self.files[file_id] = file
        return file

    def push(self, kind: str, payload: dict[str, Any]) -> Update | None:
        """Queue an update of this kind for the bot."""
        return self.updates.push(kind, payload)

    def addressed(self, text: str, entities: list[Entity], reply_to_bot: bool) -> bool:
        """Tell whether privacy mode lets the bot see a group message."""
        if self.reads_all or reply_to_bot:
            return True
        own = f"@{self.bot_user['username']}".lower()
        raw = text.encode("utf-16-le", "surrogatepass")
        for entity in entities:
            begin = entity["offset"] * 2
            part = raw[begin : begin + entity["length"] * 2].decode("utf-16-le", "replace").lower()
            match entity["type"]:
                case "bot_command" if "@" not in part or part.endswith(own):
                    return True
                case "mention" if part == own:
                    return True
                case "text_mention" if entity.get("user", {}).get("id") == self.bot_user["id"]:
                    return True
        return False
