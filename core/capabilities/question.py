"""What a stored message asks the model."""

from __future__ import annotations

from typing import NamedTuple

from core.capabilities.registry import commanded
from core.commands.parse import split_command
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
    """Return the question that a message is; None for one that asks the model nothing.

    A caption is no command, since it goes with what it stands under; it may ask as one does.
    """
    content = message.content
    if isinstance(content, Text):
        captioned = split_command(content.text) if message.attachments else None
        if captioned is None or commanded(captioned[0]) is None:
            return Question(message, None)
        content = Command(name=captioned[0], arguments=captioned[1])
    if not isinstance(content, Command) or (way := commanded(content.name)) is None:
        return None
    text = message.model_copy(update={"content": Text(text=content.arguments)})
    return Question(text, way.name)
