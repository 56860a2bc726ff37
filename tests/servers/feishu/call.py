"""One request to a REST interface, and how interfaces are described."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.servers.feishu.errors import Refusal, invalid, missing
from tests.servers.multipart import Part, parts

if TYPE_CHECKING:
    from tests.servers.feishu.state import State


@dataclass(slots=True)
class Call:
    """What a request brings; refuses what is missing or has the wrong type."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    """The decoded JSON body; None when there is none or it is no JSON."""
    parts: list[Part] = field(default_factory=list)
    lists: Mapping[str, list[str]] = field(default_factory=dict)
    """Query parameters that may be given several times."""

    def text(self, name: str) -> str:
        """Return a string of the body that must be there."""
        value = self.optional(name)
        if value is None:
            raise missing(name)
        return value

    def optional(self, name: str, longest: int | None = None) -> str | None:
        """Return a string of the body, None when absent or empty."""
        value = self._given(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise missing(name, "is not a string")
        if longest is not None and len(value) > longest:
            raise missing(name, f"has more than {longest} characters")
        return value

    def flag(self, name: str) -> bool:
        """Return a Boolean of the body, False when absent."""
        value = self._given(name)
        if value is not None and not isinstance(value, bool):
            raise missing(name, "is not a boolean")
        return bool(value)

    def number(self, name: str) -> int:
        """Return an integer of the body that must be there."""
        value = self._given(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise missing(name, "is required" if value is None else "is not an integer")
        return value

    def query_number(self, name: str, default: int) -> int:
        """Return an integer of the query."""
        value = self.query.get(name)
        if not value:
            return default
        if not value.isascii() or not value.isdigit():
            raise missing(name, "is not an integer")
        return int(value)

    def object(self, name: str) -> dict[str, Any]:
        """Return a string of the body that holds a JSON object; 230001 when it does not."""
        return parsed(self.text(name))

    def part(self, name: str) -> Part | None:
        """Return a part of a multipart body."""
        return next((part for part in self.parts if part.name == name), None)

    def field(self, name: str) -> str:
        """Return a multipart field's text, empty when absent."""
        part = self.part(name)
        return part.text if part is not None else ""

    def _given(self, name: str) -> Any:
        if self.body is None:
            raise missing("body", "is not valid json")
        return self.body.get(name)


def parsed(text: str) -> dict[str, Any]:
    """Return the JSON object in a ``content``; 230001 when there is none."""
    try:
        value = json.loads(text)
    except ValueError:
        raise invalid("content is not a string in json format") from None
    if not isinstance(value, dict):
        raise invalid("content is not a json object")
    return value


Handler = Callable[["State", Call], "dict[str, Any] | web.Response"]


@dataclass(frozen=True, slots=True)
class Route:
    """One interface; ``scopes`` are those of which one is needed."""

    name: str
    """As the platform's SDKs call it: ``im.v1.message.create``."""
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    scopes: tuple[str, ...] = ()
    token: bool = True
    """Whether it needs a tenant access token."""


def route(
    name: str,
    method: str,
    path: str,
    handler: Handler,
    scopes: tuple[str, ...] = (),
    *,
    token: bool = True,
) -> Route:
    """Describe an interface; ``:name`` in its path is a parameter."""
    pattern = re.compile(re.sub(r":(\w+)", r"(?P<\1>[^/]+)", f"/open-apis{path}"))
    return Route(name, method, pattern, handler, scopes, token)


def ok(data: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the body of a good answer."""
    return {"code": 0, "msg": "success", "data": {} if data is None else data}


async def read_call(request: web.BaseRequest, body: bytes, path: dict[str, str]) -> Call:
    """Decode a request; 9499 when its body is neither JSON nor multipart as it claims."""
    lists = {name: request.query.getall(name) for name in request.query}
    call = Call(path, request.query, None, lists=lists)
    if request.content_type == "multipart/form-data":
        try:
            call.parts = await parts(request, body)
        except ValueError:
            raise Refusal(9499, "Bad Request") from None
    elif request.content_type == "application/x-www-form-urlencoded":
        # No interface takes such a form: to each of them the body is missing.
        return call
    elif body:
        try:
            given = json.loads(body)
        except ValueError:
            raise Refusal(9499, "Bad Request") from None
        call.body = given if isinstance(given, dict) else None
    else:
        call.body = {}
    return call


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body, an empty one when there is none."""
    try:
        given = json.loads(body)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def readable(given: dict[str, Any]) -> dict[str, Any]:
    """Return a body as a test wants to read it: JSON inside strings decoded."""

    def decoded(name: str, value: Any) -> Any:
        if name not in ("content", "data", "settings") or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            return value

    return {name: decoded(name, value) for name, value in given.items()}
