"""The variables of this door. Loads nothing of the platform's library."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from core.i18n import N_
from core.settings import EnvSettings, WebAddress

API_BASE = "https://api.telegram.org"

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]+")


def _token(value: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(value.get_secret_value()):
        raise ValueError
    return value


def _no_braces(value: str) -> str:
    # The library fills token and method into this address as into a template.
    if "{" in value or "}" in value:
        raise ValueError
    return value


class TelegramSettings(EnvSettings):
    """Where the bot lives. Without a token the door stays closed."""

    bot_token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        None,
        validation_alias="TELEGRAM_BOT_TOKEN",
        description=N_(
            "A token is digits, a colon, letters: copy the whole line that @BotFather gave you, "
            "or send it /token to see it again."
        ),
    )
    api_base: Annotated[WebAddress, AfterValidator(_no_braces)] = Field(
        API_BASE,
        validation_alias="TELEGRAM_API_BASE",
        description=N_(
            "Write the address of a Bot API server, such as http://127.0.0.1:8081, or remove it "
            "to use Telegram's own."
        ),
    )
