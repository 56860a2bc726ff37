"""The tool by which the model starts a quiz when a learner asks for one in their own words."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.tools.registry import HandOver, Tool, ToolContext, ToolError, declare


class QuizArguments(BaseModel):
    """What the quiz is about."""

    model_config = ConfigDict(extra="ignore")

    topic: str = Field(
        max_length=200,
        description="The topic in the learner's language; empty for what was talked about here.",
    )
    questions: int = Field(default=5, ge=1, le=10, description="How many questions.")


def start_quiz() -> Tool:
    """Return the tool ``start_quiz``."""

    async def run(_: QuizArguments, __: ToolContext) -> str:
        raise ToolError("Not started: call this in a step of its own, after the other calls.")

    return declare(
        "start_quiz",
        "Starts a quiz: questions with buttons, graded and remembered, asked one after the other. "
        "Only when the learner asks to be quizzed or tested; it ends your answer.",
        QuizArguments,
        run,
        parallel_safe=False,
        ends=lambda given: HandOver("quiz", f"{' '.join(given.topic.split())} {given.questions}"),
    )
