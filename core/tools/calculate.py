"""The tool that calculates, exactly, in a process of its own that can be killed."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.tools.registry import Tool, ToolContext, ToolError, declare

LONGEST: Final = 500
"""Characters of an expression."""
SECONDS: Final = 8.0
"""A calculation takes no longer; most of it is the start of the process."""


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
        if find_spec("sympy") is None:
            raise ToolError("There is no calculator here. Work it out step by step and check it.")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "core.tools.calculator",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(SECONDS):
                out, _ = await process.communicate(arguments.expression.encode())
        except TimeoutError:
            raise ToolError("That takes too long to calculate. Try a simpler form.") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            said = json.loads(out)
        except ValueError:  # it was killed, by the system or for its memory
            raise ToolError("That is too large to calculate. Try a simpler form.") from None
        if "error" in said:
            raise ToolError(f"Not calculated: {said['error']}.")
        return str(said["value"])

    return declare(
        "calculate",
        "Exact arithmetic and algebra: numbers, fractions, equations, derivatives, integrals. Use "
        "it for every calculation that you would not do in your head.",
        CalculateArguments,
        run,
        deadline_seconds=SECONDS + 2,
    )
