"""The port for a form: fields to fill in, where a channel can show them at a press.

A channel that can opens one instead of handing the press over; what was filled in comes back as a
press of the form's own action (``Press.filled``). Everywhere else, and whenever no form can be had
in time, the press itself is answered in words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from core.context import InboundMessage


@dataclass(frozen=True, slots=True)
class Field:
    """One text to fill in; it may have several lines and must not be empty."""

    label: str
    """In the learner's language; at most 45 characters."""
    value: str
    """What stands there at first."""
    limit: int
    """Characters it takes at most, at most 4,000."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form, at most five fields long."""

    title: str
    """In the learner's language; at most 45 characters."""
    action: str
    """What sending it stands for, like ``Button.action``."""
    fields: tuple[Field, ...]


FindForm = Callable[[InboundMessage], Awaitable[Form | None]]
"""Return the form that a press opens; None where it opens none, or not for this person or here.
Changes nothing, and raises nothing but cancellation."""


@runtime_checkable
class OpensForms(Protocol):
    """A channel that can show forms."""

    def open_forms(self, find: FindForm) -> None:
        """Ask ``find`` about each press before it is handed over. Called before ``start``."""
