"""Parameters of a Bot API call, whichever of the three encodings they came in."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from tests.servers.multipart import Part, parts
from tests.servers.telegram.errors import bad

_OBJECTS = frozenset(
    {
        "allowed_updates",
        "commands",
        "entities",
        "link_preview_options",
        "reply_markup",
        "reply_parameters",
        "scope",
    }
)
"""Parameters that are JSON even inside a form."""


class Parameters:
    """Typed access to the parameters of one call; refuses what has the wrong type."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw

    def has(self, name: str) -> bool:
        """Tell whether the parameter was given and is not null."""
        return self._raw.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        """Return a string parameter."""
        value = self._raw.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            return json.dumps(value) if not isinstance(value, (dict, list)) else default
        return value

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return an integer parameter; a form sends it as text."""
        value = self._raw.get(name)
        if value is None or value == "":
            return default
        try:
            if isinstance(value, (bool, float, dict, list)):
                raise ValueError
            return int(value)
        except ValueError:
            raise bad(f'invalid parameter "{name}": expected an Integer') from None

    def flag(self, name: str) -> bool:
        """Return a Boolean parameter, False when absent."""
        value = self._raw.get(name)
        return value is True or str(value).lower() in ("true", "1", "yes")

    def file(self, name: str) -> Part | None:
        """Return an uploaded file, named directly or as ``attach://…``; None for other texts."""
        value = self._raw.get(name)
        if isinstance(value, str) and value.startswith("attach://"):
            value = self._raw.get(value.removeprefix("attach://"))
        return value if isinstance(value, Part) else None

    def json(self, name: str) -> Any:
        """Return a JSON parameter decoded, None when absent or empty."""
        value = self._raw.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise bad(f"can't parse {name.replace('_', ' ')} JSON object") from None


async def decode(request: web.BaseRequest, body: bytes) -> dict[str, Any]:
    """Return the parameters of a request, query string first, as they came."""
    values: dict[str, Any] = dict(request.query)
    match request.content_type:
        case "application/json":
            try:
                given = json.loads(body or b"{}")
            except ValueError:
                given = {}
            values |= given if isinstance(given, dict) else {}
        case "application/x-www-form-urlencoded":
            values |= dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        case "multipart/form-data":
            values |= await _multipart(request, body)
    return values


def readable(values: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as a test wants to read them: numbers and JSON decoded where they can."""
    return {name: _readable(name, value) for name, value in values.items()}


def _readable(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name in _OBJECTS:
        try:
            return json.loads(value)
        except ValueError:
            return value
    is_number = name.endswith("_id") or name in ("offset", "limit", "timeout")
    return int(value) if is_number and value.lstrip("-").isdigit() else value


async def _multipart(request: web.BaseRequest, body: bytes) -> dict[str, Any]:
    return {part.name: part if part.filename else part.text for part in await parts(request, body)}
