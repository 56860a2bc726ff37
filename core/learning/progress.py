"""What a learner has done, in numbers, from the raw log of reviews."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from sqlmodel import Session, col, func, select

from core.learning.deck import due_count
from core.learning.spacing import Rating
from core.store.tables import Card, Review

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Progress:
    """A learner's cards and reviews as of a study day."""

    cards: int
    due: int
    """In ``/review`` now."""
    week_reviews: int
    """Answers in the last seven study days, today included."""
    week_right: int
    """Of these, not answered with Again."""
    week_days: int
    """Study days with an answer among the last seven."""
    all_reviews: int


def progress(session: Session, learner_id: str, today: date) -> Progress:
    """Count what a learner has done up to a study day."""
    since = today - WEEK
    week = session.exec(
        select(col(Review.study_day), col(Review.rating)).where(
            Review.learner_id == learner_id,
            col(Review.study_day) > since,
            col(Review.study_day) <= today,
        )
    ).all()
    return Progress(
        cards=session.exec(
            select(func.count()).select_from(Card).where(Card.learner_id == learner_id)
        ).one(),
        due=due_count(session, learner_id, today),
        week_reviews=len(week),
        week_right=sum(rating != Rating.AGAIN for _, rating in week),
        week_days=len({day for day, _ in week}),
        all_reviews=session.exec(
            select(func.count()).select_from(Review).where(Review.learner_id == learner_id)
        ).one(),
    )
