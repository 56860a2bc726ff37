"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping

from bots.discord.settings import DiscordSettings
from bots.findings import Finding
from core.channel import Channel
from core.i18n import N_, Words

log = logging.getLogger(__name__)

GROUP = DiscordSettings
NEEDS = {"token": "bot_token"}
"""What an account needs, as ``[[partner]]`` may name it, and the field that holds it."""
MAY_NAME: dict[str, str] = {}
"""What it may name besides."""

TITLE = "Discord"
HOW = N_(
    "Open https://discord.com/developers/applications and choose New Application. On its page Bot: "
    "Reset Token, copy the token, switch on Message Content Intent, and save."
)
ASKS: tuple[str, ...] = ("bot_token",)


def identity(settings: DiscordSettings, words: Words) -> str | None:
    """Tell the bot account that is set up from others; None without a token."""
    return settings.bot_token.get_secret_value() if settings.bot_token else None


def channel(settings: DiscordSettings, words: Words, tuning: Mapping[str, object]) -> Channel:
    """The bot account that is set up.

    ``words`` are for the one who runs the tutor; ``tuning`` is ``[channels.discord]``. It knows no
    rates: the platform tells them with each answer, and the library keeps them.
    """
    from bots.discord.adapter import DiscordChannel

    assert settings.bot_token is not None
    threads = tuning.get("thread_per_question", False)
    if not isinstance(threads, bool):
        log.warning("partners.toml: thread_per_question must be true or false; false is used")
    return DiscordChannel(
        settings.bot_token,
        words=words,
        api_base=settings.api_base,
        gateway_url=settings.gateway_url,
        thread_per_question=threads is True,
    )


def check(
    settings: DiscordSettings, words: Words, tuning: Mapping[str, object]
) -> AsyncIterator[Finding]:
    """Ask the platform about the account that is set up, which is left as it is. Never raises."""
    from bots.discord.check import check as run

    return run(settings, words, threads=tuning.get("thread_per_question") is True)
