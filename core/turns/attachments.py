"""What came with a question, for its turn: read, put into words, and kept in short for later.

Every attachment that could not be read is one sentence to the learner, above the answer. The
history keeps the names and the beginning of what was read, so that a later question can refer to
it; the newest picture is fetched anew while the talk may still be about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlmodel import Session, col, select

from core.context import (
    Attachment,
    AttachmentKind,
    InboundMessage,
    Material,
    ReplyTarget,
    Role,
)
from core.document import plain
from core.i18n import Words, words_for
from core.ids import new_id
from core.reading.kinds import shown_name
from core.reading.reader import MOST, Fetch, Found, Reader
from core.reading.trouble import said
from core.store.tables import Conversation, Inbound, Line
from core.turns.joining import question_of
from memory.journal import Event
from memory.layers import Surface

KEPT_TEXT: Final = 4_000
"""Characters of what was read that the history keeps of one message."""
FIRST_WORDS: Final = 160
"""Characters of a text that go into the journal."""
HEARD: Final = 300
"""Characters of a transcript that are shown back."""
EXCHANGES: Final = 3
"""A picture is given again while the learner has said no more than this since."""
ATTACHED: Final = "[attached"
"""Begins what the history keeps of an attachment."""

_NAMELESS: Final = {
    AttachmentKind.IMAGE: "a picture",
    AttachmentKind.VOICE: "a voice message",
    AttachmentKind.FILE: "a file",
}


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a question's attachments are to its turn."""

    materials: tuple[Material, ...] = ()
    notices: tuple[str, ...] = ()
    """Sentences for the learner, as Markdown, that stand above the answer."""
    spoken: str = ""
    """What the learner said in voice messages."""
    readable: bool = False
    """There is something for the model."""

    def attached(self, written: str) -> str:
        """Return what the history keeps beside ``written``, the learner's own text; may be empty.

        Without own text the spoken words stand in its place already.
        """
        parts = [one for one in self.materials if not one.earlier]
        if not written.strip():
            parts = [one for one in parts if one.quoted or not one.heard]
        return "\n".join(_kept(one, KEPT_TEXT // max(len(parts), 1)) for one in parts)

    def event(self, now: datetime, at: datetime) -> Event | None:
        """Return what the journal says of the learner's own files and pictures."""
        own = [one for one in self.materials if not (one.quoted or one.earlier or one.heard)]
        if not own:
            return None
        return Event(new_id(now), at, Surface.MATERIALS, "sent " + "; ".join(map(_first, own)))


async def gather(
    question: InboundMessage,
    reader: Reader,
    fetch: Fetch,
    words: Words,
    *,
    sees: bool,
    earlier: Attachment | None = None,
) -> Gathered:
    """Read what came with ``question``, and with the message that it quotes.

    ``earlier`` is a picture of before that is looked at again when nothing but words came, silently
    left out when it is gone.
    """
    quote = question.quote
    own = [(one, False) for one in question.attachments]
    quoted = [(one, True) for one in quote.attachments] if quote else []
    everything = own + quoted
    wanted = everything[:MOST]
    found = await reader.read([one for one, _ in wanted], fetch, sees=sees)
    materials = [
        _material(one, result, quoted=is_quoted)
        for (one, is_quoted), result in zip(wanted, found, strict=True)
    ]
    notices = [
        said(result.trouble, one, _escaped(shown_name(one)), words)
        for (one, _), result in zip(wanted, found, strict=True)
        if result.trouble is not None
    ]
    if len(everything) > MOST:
        notices.append(
            words(
                "You sent {count} attachments at once; I looked at the first {most}.",
                count=words.number(len(everything)),
                most=words.number(MOST),
            )
        )
    spoken = "\n\n".join(one.text for one in materials if one.heard and not one.quoted)
    if spoken:
        shown = spoken if len(spoken) <= HEARD else f"{spoken[:HEARD]} …"
        notices.append(words("I heard: {text}", text=plain(" ".join(shown.split()))))
    if earlier is not None and sees and all(one.heard for one in materials):
        [again] = await reader.read([earlier], fetch, sees=True)
        if again.picture is not None:
            materials.append(_material(earlier, again, earlier=True))
    return Gathered(
        tuple(materials),
        tuple(notices),
        spoken,
        any(one.text or (one.picture and not one.earlier) for one in materials),
    )


def newest_picture(
    session: Session, conversation_id: str, target: ReplyTarget
) -> Attachment | None:
    """Return the picture that the talk may still be about: of the last exchanges, the newest."""
    conversation = session.get(Conversation, conversation_id)
    if conversation is None:
        return None
    recent = session.exec(
        select(Line.message_id)
        .where(
            Line.conversation_id == conversation_id,
            Line.role == Role.LEARNER,
            col(Line.id) > conversation.history_from,
        )
        .order_by(col(Line.id).desc())
        .limit(EXCHANGES)
    ).all()
    for message_id in recent:
        row_id = session.exec(
            select(Inbound.id).where(
                Inbound.channel == target.channel,
                Inbound.account == target.account,
                Inbound.message_id == message_id,
            )
        ).first()
        message = question_of(session, row_id) if row_id is not None else None
        if message is None:
            continue
        of_quote = message.quote.attachments if message.quote else ()
        for attachment in (*reversed(message.attachments), *reversed(of_quote)):
            if _is_picture(attachment):
                return attachment
    return None


def _escaped(name: str | None) -> str | None:
    return None if name is None else plain(name)


def _is_picture(attachment: Attachment) -> bool:
    shown = (attachment.mime or "").startswith("image/")
    return attachment.kind is AttachmentKind.IMAGE or shown


def _material(
    attachment: Attachment, found: Found, *, quoted: bool = False, earlier: bool = False
) -> Material:
    trouble = found.trouble
    name = shown_name(attachment)
    return Material(
        name=name or _NAMELESS[attachment.kind],
        quoted=quoted,
        earlier=earlier,
        heard=found.heard,
        text=found.text,
        left_out=found.left_out,
        picture=found.picture,
        trouble="" if trouble is None else said(trouble, attachment, name, words_for("en")),
    )


def _kept(one: Material, most: int) -> str:
    """One attachment as the history keeps it; its text is quoted, so that it ends where it does."""
    whose = " to the quoted message" if one.quoted else ""
    if not one.text:
        fate = ", not opened" if one.trouble else ""
        return f"{ATTACHED}{whose}: {one.name}{fate}]"
    cut = one.text if len(one.text) <= most else f"{one.text[:most]} …"
    lines = "\n".join(f"> {line}" for line in cut.splitlines())
    return (
        f"{ATTACHED}{whose}: {one.name}, which {'says' if cut == one.text else 'begins'}:]\n{lines}"
    )


def _first(one: Material) -> str:
    words = " ".join(one.text.removeprefix("[page 1]").split())
    if not words:
        return one.name
    return f"{one.name}: {words if len(words) <= FIRST_WORDS else f'{words[:FIRST_WORDS]}…'}"


def above(notices: Sequence[str], answer: str) -> str:
    """Return an answer's Markdown with the notices above it."""
    quoted = [f"> {notice}" for notice in notices]
    return "\n\n".join([*quoted, answer] if answer else list(notices))
