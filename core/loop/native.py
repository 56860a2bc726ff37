"""The native protocol: the provider's tool calls. A reply without calls is the answer."""

from __future__ import annotations

from collections.abc import Sequence

from core.llm.port import ChatMessage, Completed, ToolSpec
from core.loop.gates import ordered_to_answer
from core.loop.history import well_formed
from core.loop.labels import LabelReader
from core.loop.protocol import UNLABELLED, Kind, Reader, Step, readable
from core.loop.scrub import Scrubber


class Native:
    """``mark`` begins the results of this turn (``Dispatcher.mark``)."""

    stop: tuple[str, ...] = ()
    early = False  # the calls come at the end of a reply

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._specs: tuple[ToolSpec, ...] = ()

    def messages(
        self, prompt: Sequence[ChatMessage], own: Sequence[ChatMessage], *, closing: bool
    ) -> tuple[ChatMessage, ...]:
        """Return the history as it is, at the end with the order to answer."""
        messages = well_formed([*prompt, *own])
        return ordered_to_answer(messages) if closing else messages

    def tools(self, specs: tuple[ToolSpec, ...], *, closing: bool) -> tuple[ToolSpec, ...]:
        """Return the tools, none for the closing answer."""
        self._specs = () if closing else specs
        return self._specs

    def reader(self, *, closing: bool) -> Reader:
        """Return a reader to which everything is the answer."""
        return Reader(Scrubber(), LabelReader({self._mark: None}, UNLABELLED))

    def step(self, reader: Reader, end: Completed, *, closing: bool) -> Step:
        """Return the calls, or the answer."""
        text = readable(reader.labels.spoken, self._mark)
        if end.tool_calls and self._specs:
            return Step(Kind.CALLS, calls=end.tool_calls, said=text)
        return Step(Kind.ANSWER, text) if text else Step(Kind.SILENCE)
