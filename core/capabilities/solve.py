"""A problem worked out in full, so that the learner can follow every step: plan, work, check.

It is for the learner who asks to be shown. A persona's hints do not hold here; its voice does.
"""

from __future__ import annotations

from typing import Final

from core.capabilities.capability import Capability, prompts_beside
from core.commands.declare import CommandSpec
from core.i18n import N_
from core.loop.gates import Budget
from core.loop.labels import Does, Label, Vocabulary

_LABELS: Final = Vocabulary(
    (
        Label("PLAN", Does.NOTHING, "what is given and sought, and the way you will take"),
        Label("WORK", Does.NOTHING, "the next steps of your own working; nobody sees them"),
        Label(
            "TOOL",
            Does.CALL,
            'one call: the tool\'s name, then its arguments as a JSON object, as in {"a": 1}',
        ),
        Label("CHECK", Does.NOTHING, "the result, tried in another way than it was found"),
        Label("FINISH", Does.SPEAK | Does.END, "the solution as the learner reads it; the end"),
    )
)

SOLVE: Final = Capability(
    name="solve",
    about="wants a given problem or task solved or shown in full, step by step",
    prompts=prompts_beside(__file__),
    command=CommandSpec("solve", N_("work a problem out, step by step"), N_("PROBLEM")),
    # What would put the solving off, or act behind it, stays away.
    tools=("calculate", "current_time", "memory_search", "cards_add"),
    vocabulary=_LABELS,
    budget=Budget(temperature=0.0, max_rounds=12, deadline_seconds=180.0),
)
