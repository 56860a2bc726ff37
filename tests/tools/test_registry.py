"""Tools are offered by name, checked before they run, and cannot hurt the turn."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel, Field

from core.context import LearnerId
from core.tools.current_time import NoArguments, current_time, describe
from core.tools.registry import (
    MOST_KEPT,
    Tool,
    ToolContext,
    ToolError,
    ToolRegistry,
    declare,
    run_tool,
)

CONTEXT = ToolContext(
    learner_id=LearnerId("01JD0000000000000000000000"),
    zone="Asia/Shanghai",
    language="zh",
    now=datetime(2026, 11, 30, 17, 5, tzinfo=UTC),
    conversation_id="c",
)


class Word(BaseModel):
    word: str = Field(min_length=2)


def tool(behaviour: str = "", name: str = "repeat", deadline: float = 5.0) -> Tool:
    async def run(given: Word, context: ToolContext) -> str:
        if behaviour == "hang":
            await asyncio.Event().wait()
        if behaviour == "refuse":
            raise ToolError("There is no such word. Try another.")
        if behaviour == "break":
            raise ZeroDivisionError("secret path /home/x")
        return given.word * (300_000 if behaviour == "flood" else 1)

    return declare(name, "Say it again.", Word, run, deadline_seconds=deadline)


def test_only_named_tools_are_offered_and_none_named_means_none() -> None:
    registry = ToolRegistry([tool(name="a"), tool(name="b")])
    assert registry.select([], private=True) == ()
    assert [t.spec.name for t in registry.select(["b", "unknown"], private=True)] == ["b"]
    assert registry.names == ("a", "b")


def test_a_private_tool_is_not_offered_where_others_read_along() -> None:
    async def run(_: Word, __: ToolContext) -> str:
        return ""

    registry = ToolRegistry([tool(name="a"), declare("b", "", Word, run, private=True)])
    assert [t.spec.name for t in registry.select(["a", "b"], private=False)] == ["a"]
    assert [t.spec.name for t in registry.select(["a", "b"], private=True)] == ["a", "b"]


def test_a_name_cannot_be_taken_twice() -> None:
    registry = ToolRegistry([tool()])
    with pytest.raises(ValueError, match="repeat"):
        registry.register(tool())


async def test_a_tool_answers() -> None:
    result = await run_tool(tool(), Word(word="echo"), CONTEXT, seconds=5)
    assert (result.text, result.ok) == ("echo", True)


@pytest.mark.parametrize(("deadline", "seconds"), [(0.01, 5.0), (5.0, 0.01), (5.0, -1.0)])
async def test_a_tool_that_hangs_is_stopped(deadline: float, seconds: float) -> None:
    hanging = tool("hang", deadline=deadline)
    result = await run_tool(hanging, Word(word="echo"), CONTEXT, seconds=seconds)
    assert not result.ok
    assert "too long" in result.text


async def test_a_refusal_reaches_the_model_and_a_crash_does_not_leak() -> None:
    refused = await run_tool(tool("refuse"), Word(word="echo"), CONTEXT, seconds=5)
    broken = await run_tool(tool("break"), Word(word="echo"), CONTEXT, seconds=5)
    assert "Try another" in refused.text
    assert not refused.ok and not broken.ok
    assert "secret" not in broken.text


async def test_a_flood_is_cut_and_the_cut_is_named() -> None:
    result = await run_tool(tool("flood"), Word(word="echo"), CONTEXT, seconds=5)
    assert len(result.text) == MOST_KEPT
    assert "1200000 characters" in result.text


async def test_the_current_time_is_the_learners() -> None:
    result = await run_tool(current_time(lambda: CONTEXT.now), NoArguments(), CONTEXT, seconds=5)
    assert result.text == "Tuesday, 2026-12-01, 01:05, time zone Asia/Shanghai (UTC+08:00)"


def test_a_zone_west_of_greenwich_keeps_its_sign() -> None:
    summer = datetime(2026, 7, 1, 1, 0, tzinfo=UTC)
    assert describe(summer, "America/St_Johns").endswith(
        "22:30, time zone America/St_Johns (UTC-02:30)"
    )
