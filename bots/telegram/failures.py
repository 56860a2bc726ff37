"""What a failed call means: the library's errors in the words of the ``Channel`` port.

The platform tells most reasons only as a sentence, so sentences are looked at, in one place.
"""

from __future__ import annotations

from typing import Final

from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiohttp import ClientConnectorError

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

_CLOSED: Final = (
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "user_is_blocked",
    "input_user_deactivated",
    "group chat was deactivated",
    "chat_write_forbidden",
    "chat_restricted",
    "not enough rights",
    "have no rights",
    "need administrator rights",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "topic closed",
    "topic deleted",
)
"""Parts of refusals that mean: this chat or topic is closed to us. The answer is not brought
anywhere else (F012)."""


def send_error(error: AiogramError) -> SendError:
    """Translate an error of a send or an edit.

    A request that a server may have begun to work on has an unknown outcome; only a connection
    that never came about, or an answer that refuses, is a sure "no".
    """
    reason = reason_of(error)
    match error:
        case TelegramRetryAfter():
            return Throttled(float(error.retry_after))
        case TelegramForbiddenError():
            return Unreachable(reason)
        case TelegramUnauthorizedError() | TelegramNotFound() | TelegramConflictError():
            return NotSent(reason)  # the account's trouble, not the message's: mended, it may go
        case TelegramEntityTooLarge():  # to the library a trouble of the network
            return Rejected(reason)
        case TelegramNetworkError() if isinstance(error.__cause__, ClientConnectorError):
            return NotSent(reason)
        case TelegramNetworkError() | TelegramServerError() | ClientDecodeError():
            return OutcomeUnknown(reason)
        case TelegramAPIError() if "too many requests" in reason.lower():
            return NotSent(reason)  # without saying how long to wait: as after any failure
        case TelegramAPIError() if any(part in reason.lower() for part in _CLOSED):
            return Unreachable(reason)
        case _:
            return Rejected(reason)


def fetch_error(error: AiogramError) -> FetchError:
    """Translate an error of asking for a file."""
    reason = reason_of(error)
    match error:
        case TelegramBadRequest() if "too big" in reason.lower():
            return AttachmentTooLarge(reason)
        case TelegramBadRequest() | TelegramForbiddenError() | TelegramNotFound():
            return AttachmentGone(reason)
        case _:
            return AttachmentUnreachable(reason)


def reason_of(error: AiogramError) -> str:
    """Return what went wrong in words fit for a log: no address, no payload."""
    match error:
        case TelegramNetworkError():
            return type(error.__cause__ or error).__name__
        case TelegramAPIError():
            return error.message or type(error).__name__  # the field is optional on the wire
        case _:
            return type(error).__name__


def is_entity_trouble(error: AiogramError) -> bool:
    """Tell whether the formatting was refused, so that the plain text has a chance (F007)."""
    reason = reason_of(error).lower()
    return "parse entities" in reason or "entity_" in reason or "entities_" in reason


def is_rich_trouble(error: AiogramError) -> bool:
    """Tell whether a rich message was refused as such, so that a plain one has a chance.

    The platform names no reason by which that could be told surely, so it is every refusal that
    does not speak of something else.
    """
    reason = reason_of(error).lower()
    other = (*_CLOSED, "not modified", "to edit not found", "can't be edited")
    return not any(part in reason for part in other)


def is_rich_unknown(error: AiogramError) -> bool:
    """Tell whether the server knows no rich messages.

    An older one has no such method, and finds no text in such an edit.
    """
    return isinstance(error, TelegramNotFound) or "text is empty" in reason_of(error).lower()


def is_picture_trouble(error: AiogramError) -> bool:
    """Tell whether a picture was refused as such, and may still go as a file."""
    reason = reason_of(error).lower()
    return any(part in reason for part in ("photo_", "image_process", "wrong type of the web"))


def is_unchanged(error: AiogramError) -> bool:
    """Tell whether an edit was refused because the message already reads like this."""
    return "message is not modified" in reason_of(error).lower()
