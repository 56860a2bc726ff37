"""Conversation: an ordinary turn, in the persona's own manner."""

from __future__ import annotations

from typing import Final

from core.capabilities.capability import Capability, prompts_beside

CHAT: Final = Capability(
    name="chat",
    about="talk: questions about a subject, explanations, feedback on an attempt, anything else",
    prompts=prompts_beside(__file__),
)
