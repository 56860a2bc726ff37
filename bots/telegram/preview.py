"""An answer that grows in a chat: drafts in private, a message that is edited in groups.

Previews never wait for the limiter: what cannot go at once is left out, for the final answer comes
anyway.
"""

from __future__ import annotations

import zlib
from contextlib import AbstractAsyncContextManager
from typing import Final

from bots.previews import Edited, growing
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


def preview(
    transport: Transport, target: ReplyTarget, *, key: str, handle: str | None, shown: Shown
) -> AbstractAsyncContextManager[Watch]:
    """Follow an answer until the context is left; see ``Channel.preview``."""
    draft_id = zlib.crc32(key.encode()) or 1
    private = not target.chat.startswith("-")

    async def draft(text: str) -> None:
        part = _part(text)
        if part is not None:
            await transport.draft(target, draft_id, part)

    async def send(part: TelegramPart) -> str:
        return (await transport.send(target, part, reply=True, patient=False)).message_id

    async def edit(message_id: str, part: TelegramPart) -> None:
        await transport.edit(target, message_id, part, patient=False)

    pause = PRIVATE_PAUSE if private else GROUP_PAUSE
    if private and transport.drafts:
        return growing(draft, pause=pause)
    return growing(
        Edited(_part, send, edit, handle=handle, shown=shown, repeatable=False).show, pause=pause
    )


def _part(text: str) -> TelegramPart | None:
    """Return the beginning of an answer as one message; None while nothing of it can be seen."""
    try:
        first = render(Document(markdown=text))[0]
    except ValueError:
        return None
    if sum(map(utf16, first.text)) > MAX_TEXT - _ROOM:
        raise Rejected("the answer has outgrown its preview")
    return first
