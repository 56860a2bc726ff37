"""Answers that grow: a card entity of the card kit, streamed into and then replaced as a whole.

A card that streams has a handle, ``MESSAGE ENTITY``: all that another process needs to go on.
"""

from __future__ import annotations

import logging
from typing import Final

from bots.feishu.failures import CALL_ERRORS, is_missing_scope, reason_of, send_error
from bots.feishu.posting import Posting
from bots.feishu.render import STREAMED, FeishuPart, card, encoded, streaming
from bots.feishu.rest import Rest
from bots.feishu.sequences import Sequences
from core.channel import Rejected, Sent, Unreachable
from core.clock import Clock
from core.context import ReplyTarget

log = logging.getLogger(__name__)

_CARDS: Final = "/cardkit/v1/cards"


class Streaming:
    """The streamed cards of one app."""

    def __init__(self, rest: Rest, posting: Posting, clock: Clock) -> None:
        self.allowed = True
        """False once the app turned out to have no right to it."""
        self._rest = rest
        self._posting = posting
        self._sequences = Sequences(clock)

    async def begin(self, target: ReplyTarget, text: str, key: str) -> str:
        """Show the beginning of an answer in a card that streams; return its handle.

        Raises a SendError, Throttled where the limiter would wait.
        """
        async with self._posting.spare_turn(target):
            try:
                data = {"type": "card_json", "data": encoded(streaming(text))}
                made = await self._rest.call("POST", _CARDS, body=data)
                entity = str(made["data"]["card_id"])
                shown = encoded({"type": "card", "data": {"card_id": entity}})
                place = await self._posting.place(target, True)
                sent = await self._posting.post(place, "interactive", shown, key)
            except CALL_ERRORS as error:
                self.allowed = self.allowed and not is_missing_scope(error)
                raise self._posting.heeded(target, error) from error
            except (KeyError, TypeError) as error:
                raise Rejected("the answer names no card") from error
            return f"{sent.message_id} {await self._shown_in(sent.message_id) or entity}"

    async def grow(self, handle: str, text: str) -> None:
        """Show more of an answer. Raises a SendError."""
        _, entity = handle.split(" ")
        path = f"{_CARDS}/{entity}/elements/{STREAMED}/content"
        async with self._posting.calls.call(), self._sequences.next(entity) as sequence:
            try:
                body = {"content": text, "sequence": sequence}
                await self._rest.call("PUT", path, body=body)
            except CALL_ERRORS as error:
                raise send_error(error) from error

    async def conclude(self, target: ReplyTarget, handle: str, part: FeishuPart) -> Sent:
        """Put a whole card, which does not stream, in the place of one. Raises a SendError.

        Where that is refused the streamed card is taken back, so that the answer stands there once.
        """
        message_id, entity = handle.split(" ")
        data = {"type": "card_json", "data": encoded(card(part, target.thread))}
        async with self._posting.turn(target), self._sequences.next(entity) as sequence:
            try:
                body = {"card": data, "sequence": sequence}
                await self._rest.call("PUT", f"{_CARDS}/{entity}", body=body)
            except CALL_ERRORS as error:
                told = self._posting.heeded(target, error)
                if not isinstance(told, Rejected | Unreachable):
                    raise told from error
                await self._take_back(message_id)
                raise Rejected(reason_of(error)) from error
        return Sent(message_id, target.chat)

    async def _shown_in(self, message_id: str) -> str | None:
        """Return the card that a message shows, None when that cannot be told.

        A message sent before under the same key shows the card that was made for it then.
        """
        try:
            body = {"message_id": message_id}
            found = await self._rest.call("POST", f"{_CARDS}/id_convert", body=body)
            return str(found["data"]["card_id"])
        except CALL_ERRORS as error:
            log.info("the card of a message cannot be told: %s", reason_of(error))
        except (KeyError, TypeError):
            log.info("the card of a message cannot be told: the answer names none")
        return None

    async def _take_back(self, message_id: str) -> None:
        try:
            await self._rest.call("DELETE", f"/im/v1/messages/{message_id}")
        except CALL_ERRORS as error:
            log.info("a streamed card stays where it is: %s", reason_of(error))
