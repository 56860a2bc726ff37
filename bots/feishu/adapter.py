"""The life of a Feishu app: the ``Channel`` port over connection, receiving and transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from bots.feishu.failures import (
    CALL_ERRORS,
    NO_BOT,
    CallError,
    is_final,
    reason_of,
    wrong_secret,
)
from bots.feishu.files import fetch
from bots.feishu.lookups import Lookups
from bots.feishu.posting import Posting
from bots.feishu.receive import CHANNEL, Me
from bots.feishu.receiving import Receiving
from bots.feishu.render import FeishuPart, beginning, render
from bots.feishu.rest import NO_CODE, NoTokenError, Refusal, Rest
from bots.feishu.settings import ORIGINS
from bots.feishu.streaming import Streaming
from bots.feishu.transport import Transport
from bots.limiter import Limiter, Rates
from bots.parts import message_of, payload_of
from bots.previews import Edited, growing
from core.channel import (
    AttachmentTooLarge,
    AttachmentUnreachable,
    Capabilities,
    ChannelStartError,
    ChannelUnreachable,
    Intake,
    Leaving,
    NotSent,
    Part,
    Sent,
    Shown,
    Watch,
    at_once,
)
from core.clock import Clock, SystemClock
from core.commands.declare import Menu
from core.context import Attachment, ReplyTarget
from core.document import Document
from core.i18n import Words

if TYPE_CHECKING:
    from bots.feishu.connection import Connection, Pace

log = logging.getLogger(__name__)

RATES: Final = Rates(per_chat=5.0, per_group_minute=300, overall=50)
"""What an app may send: five messages a second to one person or group, 50 calls a second."""

REPEATABLE_SECONDS: Final = 3600.0
"""How long the platform shows a message once under one ``uuid``."""

STOP_SECONDS: Final = 2.0
"""How long ``stop`` waits for commits and for sends under way."""

PREVIEW_SECONDS: Final = 0.7
"""Between two steps of a preview: a card takes ten changes a second, an app fifty."""


class FeishuChannel:
    """One app. ``words`` are for the one who runs the tutor; ``rates`` None lifts them.

    ``domain`` is the origin of the platform, ``https://open.feishu.cn`` for one. With
    ``answers_all`` a message to all of a group is one to us.
    """

    name: str = CHANNEL
    capabilities = Capabilities(can_edit=True, repeatable_for=REPEATABLE_SECONDS, proactive=True)

    def __init__(
        self,
        app_id: str,
        secret: SecretStr,
        *,
        words: Words,
        domain: str = ORIGINS["feishu"],
        rates: Rates | None = RATES,
        answers_all: bool = False,
        clock: Clock | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.account: str = app_id
        self._secret = secret
        self._words = words
        self._domain = domain
        self._answers_all = answers_all
        self._clock = clock or SystemClock()
        self._pace = pace
        self._limiter = Limiter(rates)
        self._rest: Rest | None = None
        self._transport: Transport | None = None
        self._streaming: Streaming | None = None
        self._receiving: Receiving | None = None
        self._connection: Connection | None = None

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        """Introduce the bot, open the long connection. Raises ChannelStartError.

        The platform takes a bot's menu from its developer console alone, so ``menus`` stay unused.
        """
        # The library takes seconds to load, in which the other doors need not stand still.
        await asyncio.to_thread(import_module, "bots.feishu.connection")
        from bots.feishu.connection import ConnectError, Connection, Pace

        rest = Rest(self.account, self._secret, self._domain)
        started = False
        try:
            me = await self._introduce(rest)
            pace = self._pace or Pace()
            receiving = Receiving(
                intake,
                Lookups(rest, me, pace.look_up),
                me,
                seconds=pace.commit,
                clock=self._clock,
                words=self._words,
            )
            connection = Connection(
                rest, self.account, receiving.take, words=self._words, pace=pace
            )
            try:
                await connection.start()
            except ConnectError as error:
                kind = ChannelStartError if error.final else ChannelUnreachable
                raise kind(str(error)) from error
            started = True
        finally:
            if not started:
                await rest.close()
        self._rest, self._receiving, self._connection = rest, receiving, connection
        posting = Posting(rest, self._limiter)
        self._transport = Transport(rest, posting)
        self._streaming = Streaming(rest, posting, self._clock)

    async def stop(self) -> None:
        """Stop receiving, let sends under way finish, disconnect. Safe to call twice."""
        rest, self._rest = self._rest, None
        if rest is None or not (self._transport and self._receiving and self._connection):
            return
        try:
            await asyncio.gather(
                self._connection.stop(STOP_SECONDS), self._transport.close(STOP_SECONDS)
            )
            await self._receiving.close(STOP_SECONDS)
        finally:
            await rest.close()

    def render(self, document: Document) -> Sequence[Part]:
        """Split a document into cards within the platform's limits."""
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
        """Send one part; under the same key it is shown once. Raises a SendError."""
        return await self._open().send(
            target, payload_of(part, FeishuPart), key=key, reply=reply, leaving=leaving
        )

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        """Replace a sent card. Raises a SendError."""
        await self._open().edit(target, message_id, message_of(part, FeishuPart))

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        """Show a reaction until the context is left. Never raises; nothing is shown when closed."""
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
        """Show the growing answer in a card that streams."""
        cards = self._streaming
        if cards is None or not cards.allowed:
            return nullcontext(lambda event: None)

        async def send(text: str) -> str:
            return await cards.begin(target, text, key)

        async def edit(card: str, text: str) -> None:
            await cards.grow(card, text)

        edited = Edited(beginning, send, edit, handle=handle, shown=shown, repeatable=True)
        return growing(edited.show, pause=PREVIEW_SECONDS, again=again)

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        """Put the final answer in the place of a preview. Raises a SendError."""
        if self._streaming is None:
            raise NotSent("the channel has not started")
        return await self._streaming.conclude(target, handle, message_of(part, FeishuPart))

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        """Get an attachment. Raises a FetchError."""
        if self._rest is None:
            raise AttachmentUnreachable("the channel is not open")
        if (attachment.size or 0) > most:
            raise AttachmentTooLarge(f"{attachment.size} bytes")
        return await fetch(self._rest, attachment.id, most)

    def health(self) -> str | None:
        """None while events come in, else a sentence that says what is wrong."""
        if self._rest is None or self._connection is None or self._receiving is None:
            return self._words("Feishu is not connected.")
        return self._connection.trouble or self._receiving.trouble

    def _open(self) -> Transport:
        if self._transport is None:
            raise NotSent("the channel has not started")
        return self._transport

    async def _introduce(self, rest: Rest) -> Me:
        """Return who the bot is."""
        try:
            answer = await rest.call("GET", "/bot/v3/info")
            bot = answer["bot"]
            me = Me(self.account, str(bot["open_id"]), self._answers_all)
        except CALL_ERRORS as error:
            raise self._start_error(error) from error
        except (KeyError, TypeError) as error:
            raise self._start_error(Refusal(200, NO_CODE, "no bot")) from error
        log.info("connected as %s", bot.get("app_name"))
        return me

    def _start_error(self, error: CallError) -> ChannelStartError:
        cause = error.__cause__ if isinstance(error, NoTokenError) else error
        if cause is not error and isinstance(cause, Refusal) and is_final(cause):
            return ChannelStartError(wrong_secret(self._words))
        if isinstance(cause, Refusal) and cause.code in NO_BOT:
            return ChannelStartError(
                self._words(
                    "This app has no bot. Add the bot capability in the developer console and "
                    "publish the app."
                )
            )
        return ChannelUnreachable(
            self._words(
                "Feishu cannot be reached ({reason}). Check the connection and FEISHU_DOMAIN.",
                reason=reason_of(error),
            )
        )
