"""Where the library finds the platform: it belongs to the process, and every account shares it.

The last account that leaves puts it back as it was.
"""

from __future__ import annotations

from typing import ClassVar

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route


class Addresses:
    """The addresses of one account."""

    _users: ClassVar[list[Addresses]] = []
    _before: ClassVar[tuple[str, yarl.URL]]

    def __init__(self, api_base: str, gateway_url: str) -> None:
        self._wanted = api_base, yarl.URL(gateway_url)

    def use(self) -> None:
        """Let the library find the platform there."""
        if not self._users:
            type(self)._before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        if self not in self._users:
            self._users.append(self)
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = self._wanted

    def restore(self) -> None:
        """Leave; safe to call twice."""
        if self in self._users:
            self._users.remove(self)
            left = self._users[-1]._wanted if self._users else self._before
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = left
