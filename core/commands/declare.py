"""Commands as data: declared once, shown natively where a platform can, parsed elsewhere.

A name that is not declared here is in no menu and in no help text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Choice(NamedTuple):
    """Something that may follow a command."""

    label: str
    """As people read it."""
    value: str
    """The arguments that it stands for."""


Choices = Callable[[str, str], Sequence[Choice]]
"""What may follow a command, likeliest first, by what is typed so far and the language. It knows
nothing of the one who types, who may be anybody; returns at once and never raises."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command people can use."""

    name: str
    """Lower-case ASCII, at most 32 characters."""
    summary: str
    """Message id of the one-line description (see ``core.i18n``)."""
    usage: str = ""
    """Message id of the arguments as help shows them, for example ``QUESTION :: ANSWER``."""
    aliases: tuple[str, ...] = ()
    private: bool = False
    """Shows or changes what is the learner's alone; in a group it points to the private chat."""
    immediate: bool = False
    """Answered at once, never waiting for a turn under way."""
    idle: bool = False
    """Makes no sense while a turn is under way: it is refused then, at once."""
    slow: bool = False
    """Asks the model: a sign of life is shown meanwhile."""
    choices: Choices | None = None
    """Suggests arguments where an app can show suggestions; None where there are none to name."""


@dataclass(frozen=True, slots=True)
class Menu:
    """The command menu in one language, ready to be registered."""

    language: str
    """Two-letter code; the first menu of a sequence is the default."""
    entries: tuple[tuple[str, str], ...]
    """(name, description) in the order to show."""
    usages: tuple[tuple[str, str], ...] = ()
    """(name, what it takes) of the commands that take arguments."""
    choices: tuple[tuple[str, Choices], ...] = ()
    """(name, what may follow) of the commands that can suggest it."""
    about: str = ""
    """What the tutor is, in two or three sentences, for those who have not written yet."""
    motto: str = ""
    """The same in one line."""
