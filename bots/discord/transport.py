"""One call, one part: what leaves for the platform, and how the platform's answers are taken.

Bodies are written here and sent by the library's HTTP client, which keeps the rates that the
platform tells with each answer. On every path nobody is notified (F041) and a key makes a repeated
send show once.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import discord
from discord.http import HTTPClient, Route

from bots.calls import Calls
from bots.discord.download import Downloads, Expired
from bots.discord.failures import (
    FAILURES,
    edit_error,
    fetch_error,
    is_reference_trouble,
    reason_of,
    send_error,
)
from bots.discord.interactions import Interactions
from bots.discord.media import Place, place_of
from bots.discord.receive import INTERACTION
from bots.discord.render import ButtonSpec, DiscordPart, MenuSpec
from bots.discord.threads import Threads
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    Leaving,
    NotSent,
    OutcomeUnknown,
    Sent,
    at_once,
)
from core.context import Attachment, ReplyTarget
from core.document import File

log = logging.getLogger(__name__)

REQUEST_SECONDS: Final = 45.0
"""How long one call may take, with the waits and tries of the library."""

FETCH_SECONDS: Final = 60.0
"""How long a file may take to come."""

TYPING_SECONDS: Final = 8.0
"""The sign fades after ten seconds."""

_SUPPRESS_EMBEDS: Final = 1 << 2
_LOADING: Final = 1 << 7
_ROW, _BUTTON, _SELECT, _SECONDARY = 1, 2, 3, 2
_MESSAGES: Final = "/channels/{channel_id}/messages"


class Transport:
    """Sends, edits and typing signs of one bot account."""

    def __init__(
        self,
        http: Callable[[], HTTPClient],
        interactions: Interactions,
        downloads: Downloads,
        threads: Threads,
    ) -> None:
        """``http`` is the library's present connection."""
        self._http = http
        self._interactions = interactions
        self._downloads = downloads
        self._threads = threads
        self._calls = Calls()

    async def close(self, seconds: float) -> None:
        """Let calls under way finish, for ``seconds`` at most; refuse all others from now on."""
        await self._calls.close(seconds)

    async def send(
        self,
        target: ReplyTarget,
        part: DiscordPart | File,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Send one part to the target's chat. Raises a SendError.

        The first part of an answer to a command takes the place of its "thinking".
        """
        async with self._calls.call():
            placed = await self._placed(target)
            await leaving()
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    return Sent(await self._send(placed, part, key, reply), placed.chat)
            except FAILURES as error:
                raise send_error(error) from error

    async def edit(self, target: ReplyTarget, message_id: str, part: DiscordPart) -> Sent:
        """Replace text and buttons of a message. Raises a SendError."""
        async with self._calls.call():
            placed = await self._placed(target)
            route = Route(
                "PATCH",
                _MESSAGES + "/{message_id}",
                channel_id=int(placed.chat),
                message_id=int(message_id),
            )
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    await self._http().request(route, json=body(part))
            except FAILURES as error:
                raise edit_error(error) from error
            await self._interactions.withdraw(target.reply_to or "")
            return Sent(message_id, placed.chat)

    async def _placed(self, target: ReplyTarget) -> ReplyTarget:
        """Find the place of an answer before it leaves: what fails here has sent nothing."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                return await self._threads.placed(target)
        except FAILURES as error:
            failed = send_error(error)
            raise failed if isinstance(failed, NotSent) else NotSent(str(failed)) from error

    async def fetch(self, attachment: Attachment, most: int) -> bytes:
        """Get a file of at most ``most`` bytes. Raises a FetchError."""
        if (attachment.size or 0) > most:
            raise AttachmentTooLarge(f"{attachment.size} bytes")
        try:
            place = place_of(attachment.id)
        except TypeError:
            raise AttachmentGone("an id that is not ours") from None
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                try:
                    return await self._downloads.get(place.address, most)
                except Expired:  # its signature has ended
                    return await self._downloads.get(await self._address(place), most)
        except NotSent as error:
            raise AttachmentUnreachable(str(error)) from error
        except FAILURES as error:
            raise fetch_error(error) from error

    async def _address(self, place: Place) -> str:
        """Ask for the present address of a file."""
        message: Any = await self._http().get_message(int(place.chat), int(place.message))
        carried = [
            message,
            *(snapshot["message"] for snapshot in message.get("message_snapshots", ())),
        ]
        for one in carried:
            for file in one.get("attachments", ()):
                if file["id"] == place.number:
                    return str(file["url"])
        raise AttachmentGone("the message does not carry it any more")

    async def _send(
        self, target: ReplyTarget, part: DiscordPart | File, key: str, reply: bool
    ) -> str:
        if isinstance(part, File):
            return await self._send_file(target, part, key)
        quoted = target.reply_to if reply else None
        if quoted is not None and quoted.startswith(INTERACTION):
            answered = await self._interactions.fulfil(quoted, body(part))
            if answered is None and not self._interactions.knows(quoted):
                answered = await self._answered_before(target, quoted, part)
            if answered is not None:
                return answered
            quoted = None
        payload = {**body(part), "nonce": nonce(key), "enforce_nonce": True}
        if quoted is None:
            return await self._create(target, payload)
        reference = {
            "message_id": quoted,
            "channel_id": target.chat,
            "fail_if_not_exists": False,
        }
        try:
            return await self._create(target, {**payload, "message_reference": reference})
        except FAILURES as error:
            if not is_reference_trouble(error):
                raise
            log.info("quoting was refused, sending without: %s", reason_of(error))
            return await self._create(target, payload)

    async def _send_file(self, target: ReplyTarget, file: File, key: str) -> str:
        """Send a file in a message of its own; it quotes nothing, as it follows a text."""
        route = Route("POST", _MESSAGES, channel_id=int(target.chat))
        payload = {
            "attachments": [{"id": 0, "filename": file.name, "description": file.alt}],
            "allowed_mentions": {"parse": []},
            "nonce": nonce(key),
            "enforce_nonce": True,
        }
        upload = discord.File(io.BytesIO(file.data), file.name)
        form: list[dict[str, Any]] = [
            {"name": "payload_json", "value": json.dumps(payload)},
            {
                "name": "files[0]",
                "value": upload.fp,
                "filename": file.name,
                "content_type": file.mime,
            },
        ]
        return _number(await self._http().request(route, files=[upload], form=form))

    async def _create(self, target: ReplyTarget, payload: dict[str, Any]) -> str:
        route = Route("POST", _MESSAGES, channel_id=int(target.chat))
        return _number(await self._http().request(route, json=payload))

    async def _answered_before(
        self, target: ReplyTarget, command: str, part: DiscordPart
    ) -> str | None:
        """Look for an answer that a killed process gave in the place of "thinking".

        Such an answer carries no key, so the chat is read: a message made for this very command,
        with these very words.
        """
        number = command.removeprefix(INTERACTION)
        route = Route("GET", _MESSAGES, channel_id=int(target.chat))
        try:
            messages = await self._http().request(route, params={"after": number, "limit": 50})
        except FAILURES as error:
            log.debug("the chat cannot be read: %s", reason_of(error))
            return None
        for message in messages if isinstance(messages, list) else ():
            behind = message.get("interaction_metadata") or {}
            shown = not message.get("flags", 0) & _LOADING
            if behind.get("id") == number and shown and message["content"] == part.text.strip():
                return str(message["id"])
        return None

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show "typing" until the context is left. Never raises, never delays."""
        return self._calls.sign(lambda: self._keep_typing(target))

    async def _keep_typing(self, target: ReplyTarget) -> None:
        while True:
            try:
                placed = await self._placed(target)
                number = int(placed.chat)
                route = Route("POST", "/channels/{channel_id}/typing", channel_id=number)
                async with asyncio.timeout(REQUEST_SECONDS):
                    await self._http().request(route)
            except (*FAILURES, NotSent) as error:
                log.debug("no typing sign: %s", reason_of(error))
            await asyncio.sleep(TYPING_SECONDS)


def _number(message: Any) -> str:
    """Return the id of a message that was made. Raises OutcomeUnknown for any other answer."""
    if not isinstance(message, dict) or "id" not in message:
        raise OutcomeUnknown("an answer that is no message")
    return str(message["id"])


def body(part: DiscordPart) -> dict[str, Any]:
    """Return what every path sends: the words, the buttons, nobody notified, no previews."""
    return {
        "content": part.text,
        "components": [
            {"type": _ROW, "components": row}
            for row in (*([_menu(menu)] for menu in part.menus), *map(_buttons, part.buttons))
        ],
        "allowed_mentions": {"parse": []},
        "flags": _SUPPRESS_EMBEDS,
    }


def _buttons(row: Sequence[ButtonSpec]) -> list[dict[str, Any]]:
    return [
        {
            "type": _BUTTON,
            "style": _SECONDARY,
            "label": button.label,
            "custom_id": button.custom_id,
        }
        for button in row
    ]


def _menu(menu: MenuSpec) -> dict[str, Any]:
    options = [{"label": one.label, "value": one.custom_id} for one in menu.options]
    return {"type": _SELECT, "custom_id": menu.custom_id, "options": options}


def nonce(key: str) -> str:
    """Return an idempotency key in at most 25 characters, as the platform wants it."""
    return urlsafe_b64encode(hashlib.blake2b(key.encode(), digest_size=16).digest()).decode()[:22]
