"""Flood control of one account, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bots.limiter import MARGIN, Limiter, Rates
from tests.telegram.clockwork import Clockwork

RATES = Rates(per_chat=1.0, per_group_minute=20, overall=30)


class Line:
    """Sends of many chats through one limiter, with the moment each of them left."""

    def __init__(self, rates: Rates | None = RATES) -> None:
        self.time = Clockwork()
        self.limiter = Limiter(rates, clock=self.time.clock, sleep=self.time.sleep)
        self.left: list[tuple[str, float]] = []
        self._tasks: list[asyncio.Task[None]] = []

    def send(self, chat: str, *, group: bool = False) -> None:
        self._tasks.append(asyncio.create_task(self._send(chat, group)))

    async def _send(self, chat: str, group: bool) -> None:
        await self.limiter.wait(chat, group=group)
        self.left.append((chat, self.time.now - 1000.0))

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


@asynccontextmanager
async def line(rates: Rates | None = RATES) -> AsyncIterator[Line]:
    lane = Line(rates)
    yield lane
    lane.cancel()
    await asyncio.sleep(0)


async def test_one_chat_gets_one_message_a_second_in_order() -> None:
    async with line() as lane:
        for _ in range(3):
            lane.send("7")
        await lane.time.advance(0)
        assert lane.left == [("7", 0.0)]
        await lane.time.advance(1.0)
        assert len(lane.left) == 1, "the margin is kept"
        await lane.time.advance(10)
        assert [round(at, 6) for _, at in lane.left] == [0.0, MARGIN, round(2 * MARGIN, 6)]


async def test_a_waiting_chat_holds_no_other() -> None:
    async with line() as lane:
        for _ in range(5):
            lane.send("slow")
        lane.send("other")
        await lane.time.advance(0)
        assert lane.left == [("slow", 0.0), ("other", 0.0)]


async def test_a_group_gets_twenty_in_any_minute() -> None:
    async with line() as lane:
        for _ in range(45):
            lane.send("-5", group=True)
        await lane.time.advance(300)
        times = [at for _, at in lane.left]
        assert len(times) == 45
        assert all(late - early > 60 for early, late in zip(times, times[20:], strict=False))


async def test_all_chats_together_keep_the_overall_rate() -> None:
    async with line() as lane:
        for chat in range(70):
            lane.send(str(chat))
        await lane.time.advance(0)
        assert len(lane.left) == 30
        await lane.time.advance(1.1)
        assert len(lane.left) == 60
        await lane.time.advance(1.1)
        assert len(lane.left) == 70


async def test_a_long_wait_of_one_chat_takes_nothing_from_the_overall_rate() -> None:
    async with line(Rates(per_chat=0.1, per_group_minute=20, overall=1)) as lane:
        for _ in range(3):
            lane.send("slow")
        lane.send("a")
        lane.send("b")
        await lane.time.advance(5)
        assert [chat for chat, _ in lane.left] == ["slow", "a", "b"]


async def test_lifted_rates_let_everything_through_at_once() -> None:
    async with line(None) as lane:
        for _ in range(500):
            lane.send("7")
        await lane.time.advance(0)
        assert len(lane.left) == 500


async def test_a_pause_is_kept_by_its_chat_alone_even_when_rates_are_lifted() -> None:
    async with line(None) as lane:
        lane.limiter.pause("7", 30, group=False)
        lane.send("7")
        lane.send("8")
        await lane.time.advance(29)
        assert lane.left == [("8", 0.0)]
        await lane.time.advance(1)
        assert lane.left == [("8", 0.0), ("7", 30.0)]


async def test_a_pause_reaches_those_who_already_wait() -> None:
    async with line() as lane:
        lane.send("7")
        lane.send("7")
        await lane.time.advance(0.5)
        lane.limiter.pause("7", 30, group=False)
        await lane.time.advance(29)
        assert len(lane.left) == 1
        await lane.time.advance(2)
        assert [round(at, 6) for _, at in lane.left] == [0.0, 30.5]


async def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    async with line() as lane:
        lane.limiter.pause("7", 30, group=False)
        lane.limiter.pause("7", 1, group=False)
        lane.send("7")
        await lane.time.advance(29)
        assert lane.left == []


async def test_idle_chats_are_forgotten_and_busy_ones_are_not() -> None:
    time = Clockwork()
    limiter = Limiter(
        Rates(per_chat=1.0, per_group_minute=20, overall=10**6),
        clock=time.clock,
        sleep=time.sleep,
    )
    limiter.pause("busy", 10_000, group=False)
    for chat in range(5000):
        await limiter.wait(str(chat), group=False)
        time.now += 1
    assert len(limiter) < 1100
    blocked = asyncio.create_task(limiter.wait("busy", group=False))
    await time.advance(10)
    assert not blocked.done()
    blocked.cancel()


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3)), max_size=40),
    st.integers(1, 5),
)
def test_no_promise_is_broken_by_any_order_of_sends(
    sends: list[tuple[str, float]], overall: int
) -> None:
    async def run() -> list[tuple[str, float]]:
        rates = Rates(per_chat=2.0, per_group_minute=4, overall=overall)
        async with line(rates) as lane:
            for chat, gap in sends:
                lane.send(chat, group=chat == "c")
                await lane.time.advance(gap)
            await lane.time.advance(10_000)
            return lane.left

    left = asyncio.run(run())
    assert sorted(chat for chat, _ in left) == sorted(chat for chat, _ in sends)
    everything = [at for _, at in left]
    assert all(b - a >= 1 for a, b in zip(everything, everything[overall:], strict=False))
    for name in "abc":
        times = [at for chat, at in left if chat == name]
        assert all(b - a >= 0.5 for a, b in pairwise(times))
        if name == "c":
            assert all(b - a >= 60 for a, b in zip(times, times[4:], strict=False))


async def test_a_cancelled_wait_costs_nothing() -> None:
    async with line() as lane:
        lane.send("7")
        await lane.time.advance(0)
        impatient = asyncio.create_task(lane.limiter.wait("7", group=False))
        await lane.time.advance(0.5)
        impatient.cancel()
        lane.send("7")
        await lane.time.advance(1)
        assert [round(at, 6) for _, at in lane.left] == [0.0, MARGIN]
