"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

from collections.abc import Mapping

from bots.discord.settings import DiscordSettings
from core.channel import Channel
from core.i18n import Words


def channel(words: Words, tuning: Mapping[str, object]) -> Channel | None:
    """The bot account that is set up, None without a token.

    ``words`` are for the one who runs the tutor; ``tuning`` is ``[channels.discord]``, of which
    nothing is read: the platform tells its rates with each answer, and the library keeps them.
    Raises SettingsError.
    """
    settings = DiscordSettings.load()
    if settings.bot_token is None:
        return None
    from bots.discord.adapter import DiscordChannel

    return DiscordChannel(
        settings.bot_token,
        words=words,
        api_base=settings.api_base,
        gateway_url=settings.gateway_url,
    )
