"""A request as the endpoints read it: path, query, body, files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.discord.errors import invalid
from tests.servers.discord.files import Upload
from tests.servers.discord.form import snowflake
from tests.servers.multipart import parts

_FILE = re.compile(r"files\[(\d+)\]")


@dataclass(slots=True)
class Call:
    """One request to the API."""

    path: Mapping[str, str]
    """The variable parts of its address."""
    query: Mapping[str, str]
    body: Any = None
    """The JSON body, or the ``payload_json`` of a form."""
    files: dict[int, Upload] = field(default_factory=dict)
    broken: bool = False
    """The body is not JSON."""

    @property
    def fields(self) -> dict[str, Any]:
        """The body as an object, empty when it is none."""
        return self.body if isinstance(self.body, dict) else {}

    def id(self, name: str) -> int:
        """Return an id of the address; raises Refusal when it is none."""
        number = snowflake(self.path[name])
        if number is None:
            raise invalid(
                (name,), "NUMBER_TYPE_COERCE", f'Value "{self.path[name]}" is not snowflake.'
            )
        return number

    def flag(self, name: str) -> bool:
        """Return a truth value of the query."""
        return self.query.get(name, "").lower() in ("1", "true")


@dataclass(frozen=True, slots=True)
class Created:
    """An answer with status 201."""

    data: Any


async def read(request: web.BaseRequest, body: bytes, path: Mapping[str, str]) -> Call:
    """Return a request decoded; never raises."""
    call = Call(path, dict(request.query))
    try:
        match request.content_type:
            case "application/json":
                call.body = json.loads(body) if body else None
            case "multipart/form-data":
                await _read_form(request, body, call)
    except ValueError:
        call.broken = True
    return call


async def _read_form(request: web.BaseRequest, body: bytes, call: Call) -> None:
    for part in await parts(request, body):
        numbered = _FILE.fullmatch(part.name)
        if part.name == "payload_json":
            call.body = json.loads(part.data)
        elif part.filename is not None:
            number = int(numbered[1]) if numbered else len(call.files)
            call.files[number] = Upload(part.filename, part.data, part.content_type)
