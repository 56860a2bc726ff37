"""A quiz: the learner wants to be asked. The questions, their grading and what comes of them are
``core.commands.quiz``, which the model starts by a tool.
"""

from __future__ import annotations

from typing import Final

from core.capabilities.capability import Capability, prompts_beside

QUIZ: Final = Capability(
    name="quiz",
    about="wants to be quizzed, tested or asked questions on a topic, to see what they know",
    prompts=prompts_beside(__file__),
    tools=("start_quiz", "ask_learner", "memory_search", "cards_due"),
)
