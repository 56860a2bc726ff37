"""What may be spent in a day: kept, said clearly when it is gone, there again at midnight."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import select

from core.limits import Limits, Scope, Spent, reached
from core.loop.gates import Budget, Price
from core.store.tables import Turn
from tests.house.desk import Desk
from tests.house.test_attachments import MakeDesk, make_desk
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply

__all__ = ["make_desk"]

PRICES = (Price("scripted", 10, 20),)
STATUS: dict[str, Any] = {"content": {"kind": "command", "name": "status"}}


def costing(tokens: int) -> Reply:
    return Reply("Go on.", prompt_tokens=tokens - 20, completion_tokens=20)


NUMBERS = st.integers(0, 100)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_nothing_is_reached_without_a_limit(a: int, b: int, c: int, d: int) -> None:
    assert reached(Limits(), Spent(a, b), Spent(c, d)) is None


@pytest.mark.parametrize(
    ("limits", "learner", "total", "scope"),
    [
        (Limits(learner_tokens_per_day=10), Spent(9, 0), Spent(99, 0), None),
        (Limits(learner_tokens_per_day=10), Spent(10, 0), Spent(99, 0), Scope.LEARNER),
        (Limits(learner_cost_per_day=0.5), Spent(9, 0.5), Spent(9, 1), Scope.LEARNER),
        (Limits(total_tokens_per_day=10), Spent(1, 0), Spent(10, 0), Scope.TOTAL),
        (Limits(total_cost_per_day=1), Spent(1, 0), Spent(10, 1), Scope.TOTAL),
        (Limits(1, 0, 1, 0), Spent(1, 0), Spent(1, 0), Scope.TOTAL),
    ],
)
def test_a_limit_is_reached_when_it_is_spent(
    limits: Limits, learner: Spent, total: Spent, scope: Scope | None
) -> None:
    assert reached(limits, learner, total) is scope


async def test_a_learner_who_has_used_the_day_up_hears_when_it_starts_again(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=1_000))
    openai.default = costing(600)
    assert await desk.ask("One?") == "Go on."
    assert await desk.ask("Two?") == "Go on."
    file = desk.put(b"x", "x.txt")
    spent = await desk.ask("Three?", file)
    assert spent == (
        "That was all I may answer you today. I answer again tomorrow at 00:00; cards and reviews "
        "still work."
    )
    assert len(desk.prompts) == 2
    assert desk.desk.fetched == []
    assert await desk.ask("Me?", who="Bob") == "Go on."


async def test_a_question_that_was_too_much_can_be_asked_again_the_next_day(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=500))
    openai.default = costing(600)
    await desk.ask("One?")
    message = await desk.hand("Two?")
    await desk.quiet()
    [[button]] = desk.desk.said[-1].buttons
    assert button.action == f"again:{message.message_id}"
    press = {"kind": "press", "action": button.action, "origin": "out-2"}
    assert (await desk.ask("", content=press)).startswith("That was all")
    desk.clock.advance(hours=15)
    assert await desk.ask("", content=press) == "Go on."
    assert desk.prompts[-1].json["messages"][-1]["content"] == "Two?"


async def test_the_day_is_the_houses_own(make_desk: MakeDesk, openai: OpenAIServer) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=500))
    openai.default = costing(600)
    await desk.ask("One?")
    zone = {"kind": "command", "name": "timezone", "arguments": "Pacific/Auckland"}
    await desk.ask("", content=zone)
    assert "I answer again tomorrow at 12:00" in (await desk.ask("Two?")).replace("pm", "")
    desk.clock.advance(hours=13, minutes=59)
    assert (await desk.ask("Three?")).startswith("That was all")
    desk.clock.advance(minutes=1)
    assert await desk.ask("Four?") == "Go on."


async def test_money_is_counted_where_a_price_is_known(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_cost_per_day=0.01), budget=Budget(prices=PRICES))
    openai.default = Reply("Go on.", prompt_tokens=1_000, completion_tokens=50)
    assert await desk.ask("One?") == "Go on."
    assert (await desk.ask("Two?")).startswith("That was all I may answer you today.")
    [first, second] = await desk.read(lambda s: s.exec(select(Turn).order_by(Turn.id)).all())
    assert first.model == "scripted"
    assert first.cost == pytest.approx(0.011)
    assert (second.model, second.cost, second.reason) == (None, None, "limit")


async def test_a_model_that_stands_in_is_paid_at_its_own_price(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    prices = (*PRICES, Price("spare", 1, 2))
    desk = await make_desk(fallback="spare", budget=Budget(prices=prices))
    openai.script(Reply.failing(401, "no"))
    openai.default = Reply("Go on.", prompt_tokens=1_000, completion_tokens=50)
    assert await desk.ask("One?") == "Go on."
    assert [chat.json["model"] for chat in desk.prompts] == ["scripted", "spare"]
    [turn] = await desk.read(lambda s: s.exec(select(Turn)).all())
    assert turn.model == "spare"
    assert turn.cost == pytest.approx(0.0011)
    assert "spare answers in its place" in desk.log


async def test_an_answer_that_is_stopped_is_counted_as_well(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=100), budget=Budget(prices=PRICES))
    gate = Gate()
    openai.script(Reply.hanging(gate, "word " * 400, after=1, chunks=2))
    await desk.hand("One?")
    await gate.wait_reached()
    await desk.hand("/stop", content={"kind": "command", "name": "stop"})
    await desk.quiet()
    stopped = await desk.read(
        lambda s: s.exec(select(Turn).where(Turn.reason == "cancelled")).one()
    )
    assert stopped.prompt_tokens > 100
    assert stopped.completion_tokens >= 200
    assert stopped.model == "scripted"
    assert stopped.cost and stopped.cost > 0.004
    assert (await desk.ask("Two?")).startswith("That was all")


async def test_what_a_provider_does_not_count_is_estimated(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=200))
    openai.unsupported = {"stream_options"}
    assert await desk.ask("One?") == "Go on."
    assert (await desk.ask("Two?")).startswith("That was all")


async def test_a_call_that_was_refused_costs_nothing(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(learner_tokens_per_day=100))
    openai.script(Reply.failing(400, "no"))
    await desk.ask("One?")
    assert await desk.ask("Two?") == "Go on."


async def _owner(desk: Desk, who: str = "Olga") -> None:
    await desk.ask("/status", who=who, **STATUS)


async def test_when_everybodys_share_is_gone_the_owners_hear_once_a_day(
    make_desk: MakeDesk, openai: OpenAIServer
) -> None:
    desk = await make_desk(limits=Limits(total_tokens_per_day=1_000), owners=["desk:olga"])
    openai.default = costing(600)
    await _owner(desk)
    for _ in range(2):
        await desk.ask("One?")
    before = len(desk.desk.said)
    for who in ("Ada", "Bob"):
        await desk.hand("Three?", who=who)
        await desk.quiet()
    said = [document.markdown for document in desk.desk.said[before:]]
    assert sum(one.startswith("That was all I may answer today: every") for one in said) == 2
    told = [one for one in said if one.startswith("Today's limit for everybody together")]
    assert told == [
        "Today's limit for everybody together is reached, so I answer no more questions before "
        "00:00 (Europe/Berlin). The limits are under [limits] in partners.toml."
    ]


async def test_status_shows_what_was_used_today(make_desk: MakeDesk, openai: OpenAIServer) -> None:
    desk = await make_desk(
        limits=Limits(learner_tokens_per_day=5_000, learner_cost_per_day=1),
        budget=Budget(prices=PRICES),
        owners=["desk:olga"],
    )
    openai.default = costing(1_200)
    await desk.ask("One?")
    report = await desk.ask("", **STATUS)
    assert "Used today: 1,200 of 5,000 tokens." in report
    assert "Spent today: 0.012 of 1." in report
    assert "Everybody" not in report
    assert "Used today: 0 of 5,000 tokens." in await desk.ask("", who="Olga", **STATUS)
    assert "Everybody together today: 1,200 tokens, 0.012 spent." in (
        await desk.ask("", who="Olga", **STATUS)
    )
