"""The Discord server: HTTP and websockets on one side, the test's wishes on the other."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.servers.base import Answer, Asked, LocalServer, Stream, json_response
from tests.servers.changes import PATIENCE
from tests.servers.discord.connection import Connection
from tests.servers.discord.errors import (
    EXPIRED_FILE,
    NOT_ALLOWED,
    NOT_FOUND,
    UNAUTHORIZED,
    Refusal,
    refusal,
)
from tests.servers.discord.gateway import Gateway
from tests.servers.discord.guilds import Guild
from tests.servers.discord.intents import PRIVILEGED, Event
from tests.servers.discord.limits import LIFTED, USUAL, RateLimits, Rates, Verdict
from tests.servers.discord.people import Person
from tests.servers.discord.press import Press
from tests.servers.discord.rest.call import Call, Created, read
from tests.servers.discord.rest.routes import Route, find
from tests.servers.discord.shown import Shown
from tests.servers.discord.state import State
from tests.servers.faults import Matcher, RecordedRequest, Rule

_API = re.compile(r"/api/v(\d+)(/.*)")
_FILE = re.compile(r"/attachments/(\d+)/(\d+)/([^/]+)")
_CALL = web.RequestKey("call", Call)
_SOCKETS = {"/gateway": "gateway", "/resume": "gatewayResume"}
_VIA = {"Via": "1.1 google"}
"""Clients take a 429 without it for a ban of their address."""


class DiscordServer(LocalServer):
    """One bot's Discord: REST, gateway and downloads.

    Steering: ``user`` and ``guild`` make people and servers, which act by themselves
    (``person.say``, ``guild.channel().say``, ``chat.press``, ``chat.slash``). The gateway is
    disturbed by ``drop_connections``, ``reconnect_request``, ``invalidate`` and the rest of
    ``gateway``. Refusals to order: ``refuse``; everything else that can break: ``fail``,
    ``drop``, ``hold``, ``delay``, with the endpoint's name in ``rest/routes.py``, or
    ``gateway``, ``gatewayResume`` and ``download``.
    """

    def __init__(
        self,
        *,
        token: str = "discord-test-token",
        username: str = "tutor",
        rates: Rates | None = USUAL,
        bot_id: int = 990000000000000042,
        application_id: int = 990000000000000043,
        portal_intents: int = PRIVILEGED,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        keep_requests: int | None = None,
    ) -> None:
        """``rates`` None lifts rate limits; ``clock`` measures time, ``now`` dates messages.

        ``portal_intents`` are the privileged intents switched on in the developer portal.
        """
        super().__init__(keep_requests=keep_requests)
        user = {
            "id": str(bot_id),
            "username": username,
            "global_name": None,
            "discriminator": "0042",
            "avatar": None,
            "bot": True,
            "flags": 0,
            "public_flags": 0,
        }
        self.state = State(
            self.changes, token, user, application_id, rates or LIFTED, portal_intents, clock, now
        )
        self.state.origin = lambda: self.url
        self.state.gateway.closed = lambda: self.stopping

    @property
    def token(self) -> str:
        """The bot's token."""
        return self.state.token

    @property
    def bot_id(self) -> int:
        """The bot's id."""
        return self.state.bot_id

    @property
    def mention(self) -> str:
        """What a person types to mention the bot."""
        return f"<@{self.state.bot_id}>"

    @property
    def api_url(self) -> str:
        """What REST addresses begin with."""
        return f"{self.url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """Where a client connects first."""
        return self.url.replace("http", "ws", 1) + "/gateway"

    @property
    def gateway(self) -> Gateway:
        """The gateway, to look into and to disturb."""
        return self.state.gateway

    # Steering

    def user(
        self,
        user_id: int,
        name: str = "Ada",
        locale: str = "en-US",
        username: str | None = None,
        *,
        bot: bool = False,
    ) -> Person:
        """Create a person, or another bot; ours can write to them once they wrote or met it."""
        with self.changes.lock:
            if user_id in self.state.people:
                raise ValueError(f"there is a person {user_id} already")
            person = Person(
                self.state, user_id, name, locale, username or f"{name.lower()}{user_id}", bot
            )
            self.state.people[user_id] = person
            self.state.chats[person.private.id] = person.private
        return person

    def guild(self, name: str = "Study group", *people: Person) -> Guild:
        """Create a server with the bot and these people in it."""
        with self.changes.lock:
            guild = Guild(self.state, self.state.snowflake(), name)
            self.state.guilds[guild.id] = guild
            for person in people:
                guild.join(person)
            self.state.push(guild.created_event())
        return guild

    def push_raw(self, name: str, data: dict[str, Any]) -> Event:
        """Tell every session any event, well formed or not, whatever its intents."""
        return self.state.push(Event(name, data))

    def redeliver(self, what: Shown | Press | Event) -> Event:
        """Tell an event once more, under a new sequence number but with its old content."""
        event = what if isinstance(what, Event) else what.update
        if event is None:
            raise ValueError("the bot was never told of this")
        return self.state.push(event)

    def refuse(
        self,
        matches: Matcher,
        status: int,
        code: int,
        message: str,
        *,
        times: int | None = 1,
        **more: Any,
    ) -> Rule:
        """Answer the next matching calls with a refusal of the API.

        ``refuse("createMessage", 403, 50007, "Cannot send messages to this user")``; a 429
        names its ``retry_after`` in seconds.
        """
        answer = Refusal(status, code, message, **more).answer
        headers = dict(_VIA)
        if "retry_after" in more:
            headers["Retry-After"] = str(more["retry_after"])
        return self.fail(matches, status, answer, times=times, headers=headers)

    def set_rates(self, rates: Rates | None) -> None:
        """Begin rate limiting anew with these rates; None lifts it."""
        with self.changes.lock:
            self.state.limits = RateLimits(rates or LIFTED, self.state.clock, self.state.now)

    def drop_connections(self) -> None:
        """Cut every gateway connection without a close frame."""
        self.gateway.drop_connections()

    def reconnect_request(self) -> None:
        """Ask every client to connect again (op 7)."""
        self.gateway.reconnect_request()

    def invalidate(self, resumable: bool = False) -> None:
        """Call every session invalid (op 9); unless ``resumable`` it is gone."""
        self.gateway.invalidate(resumable)

    # Reading

    def commands(self, guild: Guild | None = None) -> list[str]:
        """Return the names of the commands registered everywhere, or in one server."""
        with self.changes.lock:
            known = self.state.commands.get(None if guild is None else guild.id, {})
            return [command.data["name"] for command in known.values()]

    async def wait_ready(self, within: float = PATIENCE) -> None:
        """Wait until a client is identified or resumed and was sent all there was."""
        await self.wait_for(lambda: self.gateway.ready, within, "no client is ready")

    def wait_ready_blocking(self, within: float = PATIENCE) -> None:
        """Do the same, blocking the calling thread."""
        self.wait_for_blocking(lambda: self.gateway.ready, within, "no client is ready")

    async def wait_confirmed(self, what: Shown | Press | Event, within: float = PATIENCE) -> None:
        """Wait until heartbeats, asked for at once, show that the event was read."""
        event = what if isinstance(what, Event) else what.update
        if event is None:
            raise ValueError("the bot was never told of this")
        self.gateway.ask_heartbeat()
        await self.wait_for(lambda: self.gateway.confirmed(event), within, "not confirmed")

    # HTTP

    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        """Name the endpoint; ``json`` holds the query, the address's parts and the body."""
        if request.path in _SOCKETS:
            return Asked(_SOCKETS[request.path], dict(request.query))
        if _FILE.fullmatch(request.path):
            return Asked("download", {})
        api = _API.fullmatch(request.path)
        route, path, _ = find(request.method, api[2]) if api else (None, {}, False)
        if route is None:
            return Asked(request.path, {})
        call = await read(request, body, path)
        request[_CALL] = call
        rest = call.body if isinstance(call.body, dict) else {"items": call.body}
        return Asked(route.name, {**call.query, **path, **(rest if call.body is not None else {})})

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a call, a download or the beginning of a websocket."""
        if request.path in _SOCKETS:
            return Stream(Connection(self.gateway, request.path).run)
        try:
            if file := _FILE.fullmatch(request.path):
                return self._download(int(file[2]), file[3], request.query.get("ex", ""))
            return self._api(request)
        except Refusal as refused:
            return json_response(refused.answer, refused.status, refused.headers)

    def _api(self, request: web.BaseRequest) -> web.Response:
        api = _API.fullmatch(request.path)
        if api is None:
            raise NOT_FOUND
        if api[1] not in ("9", "10"):
            raise refusal(50041)
        route, _, exists = find(request.method, api[2])
        if route is None:
            raise NOT_ALLOWED if exists else NOT_FOUND
        if not route.open and request.headers.get("Authorization") != f"Bot {self.token}":
            raise UNAUTHORIZED
        call = request[_CALL]
        # No endpoint ever waits, so each runs whole under the lock.
        with self.changes.lock:
            verdict = self.state.limits.take(
                route.name, route.major(call.path), bound=not route.open
            )
            if verdict.retry_after is not None:
                raise _limited(verdict)
            try:
                return self._carry_out(route, call, verdict)
            except Refusal as refused:
                return json_response(
                    refused.answer, refused.status, {**verdict.headers, **refused.headers}
                )

    def _carry_out(self, route: Route, call: Call, verdict: Verdict) -> web.Response:
        if call.broken:
            raise refusal(50109)
        result = route.endpoint(self.state, call)
        if result is None:
            return web.Response(status=204, headers=verdict.headers)
        status = 201 if isinstance(result, Created) else 200
        data = result.data if isinstance(result, Created) else result
        return json_response(data, status, verdict.headers)

    def _download(self, number: int, name: str, expiry: str) -> web.Response:
        with self.changes.lock:
            file = self.state.files.get(number)
            moment = self.state.now()
        if file is None or file.filename != name:
            raise NOT_FOUND
        try:
            ends = int(expiry, 16)
        except ValueError:
            raise EXPIRED_FILE from None
        if moment > ends:
            raise EXPIRED_FILE
        kind = file.content_type or "application/octet-stream"
        return web.Response(body=file.data, headers={"Content-Type": kind})


def _limited(verdict: Verdict) -> Refusal:
    wait = round(verdict.retry_after or 0, 3)
    headers = {**verdict.headers, **_VIA, "Retry-After": str(wait)}
    body: dict[str, Any] = {"retry_after": wait, "global": verdict.everywhere}
    refused = Refusal(429, 0, "You are being rate limited.", headers=headers, **body)
    del refused.answer["code"]
    return refused
