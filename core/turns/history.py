"""The talk so far, as a prompt has it: the newest lines of a conversation that still stand."""

from __future__ import annotations

from sqlalchemy import bindparam, func
from sqlmodel import Session, col, select

from core.capabilities.talk import MOST_LINES, beginning
from core.context import HistoryLine, Role
from core.store.tables import Conversation, Line
from memory.recall import estimate_tokens

_STANDS = (
    Line.conversation_id == bindparam("conversation"),
    col(Line.id)
    > select(Conversation.history_from)
    .where(Conversation.id == bindparam("conversation"))
    .scalar_subquery(),
    # At a second try the question stands in the history already.
    col(Line.message_id).is_distinct_from(bindparam("question")),
    col(Line.superseded_by).is_(None),
)
_NEWEST = (
    select(Line.role, Line.text, Line.speaker)
    .where(*_STANDS)
    .order_by(col(Line.id).desc())
    .limit(MOST_LINES)
)
_LENGTH = select(func.count()).select_from(Line).where(*_STANDS)


def history(
    session: Session, conversation_id: str, question: str, room: int, *, shared: bool
) -> tuple[HistoryLine, ...]:
    """Return the talk before ``question``, the message id of what is asked now.

    It has about ``room`` tokens at most (``core.capabilities.talk``). Speakers are named where the
    conversation is ``shared``.
    """
    wanted = {"conversation": conversation_id, "question": question}
    rows = session.exec(_NEWEST, params=wanted).all()[::-1]
    length = len(rows) if len(rows) < MOST_LINES else session.exec(_LENGTH, params=wanted).one()
    first = beginning([estimate_tokens(text) for _, text, _ in rows], length - len(rows), room)
    return tuple(
        HistoryLine(role=Role(role), text=text, speaker=speaker if shared else None)
        for role, text, speaker in rows[first:]
    )
