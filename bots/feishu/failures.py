"""What a failed call means: the platform's codes in the words of the ``Channel`` port."""

from __future__ import annotations

from typing import Final

import httpx

from bots.feishu.rest import NO_CODE, STALE, NoTokenError, Refusal
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    FetchError,
    NotSent,
    OutcomeUnknown,
    Rejected,
    SendError,
    Throttled,
    Unreachable,
)
from core.i18n import Words

CallError = Refusal | NoTokenError | httpx.HTTPError
CALL_ERRORS: Final = (Refusal, NoTokenError, httpx.HTTPError)
"""Everything a call raises."""

RECALLED: Final = 230011
"""The message answered, or edited, was taken back."""

WRONG_PLATFORM: Final = 1000040351
"""The app is on the other of the two platforms; only the long connection's address tells."""
WRONG_SECRET: Final = frozenset({514, 1000040344})
"""The long connection's words for id and secret that do not belong together."""
NO_BOT: Final = frozenset({11205, 230006})
"""The app has no bot, or it is switched off."""

_FREQUENCY: Final = frozenset({99991400, 99991402, 11020, 11021, 230020})
_ACCOUNT: Final = STALE | NO_BOT | {99991661, 99991672}
"""The app's trouble, not the message's (token, permission, bot switched off): mended, it may go."""
_CLOSED: Final = frozenset(
    {
        230002,  # the bot is not in the chat
        RECALLED,
        230013,  # the person is outside of the app's availability
        230034,  # no such receiver
        230053,  # the person has stopped the bot
        232009,  # the group was dissolved
    }
)
_NO_SCOPE: Final = 99991672
_TOO_LARGE: Final = 234037
_NO_PICTURE: Final = frozenset({234006, 234011, 234039})
"""Too large, not a format the platform knows, more pixels than it takes."""
_UNDER_WAY: Final = 230049
"""The message with this uuid is being sent just now."""
_CARD: Final = frozenset({230099, 230001, 230025})
_LOCKED: Final = "action is lock"
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_DEFAULT_PAUSE: Final = 1.0


def send_error(error: CallError) -> SendError:
    """Translate an error of a send or an edit.

    A request that a server may have begun to work on has an unknown outcome; only a connection
    that never came about, or an answer that refuses, is a sure "no".
    """
    reason = reason_of(error)
    match error:
        case NoTokenError():
            return NotSent(reason)
        case httpx.HTTPError():
            return NotSent(reason) if isinstance(error, _NEVER_SENT) else OutcomeUnknown(reason)
        case Refusal() if error.code in _FREQUENCY or error.status == 429:
            return Throttled(error.retry_after or _DEFAULT_PAUSE)
        case Refusal() if error.code in _ACCOUNT:
            return NotSent(reason)
        case Refusal() if error.code in _CLOSED:
            return Unreachable(reason)
        case Refusal() if error.code in (NO_CODE, _UNDER_WAY) or error.status >= 500:
            return OutcomeUnknown(reason)
        case _:
            return Rejected(reason)


def fetch_error(error: CallError) -> FetchError:
    """Translate an error of asking for a file."""
    reason = reason_of(error)
    if isinstance(error, Refusal) and error.code == _TOO_LARGE:
        return AttachmentTooLarge(reason)
    told = send_error(error)
    later = isinstance(told, NotSent | OutcomeUnknown)
    return AttachmentUnreachable(reason) if later else AttachmentGone(reason)


def is_no_picture(error: CallError) -> bool:
    """Tell whether a picture was refused as such, and may still go as a file."""
    return isinstance(error, Refusal) and error.code in _NO_PICTURE


def is_missing_scope(error: CallError) -> bool:
    """Tell whether the app may not use this interface at all."""
    return isinstance(error, Refusal) and error.code == _NO_SCOPE


def reason_of(error: CallError) -> str:
    """Return what went wrong in words fit for a log: no address, no payload."""
    return type(error).__name__ if isinstance(error, httpx.HTTPError) else str(error)


def is_card_trouble(error: CallError) -> bool:
    """Tell whether a card was refused for what it is, so that plain text has a chance (F072)."""
    return isinstance(error, Refusal) and error.code in _CARD


def is_locked(error: CallError) -> bool:
    """Tell whether a card cannot be changed just now: a press on it is still being answered."""
    return isinstance(error, Refusal) and _LOCKED in error.message


def is_final(refusal: Refusal) -> bool:
    """Tell whether the platform said no in its own words, and not just "later"."""
    return (
        refusal.code not in _FREQUENCY | {NO_CODE}
        and refusal.status < 500
        and refusal.status != 429
    )


def wrong_secret(words: Words) -> str:
    """Return what to do when the platform does not accept the app's id and secret."""
    return words(
        "Feishu does not accept FEISHU_APP_ID with FEISHU_APP_SECRET. Copy both from “Credentials” "
        "on your app's page in the developer console, and set FEISHU_DOMAIN=lark for an app of "
        "Lark."
    )
