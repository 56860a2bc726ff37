"""A house on a stage: whatever the channel, a case asks, presses and looks in the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.channel import Channel
from tests.contract.stage import AnyStage, Seen
from tests.house.indoors import Indoors
from tests.servers.openai import OpenAIServer

Message = Seen[Any]


class StageHome(Indoors):
    """One house whose only door leads to a stage."""

    def __init__(
        self, folder: Path, stage: AnyStage, openai: OpenAIServer, **settings: Any
    ) -> None:
        """``settings`` are those of ``Indoors``."""
        super().__init__(folder, openai, **settings)
        self.stage = stage

    def channel(self) -> Channel:
        return self.stage.channel(self.clock)

    def all_taken(self) -> bool:
        return self.stage.all_taken()

    async def taken(self) -> None:
        await self.stage.taken()

    def new(self, place: Any, before: list[Message]) -> list[Message]:
        """Return what a place shows of the tutor that it did not show before."""
        known = {message.id for message in before}
        return [message for message in self.stage.shown(place) if message.id not in known]

    def now(self, place: Any, message: Message) -> Message:
        """Return a message as it is shown now."""
        return next(shown for shown in self.stage.shown(place) if shown.id == message.id)

    async def ask(self, place: Any, person: Any, text: str, **how: Any) -> list[Message]:
        """Let a person write, wait for quiet, return what the tutor said since."""
        before = self.stage.shown(place)
        await self.stage.say(place, person, text, **how)
        await self.quiet()
        return self.new(place, before)

    async def tell(self, person: Any, text: str) -> Message:
        """Do the same in private, where exactly one message is the answer."""
        [answer] = await self.ask(self.stage.private(person), person, text)
        return answer

    async def press(
        self, place: Any, person: Any, message: Message, label: str
    ) -> tuple[Message, list[Message]]:
        """Press a button; return its message as shown afterwards, and what came below."""
        before = self.stage.shown(place)
        await self.stage.press(place, person, message, label)
        await self.quiet()
        return self.now(place, message), self.new(place, before)
