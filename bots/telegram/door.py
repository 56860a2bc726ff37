"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

from collections.abc import Mapping

from bots.telegram.settings import TelegramSettings
from core.channel import Channel
from core.i18n import Words


def channel(words: Words, tuning: Mapping[str, object]) -> Channel | None:
    """The bot account that is set up, None without a token.

    ``words`` are for the one who runs the tutor, ``tuning`` is ``[channels.telegram]``. Raises
    SettingsError.
    """
    settings = TelegramSettings.load()
    if settings.bot_token is None:
        return None
    from bots.limiter import rates_from
    from bots.telegram.adapter import RATES, TelegramChannel

    return TelegramChannel(
        settings.bot_token,
        words=words,
        api_base=settings.api_base,
        rates=rates_from(tuning, RATES),
    )
