"""The variables of this door. Loads nothing of the platform's library."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from core.i18n import N_
from core.settings import EnvSettings, WebAddress

API_BASE = "https://discord.com/api/v10"
GATEWAY_URL = "wss://gateway.discord.gg/"

_TOKEN = re.compile(r"[\w-]+(\.[\w-]+){2}|[\w.-]{8,}", re.ASCII)


def _token(value: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(value.get_secret_value()):
        raise ValueError
    return value


def _no_braces(value: str) -> str:
    # The library fills ids into this address as into a template.
    if "{" in value or "}" in value:
        raise ValueError
    return value


def _socket_address(value: str) -> str:
    parts = urlsplit(value)
    # Asking for the port raises ValueError when it is none.
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.port == 0:
        raise ValueError
    return value


class DiscordSettings(EnvSettings):
    """Where the bot lives. Without a token the door stays closed."""

    bot_token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        None,
        validation_alias="DISCORD_BOT_TOKEN",
        description=N_(
            "A token is letters, digits and dots in one word: open "
            "https://discord.com/developers/applications, choose your application, then Bot, "
            "Reset Token, Copy."
        ),
    )
    api_base: Annotated[WebAddress, AfterValidator(_no_braces)] = Field(
        API_BASE,
        validation_alias="DISCORD_API_BASE",
        description=N_(
            "Write the address of a Discord API, such as http://127.0.0.1:8082/api/v10, or remove "
            "it to use Discord's own."
        ),
    )
    gateway_url: Annotated[str, AfterValidator(_socket_address)] = Field(
        GATEWAY_URL,
        validation_alias="DISCORD_GATEWAY_URL",
        description=N_(
            "Write the address of a gateway, such as ws://127.0.0.1:8082/gateway, or remove it to "
            "use Discord's own."
        ),
    )
