"""Whether this door is open, by the variables set; its library is loaded only then."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

from bots.feishu.receive import CHANNEL
from bots.feishu.settings import FeishuSettings
from bots.findings import Finding
from core.channel import Channel
from core.context import AccountId
from core.environment import SettingsError, variable
from core.i18n import N_, Words

log = logging.getLogger(__name__)

GROUP = FeishuSettings
NEEDS = {"app_id": "app_id", "app_secret": "app_secret"}
"""What an account needs, as ``[[partner]]`` may name it, and the field that holds it."""
MAY_NAME = {"domain": "domain"}
"""What it may name besides."""

TITLE = "Feishu / Lark"
HOW = N_(
    "Open https://open.feishu.cn/app (Lark: https://open.larksuite.com/app), create a custom app, "
    "and add the feature Bot. Its page Credentials & Basic Info has App ID and App Secret."
)
ASKS: tuple[str, ...] = ("app_id", "app_secret", "domain")

_PREFIX: Final = f"{CHANNEL}:"


def identity(settings: FeishuSettings, words: Words) -> str | None:
    """Name the app that is set up; None without one. Raises SettingsError for half of one."""
    if settings.app_id is None and settings.app_secret is None:
        return None
    if settings.app_id is None or settings.app_secret is None:
        raise SettingsError(
            words(
                "{id} and {secret} belong together. Set both, or none to leave Feishu off.",
                id=variable(type(settings), "app_id"),
                secret=variable(type(settings), "app_secret"),
            )
        )
    return settings.app_id


def channel(settings: FeishuSettings, words: Words, tuning: Mapping[str, object]) -> Channel:
    """The app that is set up.

    ``words`` are for the one who runs the tutor, ``tuning`` is ``[channels.feishu]``.
    """
    from bots.feishu.adapter import RATES, FeishuChannel
    from bots.limiter import rates_from

    assert settings.app_id is not None
    assert settings.app_secret is not None
    answers_all = tuning.get("answer_all", False)
    if not isinstance(answers_all, bool):
        log.warning("partners.toml: answer_all must be true or false; false is used")
    return FeishuChannel(
        settings.app_id,
        settings.app_secret,
        words=words,
        domain=settings.domain,
        rates=rates_from(tuning, RATES),
        answers_all=answers_all is True,
    )


def check(
    settings: FeishuSettings, words: Words, tuning: Mapping[str, object]
) -> AsyncIterator[Finding]:
    """Ask the platform about the account that is set up, which is left as it is. Never raises."""
    from bots.feishu.check import check as run

    return run(settings, words)


def is_short(account: str) -> bool:
    """Tell whether an account is written without its app: ``feishu:OPEN_ID``."""
    return account.startswith(_PREFIX) and "/" not in account


def full_account(account: str, apps: Iterable[str]) -> AccountId:
    """Return the full name of an account: ``feishu:OPEN_ID`` gets the one app that is set up.

    An open_id means a person to one app only, so the app is a part of the account; the one who
    writes a list by hand need not know that. Every other account is returned as it is, and so is
    this one where there are several apps, or none.
    """
    known = set(apps)
    if not is_short(account) or len(known) != 1:
        return AccountId(account)
    return AccountId(f"{_PREFIX}{known.pop()}/{account.removeprefix(_PREFIX)}")
