"""Refusals in the words of Discord: status, code, message, and the nested errors of a form."""

from __future__ import annotations

from typing import Any

Path = tuple[str | int, ...]
"""Where in a body something is wrong: ``("embeds", 0, "title")``."""

_KNOWN = {
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    20012: (403, "You are not authorized to perform this action on this application"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50033: (400, "Invalid Recipient(s)"),
    50041: (400, "Invalid API version"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "Thread is locked"),
}
"""JSON error codes of the reference, page "Opcodes and Status Codes", with their statuses."""


class Refusal(Exception):
    """A request the platform does not carry out."""

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        errors: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.code = code
        self.headers = headers or {}
        self.answer: dict[str, Any] = {"message": message, "code": code, **more}
        """The JSON body of the answer."""
        if errors:
            self.answer["errors"] = errors


def refusal(code: int) -> Refusal:
    """Return the refusal with this JSON error code."""
    status, message = _KNOWN[code]
    return Refusal(status, code, message)


def invalid(path: Path, code: str, message: str) -> Refusal:
    """Return the refusal of a form with one thing wrong."""
    return Refusal(400, 50035, "Invalid Form Body", nested({path: [(code, message)]}))


def nested(found: dict[Path, list[tuple[str, str]]]) -> dict[str, Any]:
    """Return the errors of a form as Discord nests them: keys and indexes, then ``_errors``."""
    tree: dict[str, Any] = {}
    for path, problems in found.items():
        place = tree
        for step in path:
            place = place.setdefault(str(step), {})
        errors = place.setdefault("_errors", [])
        errors += [{"code": code, "message": message} for code, message in problems]
    return tree


UNAUTHORIZED = Refusal(401, 0, "401: Unauthorized")
NOT_FOUND = Refusal(404, 0, "404: Not Found")
NOT_ALLOWED = Refusal(405, 0, "405: Method Not Allowed")
EXPIRED_FILE = Refusal(404, 0, "This content is no longer available.")
