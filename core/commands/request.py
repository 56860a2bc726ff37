"""What a command or button handler gets and gives.

A handler may wait for files or other slow things first; what it changes in the database it returns
as a function, which runs inside the one transaction that also records the answer. So a command
takes effect exactly once, also when the process is killed around it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session

from core.commands.declare import CommandSpec
from core.context import ChatKind, InboundMessage, LearnerId
from core.document import Document
from core.forms import Form
from core.i18n import Words
from core.loop.host import Decision
from core.loop.saved import RoundDone
from core.turns.metered import Tally
from memory.journal import Event


@dataclass(frozen=True, slots=True)
class Request:
    """One use of a command or button."""

    learner_id: LearnerId
    words: Words
    zone: str
    """IANA zone name of the learner."""
    now: datetime
    """UTC."""
    conversation_id: str
    message: InboundMessage
    owner: bool
    """The one who runs the tutor."""
    arguments: str
    """What follows the name, or the arguments of the button."""
    tally: Tally = field(default_factory=Tally)
    """Takes what the model's calls for it cost."""

    @property
    def private(self) -> bool:
        """Only the learner reads the answer."""
        return self.message.chat_kind is ChatKind.PRIVATE


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """Another turn that an answer brought to its end, and what is to be remembered of it."""

    turn_id: str
    learner_id: LearnerId
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler says and what is to be remembered of it."""

    document: Document
    in_place: bool = False
    """Replace the message whose button was pressed, where the channel can."""
    of_all: bool = False
    """That message is everybody's in the chat; else only who it was said to can replace it."""
    events: tuple[Event, ...] = ()
    language: str | None = None
    """Language of the document when the request itself changed it."""
    ended: EndedTurn | None = None


@dataclass(frozen=True, slots=True)
class Rerun:
    """A question goes to the model once more, and what it says ends the request."""

    question: InboundMessage
    persona: str | None = None
    """Id of the persona that answers; None is the learner's choice of now."""
    capability: str | None = None
    """Name of the capability; None is the persona's."""
    model: str | None = None
    """Name of the model; None is the usual one."""
    answered: bool = False
    """There is an answer, which stays where no new one comes."""
    replaces: tuple[str, ...] = ()
    """Platform ids of the messages of that answer, where they can be replaced."""
    resume: RoundDone | None = None
    """Where the question was left, if it is not begun anew ..."""
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """... and what was decided of the calls that waited, by their ids."""


Answer = Reply | Rerun | Callable[[Session], Reply]
Handler = Callable[[Request], Awaitable[Answer]]
MakeForm = Callable[[Session, LearnerId, Words, str], Form | None]
"""Makes the form of a button for a learner from the button's arguments; only reads."""


@dataclass(frozen=True, slots=True)
class Command:
    """A declared command and what it does."""

    spec: CommandSpec
    handle: Handler


@dataclass(frozen=True, slots=True)
class Action:
    """What the buttons whose action begins with ``<name>:`` do."""

    name: str
    handle: Handler
    private: bool = False
    """Like ``CommandSpec.private``."""
    idle: bool = False
    """Like ``CommandSpec.idle``."""
    slow: bool = False
    """Like ``CommandSpec.slow``."""
    form: MakeForm | None = None
    """What a channel with forms opens instead; ``handle`` answers everywhere else."""
