"""A stage: one channel's world, played by its test server, with the same acts on every channel.

Cases talk to a ``Stage`` only. A new channel is one more implementation beside this file and one
more line in ``conftest.STAGES``.
"""

from __future__ import annotations

import abc
import html
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from core.channel import Channel
from core.clock import Clock
from tests.servers.base import LocalServer
from tests.servers.faults import RecordedRequest, Rule

P = TypeVar("P")
"""The platform's person."""
L = TypeVar("L")
"""The platform's place: a private chat, a group, a thread."""
M = TypeVar("M")
"""The platform's message."""

_FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_BOLD = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Seen(Generic[M]):
    """One message of the tutor as a chat shows it now."""

    message: M
    id: object
    text: str
    """What people read, without markup."""
    labels: tuple[str, ...]
    """Its buttons."""
    bold: tuple[str, ...]
    code: tuple[str, ...]
    """Its blocks of code."""
    quotes: object
    """Id of the message it answers visibly; None without one."""
    rings: bool
    """Somebody is notified by its words."""
    file: tuple[str, bytes] | None = None
    """Name and bytes of the file it is; a picture may have lost its name."""


@dataclass(frozen=True, slots=True)
class Flood:
    """Flood control that refuses every message to one chat until it is lifted."""

    server: LocalServer
    rule: Rule
    seconds: float
    """The wait that each refusal names."""

    @property
    def calls(self) -> list[RecordedRequest]:
        """What was sent to the chat since, refused or not."""
        assert not isinstance(self.rule.matches, str)
        return self.server.requests_of(self.rule.matches)

    async def wait_refused(self) -> None:
        """Wait until a message was refused."""
        await self.server.wait_for(lambda: self.rule.used, what="nothing was refused")

    def lift(self) -> None:
        """Refuse nothing more."""
        self.rule.cancel()


class Stage(abc.ABC, Generic[P, L, M]):
    """One channel's world. ``with`` opens and closes it; the house may come and go meanwhile."""

    remote: ClassVar[bool] = True
    """There is a platform behind the channel: groups, several people, events that come twice."""
    styled: ClassVar[bool] = True
    """The channel shows bold text as such."""

    @abc.abstractmethod
    def open(self) -> None:
        """Open the world."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the world; raises when the server itself had failed."""

    @abc.abstractmethod
    def channel(self, clock: Clock) -> Channel:
        """Return a door to this world, not started."""

    @abc.abstractmethod
    def all_taken(self) -> bool:
        """Tell whether everything done so far is committed by the house."""

    @abc.abstractmethod
    async def taken(self) -> None:
        """Wait until it is."""

    # Who and where

    @abc.abstractmethod
    def person(self, name: str = "Ada", *, chinese: bool = False) -> P:
        """Create a person, whose app speaks English or Chinese."""

    @abc.abstractmethod
    def private(self, person: P) -> L:
        """Return a person's private chat with the tutor."""

    # What people do

    @abc.abstractmethod
    async def say(
        self,
        place: L,
        person: P,
        text: str,
        *,
        mention: bool = False,
        reply_to: Seen[M] | None = None,
    ) -> M:
        """Write; ``mention`` begins with the tutor's name as the platform marks it."""

    @abc.abstractmethod
    async def hand_over(
        self, place: L, person: P, name: str, data: bytes, words: str = "", *, mention: bool = False
    ) -> None:
        """Send a file with words; where the platform takes none beside a file, after it."""

    @abc.abstractmethod
    async def press(self, place: L, person: P, seen: Seen[M], label: str) -> None:
        """Press a button."""

    async def fill(
        self, place: L, person: P, seen: Seen[M], label: str, values: Sequence[str]
    ) -> bool:
        """Press a button; fill in and send the form it opens. False where it opens none."""
        await self.press(place, person, seen, label)
        return False

    @abc.abstractmethod
    def shown(self, place: L) -> list[Seen[M]]:
        """Return what a place shows of the tutor now, oldest first."""


