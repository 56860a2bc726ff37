"""What a person types, or pipes in, becomes an inbound message. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from datetime import datetime

from bots.rendering.clean import printable
from core.commands.parse import split_command
from core.context import (
    AccountId,
    Attachment,
    ChatKind,
    Command,
    Content,
    InboundMessage,
    Press,
    ReplyTarget,
    Sender,
    Text,
)
from core.document import Button

CHANNEL = "terminal"


def account_of(user: str) -> AccountId:
    """The account of an operating system's user."""
    return AccountId(f"{CHANNEL}:{user}")


def decoded(data: bytes, encoding: str) -> str:
    """Read what came through a pipe: UTF-8, UTF-16 with its mark, else the host's ``encoding``.

    What is none of them keeps its readable part. The line end that ``echo`` adds is left out.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode(encoding, "replace")
    return text.strip("\r\n")


def receive(
    line: str,
    attachments: tuple[Attachment, ...] = (),
    *,
    message_id: str,
    user: str,
    window: str,
    language: str | None,
    offered: Sequence[Button],
    origin: str,
    now: datetime,
) -> InboundMessage:
    """Read a line: a number of an offered button, a command, or plain words.

    Words beside ``attachments`` are nothing else. ``window`` names the conversation; ``offered``
    are the buttons last shown, by the message ``origin``. Control characters are left out: no
    question needs one, and some cannot be stored.
    """
    return InboundMessage(
        message_id=message_id,
        target=ReplyTarget(channel=CHANNEL, account=window, chat=user),
        chat_kind=ChatKind.PRIVATE,
        sender=Sender(account=account_of(user), name=user, language=language),
        content=Text(text=printable(line)) if attachments else _content(line, offered, origin),
        attachments=attachments,
        addressed=True,
        received_at=now,
    )


def _content(line: str, offered: Sequence[Button], origin: str) -> Content:
    line = printable(line)
    picked = line.strip()
    if picked.isascii() and picked.isdecimal() and 1 <= int(picked) <= len(offered):
        return Press(action=offered[int(picked) - 1].action, origin=origin)
    if command := split_command(line):
        return Command(name=command[0], arguments=command[1])
    return Text(text=line)
