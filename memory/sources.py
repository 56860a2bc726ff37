"""What an event, or an entry of the second layer, can prove about a learner. Pure.

Who speaks, where, and whether somebody judged it is told by how an event begins, which the house
writes; what follows may be anybody's words.
"""

from __future__ import annotations

from typing import Final

from memory.document import Audience
from memory.entries import Noted
from memory.ground import Evidence
from memory.journal import Event
from memory.judging import said_in_group
from memory.layers import Surface
from memory.orders import claims_success, is_order, is_reported
from memory.sections import SAID

ANSWERED: Final = "answered"
IN_GROUP: Final = "asked in a group"
"""How an event begins that was said where others read along."""

_HEARD: Final = (IN_GROUP, "quiz in a group")
_QUIZZED: Final = "quiz"
"""How the event of a judged answer begins. A card is judged by the learner alone."""


def of_event(event: Event, *, fresh: bool) -> Evidence:
    """Return what an event proves; ``fresh`` when it was not looked at before."""
    learners = not event.text.startswith(ANSWERED)
    return Evidence(
        target=f"e_{event.id}",
        text=event.text,
        day=event.at.date(),
        fresh=fresh,
        learners=learners,
        graded=event.surface is Surface.MASTERY
        or (event.surface is Surface.QUIZ and event.text.startswith(_QUIZZED)),
        order=learners and (is_order(event.text) or is_order(event.text.partition(": ")[2])),
        in_group=event.text.startswith(_HEARD),
    )


def of_entry(entry: Noted) -> Evidence:
    """Return what an entry of the second layer proves."""
    return Evidence(
        target=f"m_{entry.id}",
        text=entry.text,
        day=entry.day,
        graded=claims_success(entry.text) and not is_reported(entry.text),
        order=entry.section == SAID,
        in_group=said_in_group(entry.text),
        shareable=entry.audience is Audience.GROUP,
    )