class RemoteStage(Stage[P, L, M]):
    """A world with a server: several people, groups, and all that goes wrong on the way."""

    server: LocalServer

    def open(self) -> None:
        self.server.start()

    def close(self) -> None:
        self.server.stop()
        self.server.check()

    async def taken(self) -> None:
        await self.server.wait_for(self.all_taken, what="something was not taken")

    @abc.abstractmethod
    def account(self, person: P) -> str:
        """Return a person's account as the house names it."""

    @abc.abstractmethod
    def secrets(self) -> Sequence[str]:
        """Return what nobody may ever read."""

    @abc.abstractmethod
    def group(self, *people: P) -> L:
        """Create a group with these people, in which the tutor is told of every message."""

    @abc.abstractmethod
    def thread(self, *people: P) -> L:
        """Create a group and open a thread in it."""

    @abc.abstractmethod
    def around(self, thread: L) -> L:
        """Return the group around a thread."""

    @abc.abstractmethod
    def name_of(self, person: P) -> str:
        """Return how people mention a person in what they write."""

    @abc.abstractmethod
    def alarms(self, person: P) -> str:
        """Return every spelling by which the platform would notify a person, or everybody."""

    @abc.abstractmethod
    async def command(self, place: L, person: P, name: str, arguments: str = "") -> None:
        """Use a command the way the platform offers it."""

    @abc.abstractmethod
    async def sticker(self, place: L, person: P) -> None:
        """Send something that is no text."""

    @abc.abstractmethod
    async def album(self, place: L, person: P, pictures: Sequence[bytes], words: str) -> None:
        """Send several pictures at once, with words."""

    @abc.abstractmethod
    async def record(self, place: L, person: P, data: bytes) -> None:
        """Send recorded speech."""

    @abc.abstractmethod
    async def edit(self, place: L, message: M, text: str) -> None:
        """Let the author rewrite a message. Into a command: the house may never hear of it."""

    @abc.abstractmethod
    async def again(self, message: M) -> None:
        """Let the platform tell of a message once more."""

    @abc.abstractmethod
    async def strange(self) -> None:
        """Let the platform tell of something that nobody knows yet."""

    @abc.abstractmethod
    def shut(self, person: P) -> None:
        """Let a person close their chat to the tutor."""

    @abc.abstractmethod
    def sends(self, place: L) -> Callable[[RecordedRequest], bool]:
        """Return what tells calls that send a new message to a place from all others."""

    @abc.abstractmethod
    def flood(self, place: L) -> Flood:
        """Refuse what is sent to a place until this is lifted; edits and others pass."""

    @abc.abstractmethod
    def working(self, place: L) -> bool:
        """Tell whether a place shows that the tutor is at work."""

    @asynccontextmanager
    async def cut_off(self) -> AsyncIterator[None]:
        """Let the platform be unreachable for a while; afterwards the channel finds it again."""
        self.server.stop()
        yield
        self.server.start()
        await self.reached()

    @abc.abstractmethod
    async def reached(self) -> None:
        """Wait until the channel is connected."""

    def last_call(self, names: Sequence[str], of: Callable[[RecordedRequest], bool]) -> str:
        """Return which of these calls was the last to concern something, empty for none."""
        calls = self.server.requests_of(lambda request: request.name in names and of(request))
        return calls[-1].name if calls else ""


AnyStage = Stage[Any, Any, Any]
AnyRemote = RemoteStage[Any, Any, Any]


def readable(markdown: str) -> str:
    """Return what an app makes of a platform's Markdown, as far as the cases look at it."""
    plain = re.sub(r"\\([^\w\s])", r"\1", markdown.replace("**", "").replace("\u2060", ""))
    return html.unescape(plain)


def bold_in(markdown: str) -> tuple[str, ...]:
    """Return the bold pieces of a platform's Markdown."""
    return tuple(_BOLD.findall(markdown))


def code_in(markdown: str) -> tuple[str, ...]:
    """Return the blocks of code of a platform's Markdown; one that is not closed is none."""
    return tuple(block.rstrip("\n") for block in _FENCE.findall(markdown))
