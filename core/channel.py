"""The port a door implements: what the house asks of a channel, and what can go wrong there.

Nothing here names a platform. An adapter implements ``Channel``; the composition root hands it to
the house. Errors of a platform's library are translated into the four below, once, in the
adapter's transport.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from core.commands.declare import Menu
from core.context import Attachment, InboundMessage, ReplyTarget
from core.document import Document
from core.events import TurnEvent


class SendError(Exception):
    """A platform call failed; the subclass says what is known about its outcome."""


class NotSent(SendError):
    """Surely not delivered (refused before it was taken, or never reached): may be retried."""


class Throttled(NotSent):
    """Flood control: nothing was delivered; retry after ``retry_after`` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"flood control, retry after {retry_after:g} s")
        self.retry_after = retry_after


class Unreachable(SendError):
    """The chat is gone or closed to us (blocked, left, deleted): retrying is useless."""


class Rejected(SendError):
    """The platform refuses this very content; sending it again would be refused again."""


class OutcomeUnknown(SendError):
    """The request may or may not have been carried out (time-out, broken connection)."""


class FetchError(Exception):
    """An attachment cannot be had; the subclass says why."""


class AttachmentTooLarge(FetchError):
    """It is larger than what was allowed, or than what the platform gives a bot."""


class AttachmentGone(FetchError):
    """The platform does not have it any more, or does not let us have it."""


class AttachmentUnreachable(FetchError):
    """The platform could not be reached, or broke off; another try may succeed."""


class ChannelStartError(Exception):
    """A channel cannot start (a wrong token). The text says how to mend it."""


class ChannelUnreachable(ChannelStartError):
    """A channel cannot start now, but may by itself later (no network): worth another try."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a channel can do; the house asks these instead of its name."""

    can_edit: bool
    """Messages can be replaced in place."""
    repeatable_for: float
    """Seconds in which a second send with the same key shows once, so that an unknown outcome may
    be retried; 0 where the platform has no such keys."""
    proactive: bool
    """Messages may be sent without a person writing first (nudges)."""


@dataclass(frozen=True, slots=True)
class Part:
    """One rendered piece of a document: an opaque payload of the channel's own kind."""

    payload: object


@dataclass(frozen=True, slots=True)
class Sent:
    """Receipt of one part."""

    message_id: str
    chat: str
    """Usually the target's chat; another one when the message went elsewhere, as into a thread."""
    moved: bool = False
    """The platform gave the target's chat this address for good: what is stored of it follows."""


Intake = Callable[[Sequence[InboundMessage]], Awaitable[None]]
"""Takes a batch of messages. When it returns, all of them are committed and may be acknowledged;
it raises only when nothing of the batch was committed."""


class Known(NamedTuple):
    """How far the events of an account are known."""

    last: str
    """``InboundMessage.message_id`` of the newest one that is committed."""
    chats: tuple[str, ...]
    """Chats in which somebody learned lately, newest first."""


Recall = Callable[[], Awaitable[Known | None]]
"""Tells how far events are known; None where none ever came."""


@runtime_checkable
class LooksBack(Protocol):
    """A channel that can be asked for what was said while it was away."""

    def look_back(self, recall: Recall) -> None:
        """Ask for it at each start and after each gap, and give it to the intake in its order.

        Called before ``start``. What was heard before may be given again.
        """


Leaving = Callable[[], Awaitable[None]]
"""Awaited when a part may leave, right before it does; an exception keeps it here."""


async def at_once() -> None:
    """Nothing is to be done before a part leaves."""


Watch = Callable[[TurnEvent], None]
"""Sees a turn as it happens. Returns at once and never raises."""

Shown = Callable[[str], Awaitable[None]]
"""Told, once, that a preview became a message of its own; see ``Channel.preview``."""


class Channel(Protocol):
    """A door. ``start`` to ``stop`` is its life; everything between may be called concurrently."""

    name: str
    """``ReplyTarget.channel`` of everything that enters here."""
    account: str
    """``ReplyTarget.account``; set once ``start`` has returned."""
    capabilities: Capabilities

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        """Connect, register the command menu, one for each language, begin to deliver to
        ``intake``.

        Raises ChannelStartError with a sentence for the one who runs the tutor; may be called
        again then.
        """

    async def stop(self) -> None:
        """Stop receiving, let sends under way finish, disconnect. Safe to call twice."""

    def render(self, document: Document) -> Sequence[Part]:
        """Split a document into parts within the platform's limits. Pure; at least one part."""

    async def send(
        self,
        target: ReplyTarget,
        part: Part,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Send one part. ``key`` is the idempotency key; ``reply`` quotes ``target.reply_to``.

        Every wait (flood control) comes before ``leaving`` is awaited, once; from then on the
        outcome may be unknown. Raises a SendError, or what ``leaving`` raised.
        """

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        """Replace a sent message (text and buttons). Raises a SendError."""

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show that the tutor is at work until the context is left. Never raises."""

    def preview(
        self,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
        again: bool = False,
    ) -> AbstractAsyncContextManager[Watch]:
        """Show a growing answer until the context is left. Never raises, never delays the turn.

        A preview that becomes a message (rather than a passing sign) tells its ``handle`` to
        ``shown`` right after it was sent, and ``conclude`` puts the final answer in its place.
        ``handle`` is the one that an earlier, interrupted try at the same answer left; ``key`` is
        the same at every try, so that a preview which was sent and not noted is found again where
        the platform can do that; with ``again`` there may be one, and it is looked for at the
        latest when the context is left, whether or not this try has words to show. When the context
        has been left, nothing of the preview is still on its way. Flood control drops previews,
        never waits for them.
        """

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        """Put the first part of the final answer in the place of a preview. Raises a SendError."""

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        """Get an attachment of at most ``most`` bytes. Raises a FetchError."""

    def health(self) -> str | None:
        """None while the channel works, else a sentence that says what is wrong."""
