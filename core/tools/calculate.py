"""The tool that calculates, exactly, in a process of its own that can be killed."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.tools.algebra import SECONDS, NoCalculator, NotCalculated, TooLarge, TooLong, ask
from core.tools.registry import Tool, ToolContext, ToolError, declare

LONGEST: Final = 500
"""Characters of an expression."""


class CalculateArguments(BaseModel):
    """What to calculate."""

    model_config = ConfigDict(extra="ignore")

    expression: str = Field(
        min_length=1,
        max_length=LONGEST,
        description=(
            "For example 3/4 + 1/6, solve(x**2 - 2 = 0, x), diff(sin(x)*x, x), "
            "integrate(x**2, (x, 0, 1)), N(sqrt(2), 30), binomial(10, 3)."
        ),
    )


def calculate() -> Tool:
    """Return the tool ``calculate``. Read-only."""

    async def run(arguments: CalculateArguments, context: ToolContext) -> str:
        try:
            return str(await ask({"value_of": arguments.expression}))
        except NoCalculator:
            raise ToolError(
                "There is no calculator here. Work it out step by step and check it."
            ) from None
        except TooLong:
            raise ToolError("That takes too long to calculate. Try a simpler form.") from None
        except TooLarge:
            raise ToolError("That is too large to calculate. Try a simpler form.") from None
        except NotCalculated as error:
            raise ToolError(f"Not calculated: {error}.") from None

    return declare(
        "calculate",
        "Exact arithmetic and algebra: numbers, fractions, equations, derivatives, integrals. Use "
        "it for every calculation that you would not do in your head.",
        CalculateArguments,
        run,
        deadline_seconds=SECONDS + 2,
    )
