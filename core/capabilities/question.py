"""What a stored message asks the model."""

from __future__ import annotations

from typing import NamedTuple

from core.capabilities.registry import commanded
from core.context import Command, InboundMessage, Text


class Question(NamedTuple):
    """A question, and how it wants to be answered."""

    message: InboundMessage
    """Its content is text: of a command that asks for a capability, what follows the name."""
    capability: str | None
    """Name of the capability that was asked for; None leaves it to the persona."""

    @property
    def text(self) -> str:
        """What the learner wrote; may be empty."""
        content = self.message.content
        return content.text if isinstance(content, Text) else ""


def question_in(message: InboundMessage) -> Question | None:
    """Return the question that a message is; None for one that asks the model nothing."""
    match message.content:
        case Text():
            return Question(message, None)
        case Command(name=name, arguments=arguments) if way := commanded(name):
            text = message.model_copy(update={"content": Text(text=arguments)})
            return Question(text, way.name)
    return None
