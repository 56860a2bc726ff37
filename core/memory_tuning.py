"""The table ``[memory]`` of ``partners.toml``: when memory is consolidated, and with how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from core.tuning_values import Number, Values


class Consolidating(StrEnum):
    """Whether memory is consolidated by itself. By hand it always can be."""

    AUTO = "auto"
    """With a model of a provider; not with a small one in this process, which would need minutes
    for a request of this size, and keeps learners waiting meanwhile."""
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class MemoryTuning:
    """When memory is consolidated, and with how much."""

    consolidate: Consolidating = Consolidating.AUTO
    idle_minutes: float = 30.0
    """After the last event, if there are a few."""
    events: int = 60
    """So many events are enough, whatever the learner does."""
    nightly_hour: int = 3
    """Hour of the learner's clock from which the night's work is done: all that is left, age and
    size, and once a week one document held against its sources."""
    request_tokens: int = 8_000
    """Size of a request, estimated."""
    answer_tokens: int = 2_000
    deadline_seconds: float = 120.0
    calls_per_day: int = 60
    """Model calls for one learner within 24 hours."""


_NUMBERS: Final = MappingProxyType(
    {
        "idle_minutes": Number("idle_minutes", 1, 10_080, whole=False),
        "events": Number("events", 5, 1_000),
        "nightly_hour": Number("nightly_hour", 0, 23),
        "request_tokens": Number("request_tokens", 2_000, 200_000),
        "answer_tokens": Number("answer_tokens", 200, 32_000),
        "deadline_seconds": Number("deadline_seconds", 5, 3_600, whole=False),
        "calls_per_day": Number("calls_per_day", 1, 10_000),
    }
)
_SWITCH: Final = "consolidate"


def read_memory(values: Values, table: Mapping[str, object]) -> MemoryTuning:
    """Read the table; what is of no use costs a warning and stays as it is."""
    found: dict[str, float] = {}
    tuning = MemoryTuning()
    for key, value in table.items():
        name = f"memory.{key}"
        if key == _SWITCH:
            said = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else value
            chosen = values.choice(name, said, tuple(Consolidating), tuning.consolidate)
            tuning = replace(tuning, consolidate=Consolidating(chosen))
        elif (number := _NUMBERS.get(key)) is None:
            values.unknown(key, "memory.", (*_NUMBERS, _SWITCH))
        elif (usable := values.number(name, value, number, getattr(tuning, key))) is not None:
            found[key] = usable
    return replace(tuning, **found)  # type: ignore[arg-type]  # fields by checked name
