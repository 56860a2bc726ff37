"""The life of a Discord bot account: the ``Channel`` port over gateway, inbox and transport."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Final

from discord import Interaction, Message
from discord.enums import InteractionType
from discord.utils import utcnow
from pydantic import SecretStr

from bots.discord.addresses import Addresses
from bots.discord.download import Downloads
from bots.discord.gateway import Gateway, Pace
from bots.discord.history import missed
from bots.discord.inbox import Inbox
from bots.discord.interactions import THINKING_SECONDS, Interactions
from bots.discord.pace import PreviewPace
from bots.discord.receive import (
    CHANNEL,
    INTERACTION,
    Reader,
    receive,
    receive_edit,
    receive_interaction,
)
from bots.discord.registration import register
from bots.discord.render import DiscordPart, beginning, render
from bots.discord.settings import API_BASE, GATEWAY_URL
from bots.discord.suggest import suggestions
from bots.discord.threads import Threads
from bots.discord.transport import Transport
from bots.parts import message_of, payload_of
from bots.previews import Edited, growing
from core.channel import (
    AttachmentUnreachable,
    Capabilities,
    Intake,
    Leaving,
    NotSent,
    Part,
    Recall,
    Sent,
    Shown,
    Watch,
    at_once,
)
from core.commands.declare import Menu
from core.context import Attachment, InboundMessage, Press, ReplyTarget
from core.document import Document
from core.forms import FindForm, Form
from core.i18n import Words

log = logging.getLogger(__name__)

STOP_SECONDS: Final = 1.0
"""How long ``stop`` waits for commits and sends under way."""

PREVIEW_SECONDS: Final = 1.5
"""Between two edits of a preview: a channel takes about one a second."""

FORM_SECONDS: Final = 1.0
"""How long a press waits for its form: it must be the first response, within three seconds."""

WITHDRAW_SECONDS: Final = 0.5
"""How long it then takes back what commands were promised."""

NONCE_SECONDS: Final = 120.0
"""The platform remembers a nonce for "the past few minutes" (Create Message)."""


class DiscordChannel:
    """One bot account. ``words`` are for the one who runs the tutor."""

    name: str = CHANNEL
    capabilities = Capabilities(can_edit=True, repeatable_for=NONCE_SECONDS, proactive=True)

    def __init__(
        self,
        token: SecretStr,
        *,
        words: Words,
        api_base: str = API_BASE,
        gateway_url: str = GATEWAY_URL,
        pace: Pace | None = None,
        thinking_seconds: float = THINKING_SECONDS,
        thread_per_question: bool = False,
        preview_seconds: float = PREVIEW_SECONDS,
    ) -> None:
        """``thread_per_question``: a question in a channel is answered in a thread of its own."""
        self.account: str = ""
        self._words = words
        self._addresses = Addresses(api_base, gateway_url)
        self._gateway = Gateway(
            token.get_secret_value(), self, address=api_base, words=words, pace=pace or Pace()
        )
        self._interactions = Interactions(self._gateway.http, thinking_seconds=thinking_seconds)
        self._menus: Sequence[Menu] = ()
        self.thread_per_question = thread_per_question
        self._previews = PreviewPace(preview_seconds, time.monotonic)
        self._preview_seconds = preview_seconds
        self._recall: Recall | None = None
        self._find_form: FindForm | None = None
        self._heard = 0
        """The newest message that this process was told of."""
        self._inbox: Inbox | None = None
        self._downloads = Downloads(api_base)
        self._transport: Transport | None = None

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        """Introduce the bot, register the menus, begin to receive. Raises ChannelStartError."""
        self._menus = menus
        self._addresses.use()
        started = False
        try:
            client = await self._gateway.login()
            user = client.user
            self.account = str(user.id if user else "")
            self._inbox = Inbox(intake, self._words)
            await register(client, menus)
            await self._gateway.connect()
            log.info("connected as %s", user)
            threads = Threads(self._gateway.http, self._own_id)
            self._transport = Transport(
                self._gateway.http, self._interactions, self._downloads, threads
            )
            self._inbox.start()
            self._gateway.keep()
            started = True
        finally:
            if not started:
                await self._gateway.hang_up()
                await self._gateway.close()
                self._addresses.restore()

    async def stop(self) -> None:
        """Stop receiving, let sends under way finish, disconnect. Safe to call twice."""
        transport, self._transport = self._transport, None
        if transport is None or self._inbox is None:
            return
        try:
            await self._gateway.hang_up()
            await asyncio.gather(self._inbox.stop(STOP_SECONDS), transport.close(STOP_SECONDS))
            await self._interactions.close(WITHDRAW_SECONDS)
        finally:
            await self._gateway.close()
            self._addresses.restore()

    def render(self, document: Document) -> Sequence[Part]:
        """Split a document into messages within the platform's limits."""
        return [Part(payload=part) for part in (*render(document), *document.files)]

    async def send(
        self,
        target: ReplyTarget,
        part: Part,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        """Send one part; ``key`` makes a second send show once. Raises a SendError."""
        return await self._open().send(
            target, payload_of(part, DiscordPart), key=key, reply=reply, leaving=leaving
        )

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        """Replace a sent message. Raises a SendError."""
        await self._open().edit(target, message_id, message_of(part, DiscordPart))

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show "typing" until the context is left. Never raises; nothing is shown when closed."""
        return self._transport.typing(target) if self._transport else nullcontext()

    def preview(
        self,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
        again: bool = False,
    ) -> AbstractAsyncContextManager[Watch]:
        """Show the growing answer in a message that is edited; not in the place of "thinking"."""
        transport = self._transport
        if transport is None or (target.reply_to or "").startswith(INTERACTION):
            return nullcontext(lambda event: None)

        async def send(part: DiscordPart) -> str:
            self._previews.take(target.chat)
            return (await transport.send(target, part, key=key, reply=True)).message_id

        async def edit(message_id: str, part: DiscordPart) -> None:
            self._previews.take(target.chat)
            await transport.edit(target, message_id, part)

        edited = Edited(beginning, send, edit, handle=handle, shown=shown, repeatable=True)
        return growing(edited.show, pause=self._preview_seconds, again=again)

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        """Put the final answer in the place of a preview. Raises a SendError."""
        return await self._open().edit(target, handle, message_of(part, DiscordPart))

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        """Get an attachment. Raises a FetchError."""
        if self._transport is None:
            raise AttachmentUnreachable("the channel is not open")
        return await self._transport.fetch(attachment, most)

    def health(self) -> str | None:
        """None while events come in, else a sentence that says what is wrong."""
        if self._transport is None or self._inbox is None:
            return self._words("Discord is not connected.")
        return self._gateway.trouble or self._inbox.trouble

    def look_back(self, recall: Recall) -> None:
        """Ask for what was said meanwhile, at each start and whenever a session was lost."""
        self._recall = recall

    def open_forms(self, find: FindForm) -> None:
        """Answer a press with the form that ``find`` has for it."""
        self._find_form = find

    # What the gateway tells

    def begun(self) -> None:
        """Look back before anything new is handed over."""
        if self._inbox is not None and self._recall is not None:
            self._inbox.put_earlier(partial(self._missed, self._recall, self._heard))

    def said(self, message: Message) -> None:
        """Take a message in."""
        self._heard = max(self._heard, message.id)
        self._put(self._read(receive, message))

    def edited(self, message: Message) -> None:
        """Take the new version of a message in."""
        self._put(self._read(receive_edit, message))

    async def acted(self, interaction: Interaction[Any]) -> None:
        """Take a command or a press in, and respond to it in time."""
        if interaction.type is InteractionType.autocomplete:
            data: Any = interaction.data or {}
            found = suggestions(data, str(interaction.locale), self._menus)
            await self._interactions.suggest(interaction, found)
            return
        taken = receive_interaction(interaction, self.account)
        if taken is None or self._inbox is None:
            return
        form = await self._form(taken)
        if form is not None and await self._interactions.open(interaction, form):
            return  # what is sent with it is the event
        self._interactions.expect(interaction)
        await self._interactions.acknowledge(interaction, self._inbox.put(taken))

    async def _form(self, taken: InboundMessage) -> Form | None:
        """Return the form that a press opens, if it is found in time."""
        if self._find_form is None or not isinstance(taken.content, Press) or taken.content.filled:
            return None
        try:
            async with asyncio.timeout(FORM_SECONDS):
                return await self._find_form(taken)
        except TimeoutError:
            log.warning("a form was not found in time")
            return None

    def _read(self, reader: Reader, message: Message) -> InboundMessage | None:
        return reader(message, self._own_id, self.account, threads=self.thread_per_question)

    async def _missed(self, recall: Recall, heard: int) -> list[InboundMessage]:
        """Read what nobody told; whatever goes wrong, what is told from now on is taken."""
        try:
            known = await recall()
            last = heard or int(known.last.removeprefix(INTERACTION) if known else 0)
            if known is None or not last:
                return []
            reader = partial(self._read, receive)
            found = await missed(self._gateway.client, known.chats, last, utcnow(), reader)
        except NotSent as error:
            log.info("what was said meanwhile is looked for later: %s", error)
            return []
        except Exception:  # the one guard of a look back: whatever it meets, the inbox goes on
            log.exception("what was said meanwhile could not be looked for")
            return []
        if found:
            log.info("read what was said in the meantime: %d messages", len(found))
        return found

    @property
    def _own_id(self) -> int:
        return int(self.account)

    def _put(self, message: InboundMessage | None) -> None:
        if message is not None and self._inbox is not None:
            self._inbox.put(message)

    def _open(self) -> Transport:
        if self._transport is None:
            raise NotSent("the channel is not open")
        return self._transport
