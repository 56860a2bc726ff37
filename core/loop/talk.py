"""Which protocol a turn speaks now, and what it says to a model that keeps to none."""

from __future__ import annotations

from core.llm.port import ChatMessage, ChatModel, ToolSpec
from core.loop.dispatch import Dispatcher
from core.loop.gates import Budget, LoopProtocol
from core.loop.labelled import Labelled
from core.loop.labels import COMMON, Vocabulary
from core.loop.native import Native
from core.loop.protocol import Dialect


class Talk:
    """The ways to talk of one turn. ``vocabulary`` None are the common labels."""

    def __init__(
        self,
        model: ChatModel,
        budget: Budget,
        vocabulary: Vocabulary | None,
        dispatcher: Dispatcher,
    ) -> None:
        self._model = model
        self._wanted = budget.protocol
        self._dispatcher = dispatcher
        self._native = Native(dispatcher.mark)
        self._labels = Labelled(vocabulary or COMMON, dispatcher.mark)
        self.tools_off = not dispatcher.specs
        """Nothing can be called."""
        # Labels are for calls; a model that is too small for tools is too small for labels.
        has_steps = not self.tools_off or vocabulary is not None
        self._can_label = has_steps and not model.small
        self.repair: tuple[ChatMessage, ...] = ()
        """Sent at the end of the next request, and kept in no history."""

    @property
    def labelled(self) -> bool:
        """Labels are spoken now. A model may turn out to take no tools at any call."""
        if not self._can_label or self._wanted is LoopProtocol.NATIVE:
            return False
        return self._wanted is LoopProtocol.LABELLED or not self._model.supports_tools

    @property
    def plain(self) -> bool:
        """The next reply is an answer, whatever it says."""
        return self.tools_off and not self.labelled

    def now(self) -> Dialect:
        """Return the protocol of the next call."""
        return self._labels if self.labelled else self._native

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the next call."""
        if self.tools_off or not (self.labelled or self._model.supports_tools):
            return ()
        return self._dispatcher.specs

    def remind(self, text: str) -> None:
        """Ask once more for a step that can be read; ``text`` is what was said instead."""
        said = (ChatMessage("assistant", text),) if text else ()
        self.repair = (*said, ChatMessage("user", self._labels.reminder()))

    def spoke(self, text: str) -> ChatMessage:
        """Return a step that spoke and goes on, for the history."""
        return self._labels.spoke(text)
