"""A house behind a desk: a channel in this process that people hand anything over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    Capabilities,
    Intake,
    Leaving,
    Part,
    Sent,
    Shown,
    Watch,
    at_once,
)
from core.commands.declare import Menu
from core.context import (
    AccountId,
    Attachment,
    AttachmentKind,
    ChatKind,
    InboundMessage,
    Quote,
    ReplyTarget,
    Sender,
    Text,
)
from core.document import Document
from memory.layers import LearnerFolder
from tests.house.indoors import Indoors


class DeskChannel:
    """Keeps files by their ids; what is not there is gone."""

    name = "desk"
    account = "1"
    capabilities = Capabilities(can_edit=False, repeatable_for=0, proactive=True)

    def __init__(self, files: Mapping[str, bytes | Exception | asyncio.Event]) -> None:
        self.files = files
        self.fetched: list[str] = []
        self.said: list[Document] = []
        self.intake: Intake | None = None

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        self.intake = intake

    async def stop(self) -> None:
        pass

    def render(self, document: Document) -> Sequence[Part]:
        return (Part(document),)

    async def send(
        self,
        target: ReplyTarget,
        part: Part,
        *,
        key: str,
        reply: bool,
        leaving: Leaving = at_once,
    ) -> Sent:
        await leaving()
        assert isinstance(part.payload, Document)
        self.said.append(part.payload)
        return Sent(f"out-{len(self.said)}", target.chat)

    async def edit(self, target: ReplyTarget, message_id: str, part: Part) -> None:
        raise TypeError("nothing is edited here")

    def typing(self, target: ReplyTarget) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def preview(
        self,
        target: ReplyTarget,
        *,
        key: str,
        handle: str | None,
        shown: Shown,
        again: bool = False,
    ) -> AbstractAsyncContextManager[Watch]:
        return nullcontext(lambda _: None)

    async def conclude(self, target: ReplyTarget, handle: str, part: Part) -> Sent:
        raise TypeError("no preview becomes a message here")

    async def fetch(self, attachment: Attachment, *, most: int) -> bytes:
        self.fetched.append(attachment.id)
        file = self.files.get(attachment.id)
        if isinstance(file, Exception):
            raise file
        if isinstance(file, asyncio.Event):
            await file.wait()
            raise AttachmentGone("too late")
        if file is None:
            raise AttachmentGone("not here")
        if len(file) > most:
            raise AttachmentTooLarge("too large")
        return file

    def health(self) -> str | None:
        return None


class Desk(Indoors):
    """One house with one desk, at which Ada sits alone unless ``who`` says otherwise."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.files: dict[str, bytes | Exception | asyncio.Event] = {}
        self.desk = DeskChannel(self.files)
        self._number = 0

    def channel(self) -> DeskChannel:
        return self.desk

    def all_taken(self) -> bool:
        return True

    async def taken(self) -> None:
        """What is handed over is committed at once."""

    def put(
        self,
        file: bytes | Exception | asyncio.Event | None,
        name: str | None = None,
        kind: AttachmentKind = AttachmentKind.FILE,
        **values: Any,
    ) -> Attachment:
        """Lay a file down; None for one that is gone already."""
        self._number += 1
        attachment = Attachment(id=f"file-{self._number}", kind=kind, name=name, **values)
        if file is not None:
            self.files[attachment.id] = file
        return attachment

    async def hand(
        self,
        text: str,
        *attachments: Attachment,
        quote: Quote | None = None,
        who: str = "Ada",
        **values: Any,
    ) -> InboundMessage:
        """Hand a message over; it is committed then."""
        self._number += 1
        message = InboundMessage.model_validate(
            {
                "message_id": str(self._number),
                "target": ReplyTarget(channel="desk", account="1", chat=who),
                "chat_kind": ChatKind.PRIVATE,
                "sender": Sender(account=AccountId(f"desk:{who.lower()}"), name=who),
                "content": Text(text=text),
                "addressed": True,
                "attachments": attachments,
                "quote": quote,
                "received_at": self.clock.now(),
                **values,
            }
        )
        assert self.desk.intake is not None
        await self.desk.intake([message])
        return message

    async def ask(self, text: str, *attachments: Attachment, **values: Any) -> str:
        """Hand a message over; return the one answer."""
        before = len(self.desk.said)
        await self.hand(text, *attachments, **values)
        await self.quiet()
        [answer] = self.desk.said[before:]
        return answer.markdown

    @property
    def journal(self) -> str:
        """All that the first layers of memory say."""
        folders = [LearnerFolder(self.memory, one.name) for one in self.memory.iterdir()]
        files = [file for one in folders for file in sorted(one.events.glob("*.md"))]
        return "\n".join(file.read_text("utf-8") for file in files)
