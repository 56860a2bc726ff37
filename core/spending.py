"""What was spent on models today, whether more may be, and who hears of it when not.

A day is a calendar day in the house's own zone, so that nobody gets a second one by moving their
clock. What is counted stands in the turns that have ended, and in the calls about memory; several
at once may go a little over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlmodel import Session, col, func, select

from core.access import reachable_owners
from core.clock import local_instant
from core.context import ReplyTarget
from core.document import Document
from core.i18n import Language, language_from, words_for
from core.limits import Limits, Scope, Spent, reached
from core.outbox import post
from core.store.tables import Consolidation, Turn


@dataclass(frozen=True, slots=True)
class Spending:
    """Watches the limits of one house."""

    limits: Limits
    zone: str
    """IANA zone of the house."""
    language: Language
    """Of owners whose language is not known."""
    owners: Collection[str]
    """Accounts that are owners by the settings."""

    def today(self, session: Session, now: datetime, learner_id: str | None = None) -> Spent:
        """Return what was spent since midnight, by one learner or by all together."""
        zone = ZoneInfo(self.zone)
        midnight = local_instant(now.astimezone(zone).date(), time(), zone)
        spent = Spent(0, 0.0)
        for table in (Turn, Consolidation):
            statement = select(
                func.sum(col(table.prompt_tokens) + col(table.completion_tokens)),
                func.sum(table.cost),
            ).where(col(table.ended_at) >= midnight)
            if learner_id is not None:
                statement = statement.where(col(table.learner_id) == learner_id)
            tokens, cost = session.exec(statement).one()
            spent = Spent(spent.tokens + int(tokens or 0), spent.cost + float(cost or 0.0))
        return spent

    def starts_again(self, now: datetime) -> datetime:
        """Return the next midnight."""
        zone = ZoneInfo(self.zone)
        return local_instant(now.astimezone(zone).date() + timedelta(days=1), time(), zone)

    def reached(self, session: Session, now: datetime, learner_id: str) -> Scope | None:
        """Return whose limit keeps this learner's next question from the model, if one does."""
        limits = self.limits
        nothing = Spent(0, 0.0)
        total = learner = nothing
        if limits.total_tokens_per_day or limits.total_cost_per_day:
            total = self.today(session, now)
        if limits.learner_tokens_per_day or limits.learner_cost_per_day:
            learner = self.today(session, now, learner_id)
        return reached(limits, learner, total)

    def tell_owners(self, session: Session, now: datetime, *, but: str) -> None:
        """Write to the owners that the limit of all is reached, once a day; not to ``but``."""
        day = now.astimezone(ZoneInfo(self.zone)).date()
        again = self.starts_again(now)
        for learner in reachable_owners(session, self.owners):
            if learner.id == but:
                continue
            words = words_for(
                learner.language or language_from(learner.home_language, self.language)
            )
            text = words(
                "Today's limit for everybody together is reached, so I answer no more questions "
                "before {time} ({zone}). The limits are under [limits] in partners.toml.",
                time=words.time(again, learner.zone),
                zone=learner.zone,
            )
            post(
                session,
                key=f"limit:{day}:{learner.id}",
                target=ReplyTarget.model_validate_json(learner.home or ""),
                document=Document(markdown=text),
                now=now,
                language=words.language,
                learner_id=learner.id,
            )
