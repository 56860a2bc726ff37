"""The tools that come with the house: a new one is its own file and a line here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.clock import Clock
from core.store.session import Store
from core.tools.ask_learner import ask_learner
from core.tools.calculate import calculate
from core.tools.cards_add import cards_add
from core.tools.cards_due import cards_due
from core.tools.current_time import current_time
from core.tools.memory import memory_remember, memory_search
from core.tools.registry import Tool
from core.tools.reminders import cancel_reminder, schedule_reminder
from core.tools.show_progress import show_progress
from core.tools.start_quiz import start_quiz

NAMES: Final = frozenset(
    {
        "ask_learner",
        "calculate",
        "cancel_reminder",
        "cards_add",
        "cards_due",
        "current_time",
        "memory_remember",
        "memory_search",
        "schedule_reminder",
        "show_progress",
        "start_quiz",
    }
)
"""Their names, for checking persona files where there is no house."""


def own_tools(store: Store, memory: Path, clock: Clock) -> tuple[Tool, ...]:
    """Return the tools. ``memory`` is the folder of all learners' memory."""
    return (
        ask_learner(),
        calculate(),
        cancel_reminder(store),
        cards_add(store, clock),
        cards_due(store),
        current_time(clock.now),
        memory_remember(memory, clock.now),
        memory_search(memory),
        schedule_reminder(store, clock),
        show_progress(store),
        start_quiz(),
    )
