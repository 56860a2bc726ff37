"""A chat got another address on its platform: what is stored of it goes there too."""

from __future__ import annotations

from sqlmodel import Session, col, select, update

from core.context import ReplyTarget
from core.store.tables import Conversation, Line, Outgoing, OutgoingState, Quiz, QuizState


def moved(session: Session, channel: str, account: str, old: str, new: str) -> None:
    """Let everything of the chat ``old`` be of the chat ``new``; doing it again changes nothing.

    What was said in ``new`` before we heard of the move joins what was said in ``old``.
    """
    before, after = (f"{channel}\n{account}\n{chat}\n" for chat in (old, new))
    rows = session.exec(
        select(Conversation).where(col(Conversation.key).startswith(before, autoescape=True))
    ).all()
    for row in rows:
        key = after + row.key.removeprefix(before)
        there = session.exec(select(Conversation).where(Conversation.key == key)).first()
        if there is None:
            row.key = key
        else:
            session.exec(
                update(Line)
                .where(col(Line.conversation_id) == row.id)
                .values(conversation_id=there.id)
            )
    waiting = select(Outgoing).where(
        Outgoing.channel == channel,
        Outgoing.account == account,
        Outgoing.chat == old,
        col(Outgoing.state).in_((OutgoingState.PENDING, OutgoingState.SENDING)),
    )
    for parcel in session.exec(waiting).all():
        parcel.chat = new
        parcel.target = _readdressed(parcel.target, new)
    for quiz in session.exec(select(Quiz).where(Quiz.state == QuizState.ASKING)).all():
        target = ReplyTarget.model_validate_json(quiz.target)
        if (target.channel, target.account, target.chat) == (channel, account, old):
            quiz.target = _readdressed(quiz.target, new)


def _readdressed(target: str, chat: str) -> str:
    """An address elsewhere. Message ids begin anew there, so it replies to nothing."""
    whole = ReplyTarget.model_validate_json(target)
    there = whole.model_copy(update={"chat": chat, "reply_to": None})
    return there.model_dump_json(exclude_defaults=True)
