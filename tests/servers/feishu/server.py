"""The Feishu server: HTTP and the long connection on one side, the test's wishes on the other."""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import urlencode

from aiohttp import web

from tests.servers.base import Answer, Asked, LocalServer, Stream, json_response
from tests.servers.faults import Matcher, RecordedRequest, Rule
from tests.servers.feishu import errors, routes
from tests.servers.feishu.call import Route, json_object, read_call, readable
from tests.servers.feishu.cardkit import let_streams_end
from tests.servers.feishu.chats import Chat
from tests.servers.feishu.delivery import Ack, Delivery
from tests.servers.feishu.errors import Refusal
from tests.servers.feishu.gateway import SERVICE_ID, Connection, Gateway, handshake_refusal
from tests.servers.feishu.limits import ACK_SECONDS, LIFTED, USUAL, Clock, Frequency, Rates
from tests.servers.feishu.people import Bot, Person
from tests.servers.feishu.press import Press
from tests.servers.feishu.shown import Shown
from tests.servers.feishu.state import State

ENDPOINT = "/callback/ws/endpoint"
SOCKET = "/ws/v2"


class FeishuServer(LocalServer):
    """One app's open platform.

    Steering: ``user``, ``group``, ``topic_group`` make people and chats, which act by themselves
    (``person.say``, ``chat.press``, ``chat.react``, ``topic.say``). Refusals to order: ``refuse``,
    ``refuse_endpoint``, ``refuse_connect``; everything else that can break: ``fail``, ``drop``,
    ``hold``, ``delay``, with the interface's name (``im.v1.message.create``), ``endpoint`` for the
    address of the long connection or ``connect`` for its handshake. ``pass_time`` lets
    acknowledgements run out, redeliveries come, tokens and cards age.
    """

    def __init__(
        self,
        *,
        app_id: str | None = None,
        app_secret: str = "feishu-secret",
        bot_name: str = "Tutor",
        rates: Rates | None = USUAL,
        token_seconds: float = 7200.0,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        keep_requests: int | None = None,
        ack_seconds: float = ACK_SECONDS,
    ) -> None:
        """Make an app; its id is fresh unless given, since a client caches tokens by it.

        ``token_seconds`` must be over 600: clients take ten minutes off. ``rates`` None lifts
        every frequency limit; ``chance`` picks the connection an event goes to. ``ack_seconds``
        are more than the platform's three where the speed of this machine is not at issue.
        """
        if token_seconds <= 600:
            raise ValueError("clients never use a token that lasts ten minutes or less")
        super().__init__(keep_requests=keep_requests)
        self.clock = clock or Clock()
        gateway = Gateway(self.changes, self.clock, chance or random.Random(0), ack_seconds)
        gateway.closed = lambda: self.stopping
        identity = uuid.uuid4().hex
        self.state = State(
            self.changes,
            self.clock,
            gateway,
            app_id or f"cli_{identity[:16]}",
            app_secret,
            token_seconds,
            rates or LIFTED,
            Bot(f"ou_{identity}", bot_name),
        )
        self.wrong_domain = False
        """True: the app lives on the platform's other domain, which only the long connection
        notices (1000040351)."""
        self._people = itertools.count(1)
        self._deliverer: asyncio.Task[None] | None = None

    def start(self) -> Self:
        """Listen and begin to deliver events."""
        super().start()
        self.call(self._begin())
        return self

    async def _begin(self) -> None:
        self._deliverer = asyncio.create_task(self.state.gateway.run())

    # Steering

    @property
    def app_id(self) -> str:
        """The app's id."""
        return self.state.app_id

    @property
    def app_secret(self) -> str:
        """The app's secret."""
        return self.state.app_secret

    @property
    def bot(self) -> Bot:
        """The bot's account: its open_id and name."""
        return self.state.bot

    def user(
        self,
        name: str = "Ada",
        *,
        open_id: str | None = None,
        locale: str = "en_US",
        external: bool = False,
    ) -> Person:
        """Create a person; ``external`` ones belong to another company and have no user_id."""
        number = next(self._people)
        with self.changes.lock:
            person = Person(
                self.state,
                open_id or f"ou_{number:032x}",
                name,
                locale,
                f"on_{number:032x}",
                None if external else f"u{number}",
            )
            if person.open_id in self.state.people:
                raise ValueError(f"there is a person {person.open_id} already")
            self.state.people[person.open_id] = person
            self.state.chats[person.private.chat_id] = person.private
        return person

    def group(self, name: str = "Study group", *members: Person) -> Chat:
        """Create a group with the bot in it."""
        return self._group("group", name, members)

    def topic_group(self, name: str = "Questions", *members: Person) -> Chat:
        """Create a group where every message opens a topic, with the bot in it."""
        return self._group("topic", name, members)

    def _group(self, kind: str, name: str, members: tuple[Person, ...]) -> Chat:
        with self.changes.lock:
            chat = Chat(self.state, self.state.fresh("oc"), kind, name=name)
            chat.members += members
            self.state.chats[chat.chat_id] = chat
        return chat

    def push_event(self, event_type: str, event: dict[str, Any]) -> Delivery:
        """Deliver an event of any kind, whether the app has subscribed to it or not."""
        return self.push_raw(self.state.envelope(event_type, event))

    def push_raw(self, body: dict[str, Any]) -> Delivery:
        """Deliver any object, well formed or not."""
        return self.state.gateway.push(body)

    def redeliver(
        self,
        what: Delivery | Shown | Press,
        *,
        fresh_event: bool = False,
        fresh_frame: bool = True,
        fresh_message: bool = False,
    ) -> Delivery:
        """Deliver an event once more at once, whatever became of it.

        ``fresh_event`` gives it a new event_id around the same message, ``fresh_frame`` the frame
        a new message_id, ``fresh_message`` the message one; the platform does each at times.
        """
        delivery = what if isinstance(what, Delivery) else what.delivery
        if delivery is None:
            raise ValueError("the bot was never told of this")
        body = delivery.body
        if fresh_event:
            header = {**body["header"], "event_id": self.state.fresh("ev")}
            body = {**body, "header": header}
        if fresh_message:
            told = {**body["event"]["message"], "message_id": self.state.fresh("om")}
            body = {**body, "event": {**body["event"], "message": told}}
        message_id = None if fresh_frame else delivery.message_id
        return self.state.gateway.push(body, message_id=message_id)

    def pass_time(self, seconds: float) -> None:
        """Let time pass for everything: answers, redeliveries, tokens, cards, limits."""
        with self.changes.lock:
            self.clock.pass_time(seconds)
            let_streams_end(self.state)
        self.state.gateway.wake()

    def split_payloads(self, into: int) -> None:
        """Send every event from now on in this many frames."""
        self.state.gateway.parts = into

    def drop_connections(self, *, politely: bool = False) -> None:
        """Cut every long connection; ``politely`` with a closing frame."""
        self.call(self.state.gateway.drop(politely=politely))

    def set_pings(self, interval: float, *, silent: bool = False) -> None:
        """Ask for a ping every so many seconds, of clients that connect or ping from now on.

        ``silent`` leaves their pings unanswered, as a connection does that died unnoticed.
        """
        with self.changes.lock:
            self.state.gateway.config["PingInterval"] = interval
            self.state.gateway.silent = silent

    def invalidate_tokens(self) -> None:
        """Make every token handed out so far worthless: 99991663."""
        with self.changes.lock:
            self.state.tokens.clear()

    def revoke_scopes(self, *scopes: str) -> None:
        """Take permissions away: 99991672, or silence where they are about events."""
        with self.changes.lock:
            self.state.scopes.difference_update(scopes)

    def grant_scopes(self, *scopes: str) -> None:
        """Give permissions, such as ``im:message.group_msg``: every message of a group."""
        with self.changes.lock:
            self.state.scopes.update(scopes)

    def set_rates(self, rates: Rates | None) -> None:
        """Begin frequency control anew with these rates; None lifts it."""
        with self.changes.lock:
            self.state.rates = rates or LIFTED
            self.state.frequency = Frequency(self.clock)

    def refuse(
        self, matches: Matcher, code: int, message: str = "", *, times: int | None = 1
    ) -> Rule:
        """Answer the next matching calls with a refusal of the platform.

        99991400 is the gateway's frequency limit: HTTP 429 with the seconds to wait (1).
        """
        refusal = errors.too_frequent(1.0) if code == 99991400 else Refusal(code, message)
        headers = {**refusal.headers, "X-Tt-Logid": errors.LOG_ID}
        return self.fail(matches, refusal.status, refusal.answer, times=times, headers=headers)

    def refuse_endpoint(
        self, code: int, message: str = "system busy", *, times: int | None = 1
    ) -> Rule:
        """Refuse the address of the long connection: 1 and 1000040343 are worth another try."""
        return self.fail("endpoint", 200, {"code": code, "msg": message}, times=times)

    def refuse_connect(
        self,
        status: int,
        message: str = "refused",
        auth_code: int | None = None,
        *,
        times: int | None = 1,
    ) -> Rule:
        """Refuse the handshake: 514 with 1000040350 is one connection too many, 403 forbidden."""
        answer = handshake_refusal(status, message, auth_code)
        headers = dict(answer.headers)
        return self.fail("connect", answer.status, b"", times=times, headers=headers)

    # Reading

    @property
    def acks(self) -> list[Ack]:
        """Every acknowledgement so far, by event."""
        with self.changes.lock:
            return [ack for delivery in self.deliveries for ack in delivery.acks]

    @property
    def deliveries(self) -> list[Delivery]:
        """Every event so far, with its attempts."""
        with self.changes.lock:
            return list(self.state.gateway.deliveries)

    @property
    def connections(self) -> list[Connection]:
        """Long connections open now."""
        return self.state.gateway.connections

    async def wait_connected(self, count: int = 1, within: float = 10.0) -> None:
        """Wait until this many long connections are open."""
        await self.wait_for(lambda: len(self.connections) >= count, within, "not connected")

    def wait_connected_blocking(self, count: int = 1, within: float = 10.0) -> None:
        """Do the same, blocking the calling thread."""
        self.wait_for_blocking(lambda: len(self.connections) >= count, within, "not connected")

    async def wait_settled(
        self, what: Delivery | Shown | Press, *, within: float = 10.0
    ) -> Delivery:
        """Wait until an event was accepted or given up."""
        delivery = self._delivery(what)
        await self.wait_for(lambda: delivery.settled, within, _story(delivery))
        return delivery

    async def wait_acks(
        self, what: Delivery | Shown | Press, count: int = 1, *, within: float = 10.0
    ) -> list[Ack]:
        """Return the acknowledgements of an event once there are ``count``."""
        delivery = self._delivery(what)
        await self.wait_for(lambda: len(delivery.acks) >= count, within, _story(delivery))
        return delivery.acks

    def _delivery(self, what: Delivery | Shown | Press) -> Delivery:
        delivery = what if isinstance(what, Delivery) else what.delivery
        if delivery is None:
            raise ValueError("the bot was never told of this")
        return delivery

    # HTTP

    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        """Name the interface; ``json`` holds path, query and body, a content decoded."""
        if request.path == ENDPOINT:
            return Asked("endpoint", json_object(body))
        if request.path == SOCKET:
            return Asked("connect", dict(request.query))
        found = routes.find(request.method, request.path)
        name, path = (request.path, {}) if found is None else (found[0].name, found[1])
        return Asked(name, {**path, **request.query, **readable(json_object(body))})

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a request."""
        if record.name == "connect":
            return Stream(self.state.gateway.serve)
        if record.name == "endpoint":
            return json_response(self._endpoint(record.json))
        log = {"X-Tt-Logid": errors.LOG_ID}
        try:
            found = routes.find(request.method, request.path)
            if found is None:
                raise errors.NOT_FOUND
            call = await read_call(request, record.body, found[1])
            # No interface ever waits, so each runs whole under the lock.
            with self.changes.lock:
                self._admit(found[0], request)
                result = found[0].handler(self.state, call)
        except Refusal as refusal:
            return json_response(refusal.answer, refusal.status, {**refusal.headers, **log})
        finally:
            self.changes.announce()
        if isinstance(result, web.Response):
            return result
        return json_response(result, headers=log)

    def _endpoint(self, given: dict[str, Any]) -> dict[str, Any]:
        if self.wrong_domain:
            return {"code": 1000040351, "msg": "Incorrect domain name", "data": {}}
        if given.get("AppID") != self.app_id or given.get("AppSecret") != self.app_secret:
            return {"code": 514, "msg": "auth failed, app_id or app_secret is wrong", "data": {}}
        gateway = self.state.gateway
        device_id, ticket = gateway.new_ticket()
        query = urlencode({"device_id": device_id, "service_id": SERVICE_ID, "ticket": ticket})
        address = f"{self.url.replace('http', 'ws', 1)}{SOCKET}?{query}"
        with self.changes.lock:
            config = dict(gateway.config)
        return {"code": 0, "msg": "", "data": {"URL": address, "ClientConfig": config}}

    def _admit(self, route: Route, request: web.BaseRequest) -> None:
        state = self.state
        if route.token:
            kind, _, token = request.headers.get("Authorization", "").partition(" ")
            if kind != "Bearer" or not token:
                raise errors.NO_TOKEN
            if token.startswith("u-"):
                raise errors.USER_TOKEN
            if state.tokens.get(token, 0.0) <= self.clock.now():
                raise errors.BAD_TOKEN
        if route.scopes and not state.scopes.intersection(route.scopes):
            raise errors.no_scope(route.scopes)
        for limit, seconds in (
            (state.rates.api_per_second, 1.0),
            (state.rates.api_per_minute, 60.0),
        ):
            if wait := state.frequency.wait_of(route.name, limit, seconds):
                raise errors.too_frequent(wait)


def _story(delivery: Delivery) -> Callable[[], str]:
    return lambda: f"{delivery.event_type}: {len(delivery.attempts)} attempts, {delivery.acks}"
