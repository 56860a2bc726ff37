"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bots.feishu.receive import CHANNEL
from bots.feishu.settings import FeishuSettings
from core.channel import Channel
from core.context import AccountId
from core.environment import SettingsError
from core.i18n import Words

_PREFIX: Final = f"{CHANNEL}:"


def channel(words: Words, tuning: Mapping[str, object]) -> Channel | None:
    """The app that is set up, None without one.

    ``words`` are for the one who runs the tutor, ``tuning`` is ``[channels.feishu]``. Raises
    SettingsError.
    """
    settings = FeishuSettings.load()
    if settings.app_id is None and settings.app_secret is None:
        return None
    if settings.app_id is None or settings.app_secret is None:
        raise SettingsError(
            words(
                "FEISHU_APP_ID and FEISHU_APP_SECRET belong together. Set both, or none to leave "
                "Feishu off."
            )
        )
    from bots.feishu.adapter import RATES, FeishuChannel
    from bots.limiter import rates_from

    return FeishuChannel(
        settings.app_id,
        settings.app_secret,
        words=words,
        domain=settings.domain,
        rates=rates_from(tuning, RATES),
    )


def full_account(account: str) -> AccountId:
    """Return the full name of an account: ``feishu:OPEN_ID`` gets the app that is set up.

    An open_id means a person to one app only, so the app is a part of the account; the one who
    writes a list by hand need not know that. Every other account is returned as it is.
    """
    if not account.startswith(_PREFIX) or "/" in account:
        return AccountId(account)
    app = FeishuSettings.load().app_id
    return AccountId(f"{_PREFIX}{app}/{account.removeprefix(_PREFIX)}" if app else account)
