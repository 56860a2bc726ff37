"""Evidence to reason about."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from core.ids import new_id
from core.learning.evidence import Answered, Grader
from core.learning.items import Difficulty, ItemKind

MONDAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LEARNER = "01JD0000000000000000000001"


def answered(
    item: str = "a",
    *,
    day: int = 0,
    minute: int = 0,
    right: bool = True,
    **more: Any,
) -> Answered:
    """An answer given ``minute`` minutes after nine of the ``day``-th study day."""
    at = MONDAY + timedelta(days=day, minutes=minute)
    values: dict[str, Any] = {
        "id": new_id(at),
        "learner_id": LEARNER,
        "item_id": item,
        "objective": "o",
        "kind": ItemKind.FREE,
        "difficulty": Difficulty.TARGET,
        "correct": right,
        "score": 1.0 if right else 0.0,
        "hint_level": 0,
        "first_attempt": True,
        "grader": Grader.CODE,
        "confidence": 1.0,
        "study_day": date(2026, 11, 30) + timedelta(days=day),
        "at": at,
        "source": "m",
        **more,
    }
    return Answered(**values)
