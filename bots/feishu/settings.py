"""The variables of this door. Loads nothing of the platform's library."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from core.i18n import N_
from core.settings import EnvSettings, Token

ORIGINS: Final = {"feishu": "https://open.feishu.cn", "lark": "https://open.larksuite.com"}
"""The two platforms. An app lives on one of them and is unknown on the other."""

_APP_ID = re.compile(r"cli_[A-Za-z0-9_]{1,40}")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def _app_id(value: str) -> str:
    if not _APP_ID.fullmatch(value):
        raise ValueError(value)
    return value


def _origin(value: str) -> str:
    """Return the origin that a name or an address stands for.

    The secret travels there, so plain http is for this machine only.
    """
    named = ORIGINS.get(value.lower())
    if named is not None:
        return named
    parts = urlsplit(value.rstrip("/"))
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    # Asking for the port raises ValueError when it is none.
    if not safe or not parts.hostname or parts.port == 0 or parts.path or parts.query:
        raise ValueError(value)
    return f"{parts.scheme}://{parts.netloc}"


class FeishuSettings(EnvSettings):
    """Which app this is. Without id and secret the door stays closed."""

    app_id: Annotated[str, AfterValidator(_app_id)] | None = Field(
        None,
        validation_alias="FEISHU_APP_ID",
        description=N_(
            "It begins with cli_: copy the App ID from “Credentials” on your app's page in the "
            "developer console."
        ),
    )
    app_secret: Token | None = Field(
        None,
        validation_alias="FEISHU_APP_SECRET",
        description=N_(
            "Copy the App Secret from “Credentials” on your app's page in the developer console."
        ),
    )
    domain: Annotated[str, AfterValidator(_origin)] = Field(
        ORIGINS["feishu"],
        validation_alias="FEISHU_DOMAIN",
        description=N_(
            "Write feishu or lark, whichever platform your app is on, or remove it for feishu."
        ),
    )
