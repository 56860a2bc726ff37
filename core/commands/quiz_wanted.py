"""What a quiz is to be about: the arguments of ``/quiz``, or the talk that it follows."""

from __future__ import annotations

import re
from typing import Final

from sqlmodel import Session, col, select

from core.commands.request import Request
from core.context import Role
from core.learning import quiz
from core.learning.authoring import Wanted
from core.learning.items import ItemKind
from core.store.tables import Conversation, Line

QUESTIONS: Final = 5
MOST_QUESTIONS: Final = 15
_TALK_LINES: Final = 12
"""Lines of the talk that a quiz without a topic is about."""

_COUNT: Final = re.compile(
    r"^(?P<topic>.*?)[\s,，]*(?<!\d)(?P<count>\d{1,2})\s*(?:questions?|q|道题?|题|个问题)?$",
    re.DOTALL,
)


def topic_and_count(given: str) -> tuple[str, int]:
    """The topic and the number of questions of ``/quiz TOPIC NUMBER``."""
    found = _COUNT.match(given)
    if found is None:
        return given, QUESTIONS
    count = min(max(int(found["count"]), 1), MOST_QUESTIONS)
    return found["topic"].strip(), count


def wanted_of(session: Session, request: Request, topic: str, count: int) -> Wanted | None:
    """What to ask of the model; None where there is nothing to make questions of.

    In a group it is told nothing of the learner: neither their talk nor what they were asked.
    """
    language = request.words.language
    if not request.private:
        kinds = frozenset({ItemKind.CHOICE})
        return Wanted(topic, count, language, kinds=kinds) if topic else None
    talk = "" if topic else _talk(session, request)
    if not topic and not talk:
        return None
    known = quiz.known_questions(session, request.learner_id)
    return Wanted(topic or "What this conversation was about.", count, language, talk, known=known)


def _talk(session: Session, request: Request) -> str:
    """The newest lines of the conversation, for a quiz about what was talked about."""
    since = session.get_one(Conversation, request.conversation_id).history_from
    rows = session.exec(
        select(Line)
        .where(
            Line.conversation_id == request.conversation_id,
            col(Line.id) > since,
            col(Line.superseded_by).is_(None),
        )
        .order_by(col(Line.id).desc())
        .limit(_TALK_LINES)
    ).all()
    who = {Role.LEARNER.value: "Learner", Role.TUTOR.value: "Tutor"}
    return "\n\n".join(f"{who.get(row.role, row.role)}: {row.text}" for row in reversed(rows))
