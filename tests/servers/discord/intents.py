"""Intents, and the events they let through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

GUILDS = 1 << 0
MEMBERS = 1 << 1
PRESENCES = 1 << 8
GUILD_MESSAGES = 1 << 9
GUILD_REACTIONS = 1 << 10
DIRECT_MESSAGES = 1 << 12
DIRECT_REACTIONS = 1 << 13
MESSAGE_CONTENT = 1 << 15

PRIVILEGED = MEMBERS | PRESENCES | MESSAGE_CONTENT
"""Must be switched on in the developer portal before a client may ask for them."""
KNOWN = ((1 << 17) - 1) | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something the gateway tells."""

    name: str
    data: dict[str, Any]
    needs: int = 0
    """Intents of which one must have been asked for; 0 for an event everybody gets."""
    guarded: bool = False
    """A message whose content is hidden from those without MESSAGE_CONTENT."""

    def payload(self, seq: int, intents: int) -> dict[str, Any]:
        """Return the dispatch for a session."""
        hide = self.guarded and not intents & MESSAGE_CONTENT
        data = blanked(self.data) if hide else self.data
        return {"op": 0, "t": self.name, "s": seq, "d": data}


def blanked(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a bot without MESSAGE_CONTENT sees it."""
    shown = {**message, "content": "", "embeds": [], "attachments": [], "components": []}
    shown.pop("poll", None)
    if isinstance(shown.get("referenced_message"), dict):
        shown["referenced_message"] = blanked(shown["referenced_message"])
    return shown
