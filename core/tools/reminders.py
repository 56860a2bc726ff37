"""The tools that keep a reminder and take one back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Session

from core.clock import Clock
from core.scheduling.reminders import LONGEST, Refused, cancel, remind, waiting
from core.store.session import Store
from core.store.tables import Learner, Reminder
from core.tools.current_time import describe
from core.tools.registry import Tool, ToolContext, ToolError, declare

_REFUSALS: Final = {
    Refused.PAST: "That time is past.",
    Refused.TOO_FAR: "That is more than two years ahead.",
    Refused.TOO_MANY: "There are too many reminders already; one has to be taken back first.",
    Refused.NOWHERE: "The learner has no private chat with the tutor to be reminded in.",
}


class ScheduleArguments(BaseModel):
    """What to remind of, and when."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(
        min_length=1,
        max_length=LONGEST,
        description="What to say then, in the learner's words and language.",
    )
    at: datetime = Field(
        description="The time on the learner's own clock, such as 2026-12-24T18:00, without a zone."
    )


class CancelArguments(BaseModel):
    """Which reminder to take back."""

    model_config = ConfigDict(extra="ignore")

    reminder: str = Field(
        default="", description="Its id in brackets; leave it out to be told all that wait."
    )


def schedule_reminder(store: Store, clock: Clock) -> Tool:
    """Return the tool ``schedule_reminder``, the receipt for every promise to remind. Private."""

    async def run(arguments: ScheduleArguments, context: ToolContext) -> str:
        now = clock.now()
        at = arguments.at
        # A model that names an offset means that instant; on the learner's clock it reads so:
        wall = at.astimezone(ZoneInfo(context.zone)).replace(tzinfo=None) if at.tzinfo else at

        def save(session: Session) -> str | Refused:
            learner = session.get_one(Learner, context.learner_id)
            kept = remind(session, learner, arguments.text, wall, now)
            return kept if isinstance(kept, Refused) else _line(kept, context.zone)

        kept = await store.write(save)
        if isinstance(kept, Refused):
            clock_shows = describe(now, context.zone)
            raise ToolError(f"Not kept: {_REFUSALS[kept]} The learner's clock shows {clock_shows}.")
        return f"Kept. {kept}"

    return declare(
        "schedule_reminder",
        "Writes to the learner at a time they asked for. Say that you will remind them only when "
        "this tool said “Kept”, and name the time.",
        ScheduleArguments,
        run,
        parallel_safe=False,
        private=True,
    )


def cancel_reminder(store: Store) -> Tool:
    """Return the tool ``cancel_reminder``, which also tells what waits. Private."""

    async def run(arguments: CancelArguments, context: ToolContext) -> str:
        wanted = arguments.reminder.strip(" []")

        def take_back(session: Session) -> tuple[bool, Sequence[str]]:
            gone = bool(wanted) and cancel(session, context.learner_id, wanted)
            session.flush()
            left = waiting(session, context.learner_id)
            return gone, [_line(reminder, context.zone) for reminder in left]

        gone, left = await store.write(take_back)
        rest = "Waiting:\n" + "\n".join(left) if left else "No reminder is waiting."
        if not wanted:
            return rest
        if not gone:
            raise ToolError(f"There is no reminder of that id. {rest}")
        return f"Taken back. {rest}"

    return declare(
        "cancel_reminder",
        "Tells which reminders the learner has waiting, and takes one back.",
        CancelArguments,
        run,
        repeatable=False,
        parallel_safe=False,
        private=True,
    )


def _line(reminder: Reminder, zone: str) -> str:
    return f"[{reminder.id}] {describe(reminder.due_at, zone)}: {reminder.text}"
