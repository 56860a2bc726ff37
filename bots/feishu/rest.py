"""Calls of the open platform: one connection pool, one token, one kind of answer.

The library's own client is left aside here: it opens a new connection, with a new TLS context, for
every call, and fetches tokens with a blocking request on the caller's loop, into a cache that all
apps of a process share.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final, TypeVar

import httpx
from pydantic import SecretStr

T = TypeVar("T")

REQUEST_SECONDS: Final = 10.0
"""How long the platform may take for one call."""
CONNECT_SECONDS: Final = 5.0
UPLOAD_SECONDS: Final = 60.0
"""How long a file may take, either way."""

EARLY_SECONDS: Final = 600.0
"""A token is replaced this long before it expires."""

STALE: Final = frozenset({99991663, 99991664, 99991668})
"""Codes that say: this token is not (or no longer) valid. They come with HTTP 400 (F079)."""

NO_CODE: Final = -1
"""Code of a refusal that is not in the platform's words, such as a gateway's error page."""

_TOKEN_PATH: Final = "/open-apis/auth/v3/tenant_access_token/internal"  # noqa: S105 - a path
_ENDPOINT_PATH: Final = "/callback/ws/endpoint"


class Refusal(Exception):
    """The platform's "no": HTTP status, code and sentence; ``retry_after`` in seconds."""

    def __init__(
        self, status: int, code: int, message: str, retry_after: float | None = None
    ) -> None:
        # Behind it the platform repeats what it was given.
        said = message.partition("; ErrorValue")[0][:200]
        super().__init__(f"{code} {said}" if code != NO_CODE else f"HTTP {status}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after


class NoTokenError(Exception):
    """No token was to be had, so nothing was asked; ``__cause__`` says why."""


class Rest:
    """The calls of one app. ``clock`` returns seconds that only grow."""

    def __init__(
        self,
        app_id: str,
        secret: SecretStr,
        origin: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app_id = app_id
        self._secret = secret
        self._clock = clock
        self._http = httpx.AsyncClient(
            base_url=origin,
            timeout=httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=100, keepalive_expiry=30.0),
        )
        self._token = ""
        self._good_until = 0.0
        self._fetching = asyncio.Lock()

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Carry out one call; ``path`` comes after ``/open-apis``. Return the answer's JSON.

        A token that the platform no longer knows is replaced once. Raises Refusal, NoTokenError,
        or httpx.HTTPError.
        """

        async def ask(authorised: Mapping[str, str]) -> dict[str, Any]:
            request = self._http.build_request(
                method, f"/open-apis{path}", params=query, json=body, headers=authorised
            )
            return await self._answer(request)

        return await self._with_token(ask)

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, file: tuple[str, bytes, str]
    ) -> dict[str, Any]:
        """Upload a file (its own name, its bytes, its type) as the part ``name`` of a form.

        Returns and raises like ``call``.
        """

        async def ask(authorised: Mapping[str, str]) -> dict[str, Any]:
            request = self._http.build_request(
                "POST",
                f"/open-apis{path}",
                data=dict(fields),
                files={name: file},
                headers=authorised,
                timeout=UPLOAD_SECONDS,
            )
            return await self._answer(request)

        return await self._with_token(ask)

    async def download(self, path: str, query: Mapping[str, str], most: int) -> bytes | None:
        """Return a file of at most ``most`` bytes, None for a larger one. Raises like ``call``."""

        async def ask(authorised: Mapping[str, str]) -> bytes | None:
            request = self._http.build_request(
                "GET",
                f"/open-apis{path}",
                params=query,
                headers=authorised,
                timeout=UPLOAD_SECONDS,
            )
            response = await self._http.send(request, stream=True)
            async with aclosing(response):
                if response.status_code != 200:  # a refusal comes as JSON
                    await response.aread()
                    _checked(response)
                data = bytearray()
                async for piece in response.aiter_bytes():
                    data += piece
                    if len(data) > most:
                        return None
            return bytes(data)

        return await self._with_token(ask)

    async def _with_token(self, ask: Callable[[Mapping[str, str]], Awaitable[T]]) -> T:
        again = False
        while True:
            token = await self._valid_token()
            try:
                return await ask({"Authorization": f"Bearer {token}"})
            except Refusal as refusal:
                if again or refusal.code not in STALE:
                    raise
            again = True
            if self._token == token:
                self._token = ""

    async def endpoint(self) -> dict[str, Any]:
        """Return the address of a long connection, good for one connection: ``URL`` and more.

        Raises Refusal or httpx.HTTPError.
        """
        request = self._http.build_request(
            "POST",
            _ENDPOINT_PATH,
            json={"AppID": self._app_id, "AppSecret": self._secret.get_secret_value()},
            headers={"locale": "zh"},
        )
        data = (await self._answer(request)).get("data")
        if not isinstance(data, dict) or not isinstance(data.get("URL"), str):
            raise Refusal(200, NO_CODE, "no address")
        return data

    async def _valid_token(self) -> str:
        async with self._fetching:
            if not self._token or self._clock() >= self._good_until:
                request = self._http.build_request(
                    "POST",
                    _TOKEN_PATH,
                    json={
                        "app_id": self._app_id,
                        "app_secret": self._secret.get_secret_value(),
                    },
                )
                try:
                    answer = await self._answer(request)
                    token, seconds = answer["tenant_access_token"], float(answer["expire"])
                except (Refusal, httpx.HTTPError) as error:
                    raise NoTokenError(str(error) or type(error).__name__) from error
                except (KeyError, TypeError, ValueError) as error:
                    raise NoTokenError("the answer holds no token") from error
                self._token = str(token)
                # A token that lives shorter than that is used for half its life.
                self._good_until = self._clock() + max(seconds - EARLY_SECONDS, seconds / 2)
            return self._token

    async def _answer(self, request: httpx.Request) -> dict[str, Any]:
        return _checked(await self._http.send(request))


def _checked(response: httpx.Response) -> dict[str, Any]:
    """Return an answer's JSON. Raises Refusal for a "no", and for what is no answer."""
    try:
        answer = response.json()
        code = int(answer["code"])
    except (ValueError, KeyError, TypeError):
        raise Refusal(response.status_code, NO_CODE, "", _reset(response)) from None
    if code:
        said = str(answer.get("msg", ""))
        raise Refusal(response.status_code, code, said, _reset(response))
    found: dict[str, Any] = answer
    return found


def _reset(response: httpx.Response) -> float | None:
    """Return the seconds after which the frequency limit lets us through again."""
    try:
        return float(response.headers["x-ogw-ratelimit-reset"])
    except (KeyError, ValueError):
        return None
