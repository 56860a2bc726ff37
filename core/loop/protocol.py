"""How the loop and the model talk about calls: one interface, and what one reply comes to.

The turn's history is kept in one form, the native one; a protocol writes it out for its models.
``core.loop.native`` and ``core.loop.labelled`` are the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Protocol

from core.llm.port import ChatMessage, Completed, ToolCall, ToolSpec
from core.loop.labels import Does, Label, LabelReader
from core.loop.scrub import Piece, Scrubber
from memory.characters import is_blank

UNLABELLED: Final = Label("", Does.SPEAK, "")
"""Stands for text before any label where that is the answer."""
_SENTINELS: Final = frozenset({"(empty)", "[empty]", "(no content)", "[no content]"})
"""What some models and proxies send instead of nothing."""


class Kind(Enum):
    """What a reply is."""

    ANSWER = auto()
    CALLS = auto()
    GOES_ON = auto()
    """It said a part of the answer, and has more to do."""
    VIOLATION = auto()
    """It keeps to no protocol."""
    SILENCE = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """What one reply of the model comes to."""

    kind: Kind
    text: str = ""
    """The answer, the part of it, or for a violation what can be read of it."""
    calls: tuple[ToolCall, ...] = ()
    said: str = ""
    """With calls: what came before them, for the history."""
    asked: bool = False
    """The answer is a question."""


class Reader:
    """Reads one reply as it comes: tags of thinking first, then labels."""

    def __init__(self, scrubber: Scrubber, labels: LabelReader) -> None:
        self._scrubber = scrubber
        self.labels = labels

    def feed(self, delta: str) -> list[Piece]:
        """Take a piece of the stream; return what is to be shown, and what was thought."""
        return self.labels.feed(self._scrubber.feed(delta))

    def finish(self) -> list[Piece]:
        """Return the rest."""
        return [*self.labels.feed(self._scrubber.finish()), *self.labels.finish()]


class Dialect(Protocol):
    """One protocol."""

    @property
    def stop(self) -> tuple[str, ...]:
        """Stop sequences of a request."""

    @property
    def early(self) -> bool:
        """What follows where the model had to stop need not be waited for."""

    def messages(
        self, prompt: Sequence[ChatMessage], own: Sequence[ChatMessage], *, closing: bool
    ) -> tuple[ChatMessage, ...]:
        """Return the messages of a request: ``prompt``, then ``own``, which this turn added."""

    def tools(self, specs: tuple[ToolSpec, ...], *, closing: bool) -> tuple[ToolSpec, ...]:
        """Return the tools to be sent beside the messages."""

    def reader(self, *, closing: bool) -> Reader:
        """Return a reader for one reply."""

    def step(self, reader: Reader, end: Completed, *, closing: bool) -> Step:
        """Return what a reply that was read to its end comes to."""


def readable(text: str, mark: str) -> str:
    """Return an answer up to the first result that the model made up; nothing for no answer."""
    text = text.partition(mark)[0].strip()
    return "" if text in _SENTINELS or is_blank(text.strip("`~")) else text
