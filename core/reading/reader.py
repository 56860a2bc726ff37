"""Reads what came with a message: fetched within limits, opened, heard; each failure is a word.

Nothing here raises for what an attachment, a platform or a provider does: whatever goes wrong with
one attachment leaves the others whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from core.channel import AttachmentGone, AttachmentTooLarge, AttachmentUnreachable
from core.context import Attachment, AttachmentKind
from core.llm.port import ModelError, Picture
from core.reading.kinds import Kind, kind_of, sound_suffix
from core.reading.trouble import LARGEST, Trouble
from core.reading.workshop import CHARACTERS, Workshop

if TYPE_CHECKING:
    from core.llm.transcribe import Transcriber

log = logging.getLogger(__name__)

MOST: Final = 10
"""Attachments that are looked at of one message."""
TOGETHER: Final = 50_000_000
"""Bytes of all of them."""
FETCH_SECONDS: Final = 45.0
HEAR_SECONDS: Final = 60.0
_TRIES: Final = 2
_SIDE_BY_SIDE: Final = 4


class Fetch(Protocol):
    """``Channel.fetch`` of the channel that an attachment came by."""

    async def __call__(self, attachment: Attachment, *, most: int) -> bytes:
        """Get at most ``most`` bytes. Raises a FetchError."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one attachment: a text, a picture, or a trouble."""

    text: str = ""
    heard: bool = False
    """The text was spoken."""
    left_out: str = ""
    """English: what of the file the text leaves out."""
    picture: Picture | None = None
    trouble: Trouble | None = None


class Reader:
    """Reads attachments; ``transcriber`` None means that nothing here understands speech."""

    def __init__(self, transcriber: Transcriber | None, workshop: Workshop | None = None) -> None:
        self._transcriber = transcriber
        self._workshop = workshop or Workshop()

    async def read(
        self, attachments: Sequence[Attachment], fetch: Fetch, *, sees: bool
    ) -> tuple[Found, ...]:
        """Read attachments side by side, in their order. ``sees``: the model takes pictures.

        Those after the tenth are the caller's to leave out. Cancelling ends all of it.
        """
        purse = _Purse(TOGETHER)
        places = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(attachment: Attachment) -> Found:
            async with places:
                return await self._one(attachment, fetch, purse, sees=sees)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(attachment)) for attachment in attachments]
        return tuple(task.result() for task in tasks)

    async def close(self) -> None:
        """Close the connections."""
        if self._transcriber is not None:
            await self._transcriber.close()

    async def _one(
        self, attachment: Attachment, fetch: Fetch, purse: _Purse, *, sees: bool
    ) -> Found:
        if attachment.kind is AttachmentKind.IMAGE and not sees:
            return Found(trouble=Trouble.UNSEEN)
        if attachment.kind is AttachmentKind.VOICE and self._transcriber is None:
            return Found(trouble=Trouble.UNHEARD)
        data = await self._fetched(attachment, fetch, purse)
        if isinstance(data, Trouble):
            return Found(trouble=data)
        if not data:
            return Found(trouble=Trouble.EMPTY)
        match kind_of(data, attachment):
            case Kind.SOUND:
                return await self._heard(data)
            case Kind.PICTURE if not sees:
                return Found(trouble=Trouble.UNSEEN)
            case Kind.UNKNOWN:
                return Found(trouble=Trouble.UNKNOWN_KIND)
            case Kind.TEXT if (text := _utf8(data)) is not None:
                if not text.strip():
                    return Found(trouble=Trouble.EMPTY)
                return Found(text[:CHARACTERS], left_out=_cut(len(text)))
            case kind:
                opened = await self._workshop.open(kind, data)
        read, count = opened.pages or (0, 0)
        left_out = f"pages {read + 1} to {count}" if read < count else _cut(len(opened.text))
        return Found(opened.text, left_out=left_out, picture=opened.picture, trouble=opened.trouble)

    async def _fetched(
        self, attachment: Attachment, fetch: Fetch, purse: _Purse
    ) -> bytes | Trouble:
        size = attachment.size or 0
        if size > LARGEST:
            return Trouble.TOO_LARGE
        if not purse.pay(size):
            return Trouble.TOO_MUCH
        for left in reversed(range(_TRIES)):
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    data = await fetch(attachment, most=LARGEST)
            except AttachmentTooLarge:
                return Trouble.TOO_LARGE
            except AttachmentGone:
                return Trouble.GONE
            except (AttachmentUnreachable, TimeoutError) as error:
                log.info("an attachment could not be fetched: %s", type(error).__name__)
                if not left or isinstance(error, TimeoutError):
                    return Trouble.UNREACHABLE
            else:
                # What the platform said of the size was a promise.
                return data if purse.pay(max(len(data) - size, 0)) else Trouble.TOO_MUCH
        raise AssertionError("unreachable")

    async def _heard(self, data: bytes) -> Found:
        if self._transcriber is None:
            return Found(trouble=Trouble.UNHEARD)
        deadline = asyncio.get_running_loop().time() + HEAR_SECONDS
        try:
            text = await self._transcriber.transcribe(
                data, suffix=sound_suffix(data), deadline=deadline
            )
        except ModelError as error:
            log.warning("a recording was not understood: %s", error)
            return Found(trouble=Trouble.NOT_NOW)
        return Found(text, heard=True) if text else Found(trouble=Trouble.NO_WORDS)


@dataclass
class _Purse:
    """Bytes that may still be fetched for one message."""

    left: int

    def pay(self, size: int) -> bool:
        if size > self.left:
            return False
        self.left -= size
        return True


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\0", "")
    except UnicodeDecodeError:
        return None


def _cut(length: int) -> str:
    return "the rest" if length >= CHARACTERS else ""
