"""The calculator from outside: a process for one request, killed when it takes too long."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

SECONDS: Final = 8.0
"""A calculation takes no longer; most of it is the start of the process."""


class NotCalculated(Exception):
    """No result; the text says why, to a model."""


class NoCalculator(NotCalculated):
    """The algebra library is not installed."""


class TooLong(NotCalculated):
    """It was ended after ``SECONDS``."""


class TooLarge(NotCalculated):
    """It ended without a word: killed by the system, or for its memory."""


async def ask(request: Mapping[str, object]) -> object:
    """Return what a request to ``core.tools.calculator`` comes to. Raises NotCalculated."""
    if find_spec("sympy") is None:
        raise NoCalculator("there is no calculator")
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
            out, _ = await process.communicate(json.dumps(request).encode())
    except TimeoutError:
        raise TooLong("it takes too long") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        said = json.loads(out)
    except ValueError:
        raise TooLarge("it is too large") from None
    if "error" in said:
        raise NotCalculated(said["error"])
    value: object = said["value"]
    return value


async def equivalent(one: str, other: str) -> bool | None:
    """Tell whether two expressions say the same; None when that cannot be found out."""
    try:
        found = await ask({"equivalent": [one, other]})
    except NotCalculated:
        return None
    return found if isinstance(found, bool) else None
