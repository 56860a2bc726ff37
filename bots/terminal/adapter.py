"""The terminal as a channel: one person, one window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from bots.rendering.clean import printable
from bots.terminal.files import attachment, fetched, handed_over, saved
from bots.terminal.receive import CHANNEL, receive
from bots.terminal.transport import Screen
from core.channel import (
    Capabilities,
    Intake,
    Leaving,
    Part,
    Sent,
    Shown,
    Unreachable,
    Watch,
    at_once,
)
from core.clock import Clock
from core.commands.declare import Menu
from core.context import Attachment, ReplyTarget, Text
from core.document import Button, Document, File
from core.events import Content, Growing, Stopped, TurnEvent
from core.i18n import Words
from core.ids import new_id

_NO_ANSWER = frozenset({"provider_error", "malformed", "empty"})
"""``core.loop.gates.StopReason`` of turns whose text, if any, is no answer."""

ReadLine = Callable[[], Awaitable[str]]
"""Reads one line; raises EOFError at the end and KeyboardInterrupt on Ctrl-C."""


class TerminalChannel:
    """The ``Channel`` port for a person at this machine."""

    name: str = CHANNEL
    capabilities = Capabilities(can_edit=False, repeatable_for=0, proactive=False)

    def __init__(
        self,
        *,
        user: str,
        window: str,
        language: str | None,
        out: TextIO,
        converses: bool,
        clock: Clock,
        words: Words,
        files: Path,
    ) -> None:
        """``window`` names the conversation: a second window open at once has another one.

        ``converses`` is False for a pipe: one message, after which no button can be pressed.
        ``files`` is the folder that what comes as a file is saved in.
        """
        self.account: str = window
        self.failed = False
        """The last question got no answer, or nobody could read it."""
        self._said = Growing()
        self._converses = converses
        self._user = user
        self._language = language
        self._clock = clock
        self._words = words
        self._files = files
        self._screen = Screen(out)
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
        """Print a document; its buttons become numbers to type. Raises Unreachable."""
        document = part.payload
        if not isinstance(document, Document):
            raise TypeError("not a part of this channel")
        if not self._converses:
            document = document.model_copy(update={"buttons": ()})
        await leaving()
        self._origin = new_id()
        self._offered = tuple(button for row in document.buttons for button in row)
        try:
            self._screen.show(document)
            for file in document.files:
                self._screen.file(file, self._saved(file))
        except BrokenPipeError:
            self.failed = True
            raise Unreachable("nobody reads the output any more") from None
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

    def preview(
        self,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
        again: bool = False,
    ) -> AbstractAsyncContextManager[Watch]:
        """Show the growing answer, and note how the turn ended."""
        return nullcontext(self._watch)

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        """Never asked for: what is shown here has no handle."""
        raise TypeError("a terminal cannot take back what it printed")

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        """Read a file that was handed over. Raises a FetchError."""
        return await asyncio.to_thread(fetched, attachment, most)

    def health(self) -> str | None:
        """Always well."""
        return None

    def _watch(self, event: TurnEvent) -> None:
        self._screen.watch(event)
        if isinstance(event, Content):
            self._said.take(event)
        elif isinstance(event, Stopped):
            # At a gate there may be an answer all the same.
            self.failed = event.reason in _NO_ANSWER or not self._said.text.strip()

    def say(self, text: str) -> None:
        """Print one of the program's own lines."""
        self._screen.say(text)

    async def enter(self, line: str, files: Sequence[Path] = ()) -> None:
        """Hand a line to the house, with files, also those that the line names (``/file``).

        A file that cannot be read is said at once, and nothing is handed over. Raises what the
        house raises when it cannot keep it.
        """
        if self._intake is None:
            raise RuntimeError("the terminal has not been opened")
        if (given := handed_over(line)) is not None:
            files, line = (*files, *given[0]), given[1]
        try:
            attached = tuple(map(attachment, files))
        except (OSError, ValueError) as error:  # ValueError: a null character in a path
            self.failed = True
            self._screen.say(self._unreadable(error))
            return
        message = receive(
            line,
            attached,
            message_id=new_id(),
            user=self._user,
            window=self.account,
            language=self._language,
            offered=self._offered,
            origin=self._origin,
            now=self._clock.now(),
        )
        self._offered = ()
        self._said = Growing()
        self.failed = isinstance(message.content, Text)  # until an answer has come
        await self._intake([message])

    def _saved(self, file: File) -> str:
        try:
            return self._words("Saved: {path}", path=printable(str(saved(file, self._files))))
        except OSError as error:
            return self._words(
                "{name} could not be saved in {folder} ({reason}).",
                name=printable(file.name),
                folder=self._files,
                reason=error.strerror or type(error).__name__,
            )

    def _unreadable(self, error: OSError | ValueError) -> str:
        if not isinstance(error, OSError) or error.filename in (None, "", "."):
            return self._words("Write the path behind /file, for example /file notes.pdf")
        return self._words(
            "I can't read {path} ({reason}). Check the path; put it in quotes if it has spaces.",
            path=printable(str(error.filename)),
            reason=error.strerror or type(error).__name__,
        )

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
        while True:
            await self._answered(idle, interrupted)
            try:
                line = await read_line()
            except (EOFError, KeyboardInterrupt):
                return
            interrupted.clear()
            if line.strip():
                await self.enter(line)

    async def _answered(
        self, idle: Callable[[], Awaitable[None]], interrupted: asyncio.Event
    ) -> None:
        """Wait for the answers under way; when interrupted, stop them."""
        answered = asyncio.ensure_future(idle())
        while not answered.done():
            stopping = asyncio.ensure_future(interrupted.wait())
            await asyncio.wait((answered, stopping), return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if interrupted.is_set() and not answered.done():
                interrupted.clear()
                await self.enter("/stop")
        await answered
