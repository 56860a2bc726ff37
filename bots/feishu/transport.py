"""One call, one part: what leaves for the platform, and how the platform's answers are taken.

A send carries its key as ``uuid``, under which the platform shows a message once within an hour;
so a send whose outcome is unknown may be repeated (invariant 4). Every send and edit waits for the
limiter of the app first.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from bots.calls import Calls
from bots.feishu.failures import (
    CALL_ERRORS,
    RECALLED,
    CallError,
    fetch_error,
    is_card_trouble,
    is_locked,
    is_missing_scope,
    is_no_picture,
    reason_of,
    send_error,
)
from bots.feishu.media import place_of, upload_kind
from bots.feishu.render import STREAMED, FeishuPart, card, encoded, streaming
from bots.feishu.rest import NO_CODE, Refusal, Rest
from bots.feishu.sequences import Sequences
from bots.limiter import Limiter
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    Leaving,
    NotSent,
    Rejected,
    SendError,
    Sent,
    Throttled,
    Unreachable,
    at_once,
)
from core.clock import Clock
from core.context import ReplyTarget
from core.document import File

log = logging.getLogger(__name__)

LONGEST_UUID: Final = 50
TYPING: Final = "Typing"
"""The reaction that says we are at work: the platform knows no typing sign."""
LOCK_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between tries to change a card while a press on it is being answered."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message goes: below another one, or at the end of a chat."""

    chat: str
    answers: str | None
    """Id of the message it is a reply to."""
    in_thread: bool


SIGN_SECONDS: Final = 1.0
"""How long a close waits for signs to be taken away."""


