"""What every server shares: life, log, waits and faults."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import web

from tests.servers.base import Answer, Asked, LocalServer, ServerError, json_response
from tests.servers.faults import RecordedRequest, Stage


class Counter(LocalServer):
    """Counts what it is asked for."""

    def __init__(self, *, keep_requests: int | None = None) -> None:
        super().__init__(keep_requests=keep_requests)
        self.done: list[str] = []

    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        return Asked(request.path.strip("/"), {})

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        if record.name == "bug":
            raise KeyError("a mistake of the server")
        with self.changes.lock:
            self.done.append(record.name)
        self.changes.announce()
        return json_response({"count": len(self.done)})


@pytest.fixture
def counter() -> Iterator[Counter]:
    with Counter() as server:
        yield server


async def get(session: aiohttp.ClientSession, server: LocalServer, name: str) -> object:
    async with session.get(f"{server.url}/{name}") as response:
        return await response.json(content_type=None) if response.status == 200 else response.status


async def test_requests_are_recorded_with_their_answers(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    assert await get(session, counter, "a") == {"count": 1}
    await counter.wait_for(lambda: counter.requests[0].ended)
    record = counter.requests[0]
    assert (record.index, record.name, record.method, record.status) == (0, "a", "GET", 200)
    assert record.answer == {"count": 1}
    assert record.ended is not None and record.ended >= record.started


async def test_a_failure_is_served_so_many_times_and_nothing_happens_meanwhile(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    rule = counter.fail("a", 503, {"error": "busy"}, times=2, headers={"Retry-After": "1"})
    assert await get(session, counter, "b") == {"count": 1}
    assert [await get(session, counter, "a") for _ in range(3)] == [503, 503, {"count": 2}]
    assert rule.used == 2
    assert counter.done == ["b", "a"]


async def test_a_standing_failure_ends_when_it_is_cancelled_or_cleared(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    rule = counter.fail(lambda request: request.name != "b", 500, times=None)
    assert [await get(session, counter, "a") for _ in range(2)] == [500, 500]
    assert await get(session, counter, "b") == {"count": 1}
    rule.cancel()
    assert await get(session, counter, "a") == {"count": 2}
    counter.fail("*", 500, times=None)
    counter.clear_faults()
    assert await get(session, counter, "a") == {"count": 3}


@pytest.mark.parametrize(("stage", "done"), [(Stage.REQUEST, []), (Stage.ANSWER, ["a"])])
async def test_a_dropped_connection_comes_before_or_after_the_deed(
    session: aiohttp.ClientSession, counter: Counter, stage: Stage, done: list[str]
) -> None:
    counter.drop("a", stage=stage)
    with pytest.raises(aiohttp.ClientError):
        await session.post(f"{counter.url}/a", data=b"x")
    assert counter.done == done
    assert counter.requests[0].status is None


@pytest.mark.parametrize(("stage", "done"), [(Stage.REQUEST, []), (Stage.ANSWER, ["a"])])
async def test_a_held_request_waits_where_it_was_told_and_goes_on_when_released(
    session: aiohttp.ClientSession, counter: Counter, stage: Stage, done: list[str]
) -> None:
    gate = counter.hold("a", stage=stage)
    call = asyncio.create_task(get(session, counter, "a"))
    record = await gate.wait_reached()
    assert (record.name, record.ended, counter.done) == ("a", None, done)
    assert await get(session, counter, "b") == {"count": len(done) + 1}
    gate.release()
    assert await call == {"count": 1 if done else 2}


async def test_a_held_request_can_be_cut(session: aiohttp.ClientSession, counter: Counter) -> None:
    gate = counter.hold("a")
    call = asyncio.create_task(session.post(f"{counter.url}/a"))
    await asyncio.to_thread(gate.wait_reached_blocking)
    gate.drop()
    gate.release()
    with pytest.raises(aiohttp.ClientError):
        await call
    assert counter.done == ["a"]


async def test_only_the_next_matching_request_is_held(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    first, second = counter.hold("a"), counter.hold("a")
    calls = [asyncio.create_task(get(session, counter, "a"))]
    await first.wait_reached()
    assert second.request is None
    calls.append(asyncio.create_task(get(session, counter, "a")))
    await second.wait_reached()
    first.release()
    second.release()
    assert await asyncio.gather(*calls) == [{"count": 1}, {"count": 2}]


async def test_a_delayed_request_is_served_in_the_end(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    counter.delay("a", 0.05)
    assert await get(session, counter, "a") == {"count": 1}
    record = counter.requests[0]
    await counter.wait_for(lambda: record.ended)
    assert record.ended is not None and record.ended - record.started >= 0.05


async def test_both_kinds_of_wait_are_woken_from_the_server(
    session: aiohttp.ClientSession, counter: Counter
) -> None:
    blocked = asyncio.create_task(
        asyncio.to_thread(counter.wait_for_blocking, lambda: counter.done == ["a", "b"])
    )
    awaited = asyncio.create_task(counter.wait_request("b"))
    await get(session, counter, "a")
    assert not awaited.done()
    await get(session, counter, "b")
    assert await blocked is True
    assert [request.name for request in await awaited] == ["b"]


async def test_a_wait_in_vain_says_what_was_waited_for(counter: Counter) -> None:
    with pytest.raises(TimeoutError, match="0 of 1 requests: a"):
        await counter.wait_request("a", within=0.01)
    with pytest.raises(TimeoutError, match="the moon"):
        counter.wait_for_blocking(lambda: False, 0.01, "the moon")


async def test_a_coroutine_runs_on_the_servers_own_thread(counter: Counter) -> None:
    async def where() -> str:
        return threading.current_thread().name

    assert counter.call(where()) == "Counter"


async def test_a_server_stopped_and_started_again_keeps_its_address(
    session: aiohttp.ClientSession,
) -> None:
    server = Counter().start()
    url = server.url
    assert await get(session, server, "a") == {"count": 1}
    server.stop()
    server.stop()
    with pytest.raises(aiohttp.ClientError):
        await session.get(f"{url}/a")
    with server:
        assert server.url == url
        assert await get(session, server, "a") == {"count": 2}


async def test_stopping_cuts_what_is_held(session: aiohttp.ClientSession) -> None:
    with Counter() as server:
        gate = server.hold("a")
        call = asyncio.create_task(session.post(f"{server.url}/a"))
        await gate.wait_reached()
        await asyncio.to_thread(server.stop)
    with pytest.raises(aiohttp.ClientError):
        await call


async def test_a_mistake_of_the_server_fails_the_test(session: aiohttp.ClientSession) -> None:
    with pytest.raises(ServerError, match="a mistake"), Counter() as server:
        assert await get(session, server, "bug") == 500


async def test_the_log_can_be_kept_short(session: aiohttp.ClientSession) -> None:
    with Counter(keep_requests=2) as server:
        for name in "abc":
            await get(session, server, name)
        assert [(request.index, request.name) for request in server.requests] == [
            (1, "b"),
            (2, "c"),
        ]
