"""The tool by which the model asks the learner one question, with answers to tap."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from core.tools.registry import Asking, Tool, ToolContext, ToolError, declare

LONGEST_QUESTION: Final = 1_500
LONGEST_CHOICE: Final = 60
"""Characters; what does not fit on a button belongs into the question."""
MOST_CHOICES: Final = 6

Choice = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_CHOICE)
]


class AskArguments(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(
        min_length=1,
        max_length=LONGEST_QUESTION,
        description="The question, with all the learner needs to answer it.",
    )
    choices: list[Choice] = Field(
        default_factory=list,
        max_length=MOST_CHOICES,
        description="Answers to choose from, where there are two to six; none for an open "
        "question. None of them may give the solution away by its form.",
    )

    @field_validator("choices")
    @classmethod
    def _to_choose_from(cls, choices: list[str]) -> list[str]:
        """Drop what is said twice; one answer alone is no choice."""
        distinct = list(dict.fromkeys(choices))
        return distinct if len(distinct) > 1 else []


def ask_learner() -> Tool:
    """Return the tool ``ask_learner``."""

    async def run(_: AskArguments, __: ToolContext) -> str:
        raise ToolError(
            "Not asked: ask in a step of its own, once the results of the other calls are there."
        )

    return declare(
        "ask_learner",
        "Asks the learner one question and waits for the answer, which is their next message. Use "
        "it to let them choose, or when you cannot go on without knowing something; what you only "
        "wonder about, ask in your answer.",
        AskArguments,
        run,
        parallel_safe=False,
        ends=lambda given: Asking(given.question.strip(), tuple(given.choices)),
    )
