"""What the tests of the loop share: a request, a tool, one turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from core.context import LearnerId
from core.events import Content, TurnEvent
from core.llm.port import ChatMessage, ChatModel
from core.loop.gates import Budget, Outcome
from core.loop.loop import run_loop
from core.tools.registry import Tool, ToolContext, declare
from tests.servers.openai import OpenAIServer

CONTEXT = ToolContext(
    learner_id=LearnerId("01JD0000000000000000000000"),
    zone="UTC",
    language="en",
    now=datetime(2026, 11, 30, tzinfo=UTC),
    conversation_id="c",
)
ASKED = (ChatMessage("system", "Teach."), ChatMessage("user", "Why?"))


class Word(BaseModel):
    word: str


async def echo(given: Word, _: ToolContext) -> str:
    return f"echo {given.word}"


ECHO = declare("echo", "Says it again.", Word, echo)


async def turn(
    model: ChatModel,
    *,
    tools: Sequence[Tool] = (ECHO,),
    budget: Budget | None = None,
    messages: Sequence[ChatMessage] = ASKED,
    events: list[TurnEvent] | None = None,
    **more: Any,
) -> Outcome:
    seen: list[TurnEvent] = [] if events is None else events
    return await run_loop(
        model=model,
        messages=messages,
        tools=tools,
        context=CONTEXT,
        budget=budget or Budget(),
        emit=seen.append,
        **more,
    )


def sent(server: OpenAIServer) -> list[dict[str, Any]]:
    return [chat.json for chat in server.chats]


def shown(events: list[TurnEvent]) -> str:
    """What a preview would show at the end."""
    pieces = [event for event in events if isinstance(event, Content)]
    last = max((piece.attempt for piece in pieces), default=0)
    return "".join(piece.text for piece in pieces if piece.attempt == last)
