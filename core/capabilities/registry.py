"""The capabilities there are. A new one is a file, its prompts, and a line here."""

from __future__ import annotations

from typing import Final

from core.capabilities.capability import Capability
from core.capabilities.chat import CHAT
from core.capabilities.quiz import QUIZ
from core.capabilities.solve import SOLVE

CAPABILITIES: Final = (CHAT, SOLVE, QUIZ)
"""In the order in which they are shown."""

_BY_NAME: Final = {one.name: one for one in CAPABILITIES}


def capability(name: str) -> Capability | None:
    """Return the capability of a name."""
    return _BY_NAME.get(name)


def of_persona(names: tuple[str, ...]) -> tuple[Capability, ...]:
    """Return those a persona has, in the persona's order; ``chat`` where it names none we know."""
    return tuple(_BY_NAME[name] for name in names if name in _BY_NAME) or (CHAT,)


def commanded(command: str) -> Capability | None:
    """Return the capability that a command asks for."""
    found = (one for one in CAPABILITIES if one.command and one.command.name == command)
    return next(found, None)
