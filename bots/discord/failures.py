"""What a failed call means: the library's errors in the words of the ``Channel`` port."""

from __future__ import annotations

from typing import Final

from aiohttp import ClientConnectorError, ClientError
from discord import DiscordException, HTTPException, RateLimited

from core.channel import (
    AttachmentGone,
    AttachmentUnreachable,
    FetchError,
    NotSent,
    OutcomeUnknown,
    Rejected,
    SendError,
    Throttled,
    Unreachable,
)

FAILURES: Final = (DiscordException, ClientError, OSError, TimeoutError, ValueError)
"""What a call of the library may raise: a refusal, a broken line, an answer that is no JSON."""

_CLOSED: Final = frozenset(
    {
        10003,  # unknown channel
        10004,  # unknown server
        10013,  # unknown user
        50001,  # missing access
        50007,  # this person takes no messages from us
        50013,  # missing permissions
        50083,  # the thread is archived, and closed to us
        50278,  # no server in common
        160005,  # the thread is locked
    }
)
"""Codes that mean: this chat is closed to us."""

_NO_TOKEN: Final = frozenset({10008, 10015, 10062, 50027})
"""Codes by which an interaction, or the message that was promised, is no more."""

_NO_HISTORY: Final = 160002
_INVALID_BODY: Final = 50035
_ARCHIVED: Final = 50083
_USUAL_PAUSE: Final = 5.0


def send_error(error: Exception) -> SendError:
    """Translate an error of a send.

    A request that the server may have begun to work on has an unknown outcome; only a connection
    that never came about, or an answer that refuses, is a sure "no".
    """
    reason = reason_of(error)
    match error:
        case RateLimited():
            return Throttled(error.retry_after)
        case HTTPException() if error.status == 429:
            return Throttled(_pause(error))
        case HTTPException() if error.status >= 500:
            return OutcomeUnknown(reason)
        case HTTPException() if error.status == 401:
            return NotSent(reason)  # the account's trouble, not the message's: mended, it may go
        case HTTPException() if error.code in _CLOSED:
            return Unreachable(reason)
        case HTTPException():
            return Rejected(reason)
        case ClientConnectorError():
            return NotSent(reason)
        case _:
            return OutcomeUnknown(reason)


def fetch_error(error: Exception) -> FetchError:
    """Translate an error of asking for a file."""
    reason = reason_of(error)
    if isinstance(error, HTTPException) and error.status in (403, 404):
        return AttachmentGone(reason)
    return AttachmentUnreachable(reason)


def edit_error(error: Exception) -> SendError:
    """Translate an error of an edit: in a sleeping thread only a new message can be said."""
    if isinstance(error, HTTPException) and error.code == _ARCHIVED:
        return Rejected(reason_of(error))
    return send_error(error)


def reason_of(error: Exception) -> str:
    """Return what went wrong in words fit for a log: no address, no payload."""
    if isinstance(error, HTTPException):
        return f"{error.status}, code {error.code}"
    return type(error).__name__


def is_interaction_over(error: Exception) -> bool:
    """Tell whether an interaction takes no answer any more (F049, F050)."""
    return isinstance(error, HTTPException) and error.code in _NO_TOKEN


def is_reference_trouble(error: Exception) -> bool:
    """Tell whether only the quoting was refused, so that the message has a chance without it."""
    if not isinstance(error, HTTPException):
        return False
    quoting = error.code == _INVALID_BODY and "message_reference" in error.text
    return quoting or error.code == _NO_HISTORY


def _pause(error: HTTPException) -> float:
    try:
        return max(0.0, float(error.response.headers.get("Retry-After", _USUAL_PAUSE)))
    except ValueError:
        return _USUAL_PAUSE
