"""The terminal as a channel: one person, one window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TextIO

from bots.terminal.receive import CHANNEL, receive
from bots.terminal.transport import Screen
from core.channel import Capabilities, Intake, Leaving, Part, Sent, at_once
from core.clock import Clock
from core.commands.declare import Menu
from core.context import ReplyTarget
from core.document import Button, Document
from core.events import Stopped, TurnEvent
from core.ids import new_id

ReadLine = Callable[[], Awaitable[str]]
"""Reads one line; raises EOFError at the end and KeyboardInterrupt on Ctrl-C."""


class TerminalChannel:
    """The ``Channel`` port for a person at this machine."""

    name: str = CHANNEL
    capabilities = Capabilities(can_edit=False, idempotent=False, proactive=False)

    def __init__(
        self,
        *,
        user: str,
        window: str,
        language: str | None,
        out: TextIO,
        interactive: bool,
        clock: Clock,
    ) -> None:
        """``window`` names the conversation: a second window open at once has another one."""
        self.account: str = window
        self.failed = False
        """The last answer was that no answer could be given."""
        self._user = user
        self._language = language
        self._clock = clock
        self._screen = Screen(out, interactive=interactive)
        self._intake: Intake | None = None
        self._offered: tuple[Button, ...] = ()
        self._origin = ""

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        """Remember where lines go. The menu is ``/help``."""
        self._intake = intake

    async def stop(self) -> None:
        """Nothing to disconnect."""

    def render(self, document: Document) -> Sequence[Part]:
        """A screen has no limits: one part."""
        return (Part(document),)

    async def send(
        self,
        target: ReplyTarget,
        part: Part,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Print a document; its buttons become numbers to type."""
        if not isinstance(part.payload, Document):
            raise TypeError("not a part of this channel")
        await leaving()
        self._origin = new_id()
        self._offered = tuple(button for row in part.payload.buttons for button in row)
        self._screen.show(part.payload)
        return Sent(self._origin, target.chat)

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        """Never asked for: ``capabilities.can_edit`` is False."""
        raise TypeError("a terminal cannot take back what it printed")

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show that the tutor is at work."""

        @asynccontextmanager
        async def working() -> AsyncIterator[None]:
            with self._screen.working():
                yield

        return working()

    def watch(self, target: ReplyTarget, event: TurnEvent) -> None:
        """Show the growing answer, and note how the turn ended."""
        self._screen.watch(event)
        if isinstance(event, Stopped):
            self.failed = event.reason not in ("answered", "deadline", "rounds", "context_full")

    def health(self) -> str | None:
        """Always well."""
        return None

    def say(self, text: str) -> None:
        """Print one of the program's own lines."""
        self._screen.say(text)

    async def enter(self, line: str) -> None:
        """Hand a line to the house. Raises what the house raises when it cannot keep it."""
        if self._intake is None:
            raise RuntimeError("the terminal has not been opened")
        message = receive(
            line,
            message_id=new_id(),
            user=self._user,
            window=self.account,
            language=self._language,
            offered=self._offered,
            origin=self._origin,
            now=self._clock.now(),
        )
        self._offered = ()
        await self._intake([message])

    async def converse(
        self,
        read_line: ReadLine,
        idle: Callable[[], Awaitable[None]],
        interrupted: asyncio.Event,
    ) -> None:
        """Talk until the person leaves.

        ``idle`` waits until everything is answered; ``interrupted`` is set by Ctrl-C, which
        meanwhile means ``/stop``.
        """
        await idle()
        while True:
            try:
                line = await read_line()
            except (EOFError, KeyboardInterrupt):
                return
            if not line.strip():
                continue
            interrupted.clear()
            await self.enter(line)
            answered = asyncio.ensure_future(idle())
            stopping = asyncio.ensure_future(interrupted.wait())
            await asyncio.wait((answered, stopping), return_when=asyncio.FIRST_COMPLETED)
            if stopping.done():
                await self.enter("/stop")
            stopping.cancel()
            await answered
