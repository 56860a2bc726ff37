"""An answer that grows in a chat: drafts in private, a message that is edited in groups.

Previews are plain text without markup, so nothing in a half answer can be refused or ring. They
never wait for the limiter: what cannot go at once is left out, for the final answer comes anyway.
"""

from __future__ import annotations

import zlib
from contextlib import AbstractAsyncContextManager
from typing import Final

from bots.previews import growing
from bots.rendering.split import utf16
from bots.telegram.render import MAX_TEXT, TelegramPart, render
from bots.telegram.transport import Transport
from core.channel import Rejected, Shown, Watch
from core.context import ReplyTarget
from core.document import Document

PRIVATE_PAUSE: Final = 1.0
GROUP_PAUSE: Final = 4.0
"""Seconds between two previews; a group takes twenty messages and edits a minute."""
_ROOM: Final = 200
"""UTF-16 units kept free, so that one preview is never two messages (F031)."""


class Preview:
    """The preview of one answer."""

    def __init__(
        self,
        transport: Transport,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
    ) -> None:
        self._transport = transport
        self._target = target
        self._draft = zlib.crc32(key.encode()) or 1
        self._handle = handle
        self._shown = shown
        self._drafts = transport.drafts and not target.chat.startswith("-")

    def growing(self) -> AbstractAsyncContextManager[Watch]:
        """Follow the answer until the context is left."""
        return growing(self._show, pause=PRIVATE_PAUSE if self._drafts else GROUP_PAUSE)

    async def _show(self, text: str) -> None:
        part = _part(text)
        if part is None:
            return
        if self._drafts:
            await self._transport.draft(self._target, self._draft, part)
        elif self._handle is None:
            sent = await self._transport.send(self._target, part, reply=True, patient=False)
            self._handle = sent.message_id
            await self._shown(sent.message_id)
        else:
            await self._transport.edit(self._target, self._handle, part, patient=False)


def _part(text: str) -> TelegramPart | None:
    """Return the beginning of an answer as one message; None while nothing of it can be seen."""
    try:
        first = render(Document(markdown=text))[0]
    except ValueError:
        return None
    if sum(map(utf16, first.text)) > MAX_TEXT - _ROOM:
        raise Rejected("the answer has outgrown its preview")
    return first
