"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from bots.findings import Finding
from bots.telegram.settings import TelegramSettings
from core.channel import Channel
from core.i18n import N_, Words

GROUP = TelegramSettings
NEEDS = {"token": "bot_token"}
"""What an account needs, as ``[[partner]]`` may name it, and the field that holds it."""
MAY_NAME = {"api_base": "api_base"}
"""What it may name besides."""

TITLE = "Telegram"
HOW = N_(
    "In Telegram open @BotFather, send /newbot, and choose a name and then a username that ends "
    "in bot. It answers with a token."
)
ASKS: tuple[str, ...] = ("bot_token",)


def identity(settings: TelegramSettings, words: Words) -> str | None:
    """Name the bot account that is set up; None without a token."""
    token = settings.bot_token
    # A bot that was given a new token is the same bot.
    return token.get_secret_value().partition(":")[0] if token else None


def channel(settings: TelegramSettings, words: Words, tuning: Mapping[str, object]) -> Channel:
    """The bot account that is set up.

    ``words`` are for the one who runs the tutor, ``tuning`` is ``[channels.telegram]``.
    """
    from bots.limiter import rates_from
    from bots.telegram.adapter import RATES, TelegramChannel

    assert settings.bot_token is not None
    return TelegramChannel(
        settings.bot_token,
        words=words,
        api_base=settings.api_base,
        rates=rates_from(tuning, RATES),
    )


def check(
    settings: TelegramSettings, words: Words, tuning: Mapping[str, object]
) -> AsyncIterator[Finding]:
    """Ask the platform about the account that is set up, which is left as it is. Never raises."""
    from bots.telegram.check import check as run

    return run(settings, words)
