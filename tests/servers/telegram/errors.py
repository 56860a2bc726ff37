"""Refusals in the words of the Bot API."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """A request the platform does not carry out: status, description and parameters."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(f"{status} {description}")
        self.status = status
        self.description = description
        self.parameters = parameters

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        body: dict[str, Any] = {
            "ok": False,
            "error_code": self.status,
            "description": self.description,
        }
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def bad(reason: str, **parameters: int) -> Refusal:
    """Return 400 Bad Request with a reason."""
    return Refusal(400, f"Bad Request: {reason}", **parameters)


def unparsable(reason: str) -> Refusal:
    """Return the refusal of broken HTML or MarkdownV2."""
    return bad(f"can't parse entities: {reason}")


def forbidden(reason: str) -> Refusal:
    """Return 403 Forbidden with a reason."""
    return Refusal(403, f"Forbidden: {reason}")


def conflict(reason: str) -> Refusal:
    """Return 409 Conflict with a reason."""
    return Refusal(409, f"Conflict: {reason}")


def too_many(seconds: int) -> Refusal:
    """Return the flood control refusal; ``seconds`` is how long to wait."""
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


UNAUTHORIZED = Refusal(401, "Unauthorized")
NOT_FOUND = Refusal(404, "Not Found")
