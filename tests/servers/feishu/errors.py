"""Refusals in the words of the open platform.

Codes and sentences are those of the platform's error tables (im/v1, cardkit/v1, the generic codes).
Almost everything is HTTP 400 with a ``code`` in the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refusal(Exception):
    """A request the platform does not carry out: HTTP status, code and sentence."""

    def __init__(
        self,
        code: int,
        message: str,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.status = status
        self.headers = dict(headers or {})

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        return {
            "code": self.code,
            "msg": self.message,
            "error": {"log_id": LOG_ID, "troubleshooter": "see the open platform's documentation"},
        }


class CardRefusal(Exception):
    """A card that cannot be made, before it is known which interface refuses it."""

    def __init__(self, code: int, message: str, value: str = "", path: str = "") -> None:
        super().__init__(f"{code} {message} {value}")
        self.code = code
        self.message = message
        self.value = value
        self.path = path

    @property
    def refusal(self) -> Refusal:
        """The refusal of the message interfaces: 230099 with the card's own code inside."""
        path = f"ErrPath: {self.path}; " if self.path else ""
        value = f"ErrorValue: {self.value}; " if self.value else ""
        return Refusal(
            230099,
            f"Failed to create card content, ext=ErrCode: {self.code}; {path}"
            f"ErrMsg: {self.message}; {value}",
        )


LOG_ID = "20260101000000000000000000000000"
"""Sent with every answer; support asks for it."""


def invalid(why: str) -> Refusal:
    """Return 230001: a parameter or a content that the message interfaces do not take."""
    return Refusal(230001, f"Your request contains an invalid request parameter, ext={why}")


def missing(field: str, why: str = "is required") -> Refusal:
    """Return the gateway's own refusal, before the interface has looked at the request."""
    refusal = Refusal(99992402, "field validation failed")
    refusal.message = f"field validation failed: {field} {why}"
    return refusal


def no_scope(scopes: tuple[str, ...]) -> Refusal:
    """Return 99991672, naming the scopes of which one is needed."""
    return Refusal(
        99991672,
        "Access denied. One of the following scopes is required: "
        f"[{', '.join(scopes)}].应用尚未开通所需的应用身份权限",
    )


def too_frequent(seconds: float) -> Refusal:
    """Return the gateway's frequency limit; ``seconds`` until it is free again."""
    reset = str(max(1, round(seconds)))
    headers = {"x-ogw-ratelimit-limit": "50", "x-ogw-ratelimit-reset": reset}
    return Refusal(99991400, "request trigger frequency limit", 429, headers)


NO_TOKEN = Refusal(
    99991661, "Missing access token for authorization. Please make a request with token attached."
)
BAD_TOKEN = Refusal(
    99991663, "Invalid access token for authorization. Please make a test attempt with a new token."
)
USER_TOKEN = Refusal(99991668, "Invalid access token for authorization. 用户凭证无效")
NOT_FOUND = Refusal(404, "404 page not found", 404)

BOT_OUTSIDE = Refusal(230002, "The bot can not be outside the group.")
NO_BOT_ABILITY = Refusal(230006, "Bot ability is not activated.")
RECALLED = Refusal(230011, "The message is recalled.")
NO_AVAILABILITY = Refusal(230013, "Bot has NO availability to this user.")
NOT_RESOURCE_OWNER = Refusal(230017, "Bot is NOT the owner of the resource.")
CHAT_FREQUENCY = Refusal(230020, "This operation triggers the frequency limit.")
TOO_LONG = Refusal(230025, "The length of the message content reaches its limit.")
TOO_OLD = Refusal(230031, "Message can only be modified within 14 days after sending.")
BAD_RECEIVER = Refusal(230034, "The receive_id is invalid.")
STOPPED_BY_USER = Refusal(230053, "The user has stopped the bot from sending messages.")
WRONG_KIND = Refusal(230054, "This operation is not supported for this message type.")
WRONG_FILE_KIND = Refusal(
    230055, "The type of file upload does not match the type of message being sent."
)
NOT_SENDER = Refusal(230071, "The operator is not the sender of the message.")
EDITED_OUT = Refusal(230072, "The message has reached the number of times it can be edited.")
DISSOLVED = Refusal(232009, "Your request specifies a chat which has already been dissolved.")
