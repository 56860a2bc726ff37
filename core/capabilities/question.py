"""What a stored message asks the model."""

from __future__ import annotations

from core.capabilities.registry import commanded
from core.context import Command, InboundMessage, Text


def question_in(message: InboundMessage) -> InboundMessage | None:
    """Return a message as the question that it is; None for one that asks the model nothing.

    Of a command that asks for a capability it is what follows the name.
    """
    match message.content:
        case Text():
            return message
        case Command(name=name, arguments=arguments) if commanded(name):
            return message.model_copy(update={"content": Text(text=arguments)})
    return None