class Transport:
    """Sends, edits and typing signs of one app."""

    def __init__(self, rest: Rest, limiter: Limiter, clock: Clock) -> None:
        self._rest = rest
        self.streams = True
        """Cards may stream; False once the app turned out to have no right to it."""
        self._sequences = Sequences(clock)
        self._limiter = limiter
        self._calls = Calls()
        self._signs: dict[asyncio.Task[None], asyncio.Event] = {}

    async def close(self, seconds: float) -> None:
        """Let calls under way finish and signs fade, for ``seconds`` at most; refuse all others."""
        for done in self._signs.values():
            done.set()
        await self._calls.close(seconds)
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
        async with self._turn(target):
            await leaving()
            try:
                place = await self._place(target, reply)
                try:
                    return await self._sent(place, target, part, key)
                except Refusal as refusal:
                    if refusal.code != RECALLED:
                        raise
                    log.info("the message to answer was taken back; writing without it")
                    bare = target.model_copy(update={"reply_to": None})
                    return await self._sent(await self._place(bare, False), bare, part, key)
            except CALL_ERRORS as error:
                raise self._heeded(target, error) from error

    async def edit(self, target: ReplyTarget, message_id: str, part: FeishuPart) -> None:
        """Replace a card. Raises a SendError.

        A card cannot be changed while a press on it is being answered, which we do as soon as the
        press is stored; the answer to it may be quicker, and then waits a moment.
        """
        body = {"content": encoded(card(part, target.thread))}
        async with self._turn(target):
            for pause in (*LOCK_PAUSES, None):
                try:
                    await self._rest.call("PATCH", f"/im/v1/messages/{message_id}", body=body)
                except CALL_ERRORS as error:
                    if isinstance(error, Refusal) and error.code == RECALLED:
                        raise Rejected(reason_of(error)) from error  # gone, but its chat is not
                    if not is_locked(error):
                        raise self._heeded(target, error) from error
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
        if self._calls.closing or target.reply_to is None:
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

    async def _place(self, target: ReplyTarget, reply: bool) -> _Place:
        """Return where a part goes; a thread can only be reached through a message in it."""
        if target.thread is None:
            return _Place(target.chat, target.reply_to if reply else None, in_thread=False)
        anchor = target.reply_to or await self._first_of(target.thread)
        return _Place(target.chat, anchor, in_thread=True)

    async def _first_of(self, thread: str) -> str:
        query = {"container_id_type": "thread", "container_id": thread, "page_size": "1"}
        answer = await self._rest.call("GET", "/im/v1/messages", query=query)
        try:
            return str(answer["data"]["items"][0]["message_id"])
        except (KeyError, IndexError, TypeError):
            raise Refusal(200, RECALLED, "the thread is empty") from None

    async def _sent(
        self, place: _Place, target: ReplyTarget, part: FeishuPart | File, key: str
    ) -> Sent:
        if isinstance(part, File):
            kind, content = await self._uploaded(part)
            return _receipt(place, await self._post(place, kind, content, _uuid(key)))
        content = encoded(card(part, target.thread))
        try:
            answer = await self._post(place, "interactive", content, _uuid(key))
        except Refusal as refusal:
            if not is_card_trouble(refusal):
                raise
            log.warning("a card was refused, sending plain text: %s", reason_of(refusal))
            text = encoded({"text": part.plain})
            answer = await self._post(place, "text", text, _uuid(f"{key}:text"))
        return _receipt(place, answer)

    async def _uploaded(self, file: File) -> tuple[str, str]:
        """Upload a file; return kind and content of the message that shows it."""
        given = (file.name, file.data, file.mime)
        if file.mime.startswith("image/"):
            try:
                answer = await self._rest.upload(
                    "/im/v1/images", {"image_type": "message"}, "image", given
                )
                return "image", encoded({"image_key": _key(answer, "image_key")})
            except Refusal as refusal:
                if not is_no_picture(refusal):
                    raise
                log.info("sent as a file, the picture was refused: %s", reason_of(refusal))
        fields = {"file_type": upload_kind(file.name), "file_name": file.name}
        answer = await self._rest.upload("/im/v1/files", fields, "file", given)
        return "file", encoded({"file_key": _key(answer, "file_key")})

    async def fetch(self, attachment_id: str, most: int) -> bytes:
        """Get a file of at most ``most`` bytes. Raises a FetchError."""
        try:
            place = place_of(attachment_id)
        except TypeError:
            raise AttachmentGone("an id that is not ours") from None
        path = f"/im/v1/messages/{place.message}/resources/{place.key}"
        try:
            data = await self._rest.download(path, {"type": place.kind}, most)
        except CALL_ERRORS as error:
            raise fetch_error(error) from error
        if data is None:
            raise AttachmentTooLarge(f"more than {most} bytes")
        return data

    # Previews

    async def begin(self, target: ReplyTarget, text: str, key: str) -> str:
        """Show the beginning of an answer in a card that streams; return its handle.

        Raises a SendError, Throttled where the limiter would wait.
        """
        if wait := self._limiter.spare(target.chat, group=False):
            raise Throttled(wait)
        async with self._calls.call():
            try:
                made = await self._rest.call(
                    "POST",
                    "/cardkit/v1/cards",
                    body={"type": "card_json", "data": encoded(streaming(text))},
                )
                entity = str(made["data"]["card_id"])
                shown = encoded({"type": "card", "data": {"card_id": entity}})
                place = await self._place(target, True)
                sent = _receipt(place, await self._post(place, "interactive", shown, _uuid(key)))
            except CALL_ERRORS as error:
                self.streams = self.streams and not is_missing_scope(error)
                raise self._heeded(target, error) from error
            except (KeyError, TypeError) as error:
                raise Rejected("the answer names no card") from error
        return f"{sent.message_id} {entity}"

    async def grow(self, handle: str, text: str) -> None:
        """Show more of an answer. Raises a SendError."""
        _, entity = handle.split(" ")
        path = f"/cardkit/v1/cards/{entity}/elements/{STREAMED}/content"
        async with self._calls.call(), self._sequences.next(entity) as sequence:
            try:
                body = {"content": text, "sequence": sequence}
                await self._rest.call("PUT", path, body=body)
            except CALL_ERRORS as error:
                raise send_error(error) from error

    async def conclude(self, target: ReplyTarget, handle: str, part: FeishuPart) -> Sent:
        """Put a whole card in the place of one that streamed. Raises a SendError.

        Where that is refused the streamed card is taken back, so that the answer stands there once.
        """
        message_id, entity = handle.split(" ")
        data = {"type": "card_json", "data": encoded(card(part, target.thread))}
        async with self._turn(target), self._sequences.next(entity) as sequence:
            try:
                body = {"card": data, "sequence": sequence}
                await self._rest.call("PUT", f"/cardkit/v1/cards/{entity}", body=body)
            except CALL_ERRORS as error:
                told = self._heeded(target, error)
                if not isinstance(told, Rejected | Unreachable):
                    raise told from error
                await self._take_back(message_id)
                raise Rejected(reason_of(error)) from error
        return Sent(message_id, target.chat)

    async def _take_back(self, message_id: str) -> None:
        try:
            await self._rest.call("DELETE", f"/im/v1/messages/{message_id}")
        except CALL_ERRORS as error:
            log.info("a streamed card stays where it is: %s", reason_of(error))

    async def _post(self, place: _Place, kind: str, content: str, uuid: str) -> dict[str, Any]:
        body: dict[str, Any] = {"msg_type": kind, "content": content, "uuid": uuid}
        if place.answers is not None:
            body |= {"reply_in_thread": True} if place.in_thread else {}
            return await self._rest.call(
                "POST", f"/im/v1/messages/{place.answers}/reply", body=body
            )
        return await self._rest.call(
            "POST",
            "/im/v1/messages",
            query={"receive_id_type": "chat_id"},
            body={**body, "receive_id": place.chat},
        )

    @asynccontextmanager
    async def _turn(self, target: ReplyTarget) -> AsyncIterator[None]:
        """Wait for the limiter; what happens inside is under way."""
        await self._limiter.wait(target.chat, group=False)
        async with self._calls.call():
            yield

    def _heeded(self, target: ReplyTarget, error: CallError) -> SendError:
        """Translate an error; flood control also holds back what else goes to this chat."""
        told = send_error(error)
        if isinstance(told, Throttled):
            self._limiter.pause(target.chat, told.retry_after, group=False)
        return told


def _key(answer: Mapping[str, Any], name: str) -> str:
    data = answer.get("data")
    if not isinstance(data, Mapping) or not isinstance(data.get(name), str):
        raise Refusal(200, NO_CODE, "the answer names no file")
    return str(data[name])


def _receipt(place: _Place, answer: Mapping[str, Any]) -> Sent:
    data = answer.get("data")
    if not isinstance(data, Mapping) or "message_id" not in data:
        raise Refusal(200, NO_CODE, "the answer names no message")
    return Sent(message_id=str(data["message_id"]), chat=str(data.get("chat_id") or place.chat))


def _uuid(key: str) -> str:
    """Return a key as the platform takes it, at most 50 characters."""
    if len(key) <= LONGEST_UUID:
        return key
    return hashlib.sha256(key.encode()).hexdigest()[:LONGEST_UUID]
