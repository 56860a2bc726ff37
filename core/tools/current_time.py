"""The tool that tells the model what time it is for the learner."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from core.tools.registry import Tool, ToolContext, declare


class NoArguments(BaseModel):
    """The tool takes nothing."""

    model_config = ConfigDict(extra="ignore")


def current_time(now: Callable[[], datetime]) -> Tool:
    """Return the tool ``current_time``; ``now`` returns the present instant, with its zone."""

    async def run(_: NoArguments, context: ToolContext) -> str:
        return describe(now(), context.zone)

    return declare(
        "current_time",
        "The learner's local date, weekday, time and time zone, right now.",
        NoArguments,
        run,
    )


def describe(instant: datetime, zone: str) -> str:
    """Return an instant as the learner's clock and calendar show it, for a model.

    English day names whatever the learner's language: it is the models' lingua franca, and the
    platform's locale plays no part.
    """
    local = instant.astimezone(ZoneInfo(zone))
    day = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    offset = local.strftime("%z")
    return (
        f"{day[local.weekday()]}, {local:%Y-%m-%d}, {local:%H:%M}, "
        f"time zone {zone} (UTC{offset[:3]}:{offset[3:5]})"
    )
