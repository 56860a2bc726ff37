"""One call, one part: what leaves for the platform, and how the platform's answers are taken.

A send carries its key, so one whose outcome is unknown may be repeated (invariant 4). Every send
and edit waits for the limiter of the app first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from bots.feishu.failures import CALL_ERRORS, RECALLED, is_card_trouble, is_locked, reason_of
from bots.feishu.files import upload
from bots.feishu.posting import Place, Posting
from bots.feishu.render import FeishuPart, card, encoded
from bots.feishu.rest import Refusal, Rest
from core.channel import Leaving, NotSent, Rejected, Sent, at_once
from core.context import ReplyTarget
from core.document import File

log = logging.getLogger(__name__)

TYPING: Final = "Typing"
"""The reaction that says we are at work: the platform knows no typing sign."""
LOCK_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between tries to change a card while a press on it is being answered."""
SIGN_SECONDS: Final = 1.0
"""How long a close waits for signs to be taken away."""


class Transport:
    """Sends, edits and typing signs of one app."""

    def __init__(self, rest: Rest, posting: Posting) -> None:
        self._rest = rest
        self._posting = posting
        self._signs: dict[asyncio.Task[None], asyncio.Event] = {}

    async def close(self, seconds: float) -> None:
        """Let calls under way finish and signs fade, for ``seconds`` at most; refuse all others."""
        for done in self._signs.values():
            done.set()
        await self._posting.calls.close(seconds)
        if self._signs:
            await asyncio.wait(list(self._signs), timeout=SIGN_SECONDS)
        for sign in list(self._signs):
            sign.cancel()
        if self._signs:
            await asyncio.wait(list(self._signs))

    async def send(
        self,
        target: ReplyTarget,
        part: FeishuPart | File,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Send one part to the target's chat and thread. Raises a SendError.

        ``leaving`` is awaited after the limiter and before the first call. A card that is refused
        goes out as plain text instead; a quotation of a message that was taken back is left out.
        """
        async with self._posting.turn(target):
            await leaving()
            try:
                place = await self._posting.place(target, reply)
                try:
                    return await self._sent(place, target, part, key)
                except Refusal as refusal:
                    if refusal.code != RECALLED:
                        raise
                    log.info("the message to answer was taken back; writing without it")
                    bare = target.model_copy(update={"reply_to": None})
                    return await self._sent(await self._posting.place(bare, False), bare, part, key)
            except CALL_ERRORS as error:
                raise self._posting.heeded(target, error) from error

    async def edit(self, target: ReplyTarget, message_id: str, part: FeishuPart) -> None:
        """Replace a card. Raises a SendError.

        A card cannot be changed while a press on it is being answered, which we do as soon as the
        press is stored; the answer to it may be quicker, and then waits a moment.
        """
        body = {"content": encoded(card(part, target.thread))}
        async with self._posting.turn(target):
            for pause in (*LOCK_PAUSES, None):
                try:
                    await self._rest.call("PATCH", f"/im/v1/messages/{message_id}", body=body)
                except CALL_ERRORS as error:
                    if isinstance(error, Refusal) and error.code == RECALLED:
                        raise Rejected(reason_of(error)) from error  # gone, but its chat is not
                    if not is_locked(error):
                        raise self._posting.heeded(target, error) from error
                    if pause is None:
                        raise NotSent(reason_of(error)) from error
                    await asyncio.sleep(pause)
                else:
                    return

    @asynccontextmanager
    async def typing(self, target: ReplyTarget) -> AsyncIterator[None]:
        """Show a reaction on the message to answer until the context is left.

        Never raises, never delays.
        """
        if self._posting.calls.closing or target.reply_to is None:
            yield
            return
        done = asyncio.Event()
        sign = asyncio.create_task(self._show_typing(target.reply_to, done), name="feishu-typing")
        self._signs[sign] = done
        sign.add_done_callback(self._signs.pop)
        try:
            yield
        finally:
            done.set()

    async def _show_typing(self, message_id: str, done: asyncio.Event) -> None:
        path = f"/im/v1/messages/{message_id}/reactions"
        body = {"reaction_type": {"emoji_type": TYPING}}
        try:
            answer = await self._rest.call("POST", path, body=body)
            await done.wait()
            await self._rest.call("DELETE", f"{path}/{answer['data']['reaction_id']}")
        except CALL_ERRORS as error:
            log.debug("no typing sign: %s", reason_of(error))
        except (KeyError, TypeError):
            log.debug("no typing sign: the answer names no reaction")

    async def _sent(
        self, place: Place, target: ReplyTarget, part: FeishuPart | File, key: str
    ) -> Sent:
        if isinstance(part, File):
            kind, content = await upload(self._rest, part)
            return await self._posting.post(place, kind, content, key)
        content = encoded(card(part, target.thread))
        try:
            return await self._posting.post(place, "interactive", content, key)
        except Refusal as refusal:
            if not is_card_trouble(refusal):
                raise
            log.warning("a card was refused, sending plain text: %s", reason_of(refusal))
            text = encoded({"text": part.plain})
            return await self._posting.post(place, "text", text, f"{key}:text")
