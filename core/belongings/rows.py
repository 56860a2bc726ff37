"""Which rows of which table are a learner's. Pure selection; nothing is read or changed here.

Every table with a learner, an account, or a reference to a row of such a table has its line here;
``tests/store/test_belongings.py`` fails for a table that has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, String, cast, literal
from sqlmodel import Session, SQLModel, col, or_, select

from core.store.tables import (
    AccessRequest,
    Account,
    Card,
    Consent,
    Consolidation,
    Conversation,
    Delivered,
    Evidence,
    Inbound,
    Item,
    Learner,
    Line,
    Link,
    LinkCode,
    LinkGuess,
    Nudge,
    Outgoing,
    PersonaChoice,
    Quiz,
    QuizAnswer,
    Reminder,
    Review,
    Turn,
)

SPOKEN_IN = (Inbound, Turn, Line, PersonaChoice, Quiz, Outgoing)
"""The tables whose rows name a conversation."""

_A_LEARNERS = (
    Turn,
    Line,
    PersonaChoice,
    Card,
    Review,
    Item,
    Evidence,
    Quiz,
    Nudge,
    Reminder,
    Consolidation,
)
"""The tables that are told apart by their ``learner_id`` alone."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who learns here, with all learners that were joined to one, and all accounts."""

    learners: tuple[str, ...]
    """Ids, that of the present one first."""
    accounts: tuple[str, ...]


def person(session: Session, learner_id: str) -> Person:
    """Return who a learner is. A learner without a row has an id only: their files may be left."""
    learners = [learner_id]
    for one in learners:  # grows on the way
        joined = select(Learner.id).where(Learner.merged_into == one).order_by(Learner.id)
        learners += session.exec(joined)
    accounts = select(Account.id).where(col(Account.learner_id).in_(learners)).order_by(Account.id)
    return Person(tuple(learners), tuple(session.exec(accounts)))


def rows_of(who: Person) -> Mapping[type[SQLModel], ColumnElement[bool]]:
    """Return the condition by which each table's rows are this person's."""
    learners, accounts = list(who.learners), list(who.accounts)
    inbound = or_(col(Inbound.learner_id).in_(learners), col(Inbound.sender).in_(accounts))
    received = cast(col(Inbound.id), String)
    outgoing = or_(
        col(Outgoing.learner_id).in_(learners),
        *(
            # What was answered before there was a learner is known by its cause only.
            col(Outgoing.key).in_(select(literal(cause) + received).where(inbound))
            for cause in ("inbound:", "refused:")
        ),
        *(
            col(Outgoing.key).startswith(f"{cause}:{account}:", autoescape=True)
            for cause in ("approved", "refused")
            for account in accounts
        ),
    )
    own: dict[type[SQLModel], ColumnElement[bool]] = {
        table: col(table.learner_id).in_(learners) for table in _A_LEARNERS
    }
    quizzes = select(Quiz.id).where(own[Quiz])
    return own | {
        Learner: col(Learner.id).in_(learners),
        Account: col(Account.id).in_(accounts),
        AccessRequest: col(AccessRequest.account_id).in_(accounts),
        Conversation: _conversations(own, inbound, outgoing),
        Inbound: inbound,
        Outgoing: outgoing,
        Delivered: col(Delivered.outgoing_id).in_(select(Outgoing.id).where(outgoing)),
        Consent: col(Consent.turn_id).in_(select(Turn.id).where(own[Turn])),
        QuizAnswer: or_(
            col(QuizAnswer.learner_id).in_(learners), col(QuizAnswer.quiz_id).in_(quizzes)
        ),
        LinkCode: or_(
            col(LinkCode.learner_id).in_(learners), col(LinkCode.account_id).in_(accounts)
        ),
        LinkGuess: col(LinkGuess.account_id).in_(accounts),
        Link: or_(col(Link.kept_id).in_(learners), col(Link.other_id).in_(learners)),
    }


def _conversations(
    own: Mapping[type[SQLModel], ColumnElement[bool]],
    inbound: ColumnElement[bool],
    outgoing: ColumnElement[bool],
) -> ColumnElement[bool]:
    """Those in which this person spoke or was spoken to, and nobody else."""
    mine: dict[type[SQLModel], ColumnElement[bool]]
    mine = {**own, Inbound: inbound, Outgoing: outgoing}
    theirs = col(Conversation.id)
    spoken = or_(
        *(theirs.in_(select(table.conversation_id).where(mine[table])) for table in SPOKEN_IN)
    )
    for table in SPOKEN_IN:
        others = select(table.conversation_id).where(
            ~mine[table], col(table.conversation_id).is_not(None)
        )
        spoken = spoken & theirs.not_in(others)
    return spoken
