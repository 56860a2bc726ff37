"""When to come back to a learner by oneself: a pure plan from clock, habits, cards and history.

The rules: never without a due card; never in quiet hours; at most once a study day; at the chosen
local hour or, after downtime, later on the same study day; weekly after three ignored days; after
fourteen one goodbye, then silence until the learner writes. Nothing here sends or stores: the
caller makes a row of a ``Plan``, unique on (learner, ``slot``, ``day``), and passes it back as
history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import pairwise
from zoneinfo import ZoneInfo

from core.clock import ROLLOVER, local_instant, study_date
from core.learning.selection import DIGEST_LIMITS, Done, DueCard, Limits, due, queue

SLOT = "digest"
"""The slot of the daily questions; goodbyes use it too, so that a day never has both."""
AGAIN = "again"
"""The slot of a digest that the learner has put off to later on the same day."""
EVERY_DAY = frozenset(range(1, 8))

WEEKLY_AFTER = 3
"""Ignored digests in a row after which they come weekly."""
GOODBYE_AFTER = 14
"""Ignored days in all after which they stop."""
_WEEK = 7
_AHEAD = 3 * _WEEK
"""Days to look ahead for the next one: the longest rest is a week, the longest gap a day."""


class Kind(StrEnum):
    """What is sent."""

    DIGEST = "digest"
    GOODBYE = "goodbye"


class Reason(StrEnum):
    """Why nothing is sent now."""

    OFF = "off"
    """The learner has not agreed to reminders, or switched them off."""
    STOPPED = "stopped"
    """A goodbye was said; the learner's next word begins anew."""
    NOTHING_DUE = "nothing_due"
    DAY_FULL = "day_full"
    """Cards are due, but the day's share is done."""
    ALREADY_SENT = "already_sent"
    SNOOZED = "snoozed"
    """Put off by the learner."""
    WEEKLY = "weekly"
    """Ignored three times; the week is not over."""
    DAY_OFF = "day_off"
    """Not one of the days that the learner chose."""
    TOO_EARLY = "too_early"
    QUIET_HOURS = "quiet_hours"
    AGREED_LATER = "agreed_later"
    """The learner agreed after today's hour: the first one comes tomorrow."""


@dataclass(frozen=True, slots=True)
class LearnerTime:
    """A learner's habits, as far as reminders go. Times are wall-clock times in ``zone``."""

    zone: ZoneInfo
    hour: time = time(9)
    """When the digest comes; inside the quiet hours it means their end."""
    quiet_from: time = time(22)
    quiet_until: time = time(8)
    """First time that is not quiet any more. Equal to ``quiet_from``: no quiet hours."""
    enabled: bool = True
    consent_at: datetime | None = None
    """Instant of the learner's consent to reminders; without one nothing is ever sent."""
    last_active: datetime | None = None
    """Instant at which the learner last wrote or answered anything."""
    days: frozenset[int] = EVERY_DAY
    """Study days of the week on which one may come, ISO: Monday is 1."""
    cards: int | None = None
    """Questions of a digest at most; None leaves it to the limits."""
    snoozed_until: datetime | None = None
    """Instant until which the learner has put it off."""


@dataclass(frozen=True, slots=True)
class PastNudge:
    """An earlier plan that became a row, sent or not."""

    day: date
    """Its study day."""
    at: datetime
    """Instant it was planned for."""
    kind: Kind = Kind.DIGEST
    slot: str = SLOT
    delivered: bool = True
    """It reached the learner; another one still takes its day, but is not held against anyone."""
    answered: bool = False
    """The learner answered this very one, or wrote after it came."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A nudge to send now."""

    kind: Kind
    day: date
    """Study day: the local date of the unique key."""
    at: datetime
    """The instant it was planned for (UTC)."""
    cards: tuple[str, ...]
    """Ids of the cards to ask, in order; empty in a goodbye."""
    next_due_day: date | None
    """Study day of the next one if this one stays unanswered; None when there will be none."""
    next_instant: datetime | None
    """Its instant (UTC)."""
    slot: str = SLOT


@dataclass(frozen=True, slots=True)
class NotYet:
    """Nothing to send now."""

    reason: Reason
    next_instant: datetime | None
    """UTC instant of the next nudge as things stand; None when there will be none."""


class _Rhythm(StrEnum):
    DAILY = "daily"
    SENT = "sent"
    RESTING = "resting"
    GOODBYE = "goodbye"
    SILENT = "silent"


def plan(
    now: datetime,
    learner: LearnerTime,
    cards: Sequence[DueCard],
    history: Sequence[PastNudge],
    *,
    done: Done | None = None,
    limits: Limits = DIGEST_LIMITS,
) -> Plan | NotYet:
    """Decide what a sweep at ``now``, an aware instant, does for one learner.

    ``cards`` are all of the learner's cards, due or not; ``history`` holds at least the nudges
    since ``last_active``, and the latest one; ``done`` is what was answered on the study day of
    ``now``, read off the cards by default. ``ValueError`` for an instant without an offset.
    """
    day = study_date(now, learner.zone)
    now = now.astimezone(UTC)
    if not learner.enabled or learner.consent_at is None:
        return NotYet(Reason.OFF, None)
    rhythm = _rhythm(learner, history, day)
    if rhythm is _Rhythm.SILENT:
        return NotYet(Reason.STOPPED, None)
    tomorrow = day + timedelta(days=1)
    snoozed = learner.snoozed_until
    slot = AGAIN if _comes_again(learner, history, day) else SLOT
    if snoozed is not None and now < snoozed and rhythm is not _Rhythm.RESTING:
        later = day if slot == AGAIN or rhythm is not _Rhythm.SENT else tomorrow
        return NotYet(Reason.SNOOZED, _next(snoozed, learner, cards, history, later))
    if rhythm in (_Rhythm.SENT, _Rhythm.RESTING) and slot == SLOT:
        reason = Reason.ALREADY_SENT if rhythm is _Rhythm.SENT else Reason.WEEKLY
        return NotYet(reason, _next(now, learner, cards, history, tomorrow))
    if learner.cards is not None:
        limits = replace(limits, prompts=min(limits.prompts, learner.cards))
    chosen = queue(cards, day, done=done, limits=limits)
    if not chosen:
        reason = Reason.DAY_FULL if due(cards, day) else Reason.NOTHING_DUE
        return NotYet(reason, _next(now, learner, cards, history, tomorrow))
    if _opening(now, learner, day) != now:
        return NotYet(_closed(now, learner, day), _next(now, learner, cards, history, day))
    if rhythm is _Rhythm.GOODBYE:
        return Plan(Kind.GOODBYE, day, now, (), None, None)
    told = [*history, PastNudge(day=day, at=now, slot=slot)]
    following = _next(now, learner, cards, told, tomorrow)
    return Plan(
        kind=Kind.DIGEST,
        day=day,
        at=now,
        cards=tuple(card.card_id for card in chosen),
        next_due_day=None if following is None else study_date(following, learner.zone),
        next_instant=following,
        slot=slot,
    )


def next_reminder(
    now: datetime,
    learner: LearnerTime,
    cards: Sequence[DueCard],
    history: Sequence[PastNudge] = (),
    *,
    done: Done | None = None,
) -> datetime | None:
    """Return the UTC instant of the next reminder as things stand, for "tomorrow at 09:00".

    None when there will be none: switched off, said goodbye, or no card that can come due.
    """
    outcome = plan(now, learner, cards, history, done=done)
    return outcome.at if isinstance(outcome, Plan) else outcome.next_instant


def is_quiet(instant: datetime, learner: LearnerTime) -> bool:
    """Tell whether the learner's wall clock shows a quiet hour at an instant."""
    return _quiet_time(instant.astimezone(learner.zone).time(), learner)


def slot_instant(learner: LearnerTime, day: date) -> datetime:
    """Return the UTC instant of a study day's digest; hours before 04:00 are late in that day."""
    at = learner.quiet_until if _quiet_time(learner.hour, learner) else learner.hour
    return local_instant(day + timedelta(days=at < ROLLOVER), at, learner.zone)


def _quiet_time(wall: time, learner: LearnerTime) -> bool:
    if learner.quiet_from <= learner.quiet_until:
        return learner.quiet_from <= wall < learner.quiet_until
    return wall >= learner.quiet_from or wall < learner.quiet_until


def _comes_again(learner: LearnerTime, history: Sequence[PastNudge], day: date) -> bool:
    """Tell whether the learner wants the digest they had on a study day once more, later then."""
    snoozed = learner.snoozed_until
    if snoozed is None or study_date(snoozed, learner.zone) != day:
        return False
    had = [nudge for nudge in history if nudge.day == day and nudge.at < snoozed]
    return bool(had) and all(nudge.slot != AGAIN for nudge in had)


def _rhythm(learner: LearnerTime, history: Sequence[PastNudge], day: date) -> _Rhythm:
    """What the past allows on a study day, if nothing happens until then."""
    past = sorted((n for n in history if n.slot == SLOT), key=lambda n: (n.day, n.at))
    ignored: list[PastNudge] = []
    for nudge in past:
        if nudge.answered:
            ignored.clear()
        elif learner.last_active is None or nudge.at > learner.last_active:
            ignored.append(nudge)
    if any(nudge.kind is Kind.GOODBYE for nudge in ignored):
        return _Rhythm.SILENT
    # Also after a journey westwards: a day before the latest one had its nudge in the other zone.
    if past and day <= past[-1].day:
        return _Rhythm.SENT
    days = [nudge.day for nudge in ignored if nudge.delivered]
    if _ignored_days(days, day) >= GOODBYE_AFTER:
        return _Rhythm.GOODBYE
    if len(days) >= WEEKLY_AFTER and (day - days[-1]).days < _WEEK:
        return _Rhythm.RESTING
    return _Rhythm.DAILY


def _ignored_days(days: Sequence[date], today: date) -> int:
    """Days for which nudges lay unanswered: each counts up to its successor, at most its period.

    Days on which none could be sent, because the program was down, count for nobody.
    """
    total = 0
    for index, (day, following) in enumerate(pairwise([*days, today]), start=1):
        period = _WEEK if index >= WEEKLY_AFTER else 1
        total += min((following - day).days, period)
    return total


def _opening(not_before: datetime, learner: LearnerTime, day: date) -> datetime | None:
    """Return the first instant, at or after ``not_before``, at which a study day's nudge may go.

    None when that day has no such moment (any more).
    """
    slot = slot_instant(learner, day)
    if learner.consent_at is not None and slot < learner.consent_at:
        return None
    if day.isoweekday() not in learner.days:
        return None
    moment = max(slot, not_before, learner.snoozed_until or slot)
    for _ in range(3):  # quiet hours end once a day, or twice where clocks are set back
        if not is_quiet(moment, learner):
            return moment if study_date(moment, learner.zone) == day else None
        moment = _quiet_end(moment, learner)
    return None


def _quiet_end(moment: datetime, learner: LearnerTime) -> datetime:
    today = moment.astimezone(learner.zone).date()
    ends = (
        local_instant(today + timedelta(days=ahead), learner.quiet_until, learner.zone)
        for ahead in (0, 1, 2)
    )
    return next(end for end in ends if end > moment)


def _closed(now: datetime, learner: LearnerTime, day: date) -> Reason:
    if day.isoweekday() not in learner.days:
        return Reason.DAY_OFF
    if now < slot_instant(learner, day):
        return Reason.TOO_EARLY
    return Reason.QUIET_HOURS if is_quiet(now, learner) else Reason.AGREED_LATER


def _next(
    now: datetime,
    learner: LearnerTime,
    cards: Sequence[DueCard],
    history: Sequence[PastNudge],
    start: date,
) -> datetime | None:
    """Return the first instant on study day ``start`` or later at which ``plan`` would plan."""
    first = min((card.due_day for card in cards if not card.leech), default=None)
    if first is None:
        return None
    day = max(start, first)
    if learner.snoozed_until is not None:
        day = max(day, study_date(learner.snoozed_until, learner.zone))
    for ahead in range(_AHEAD):
        candidate = day + timedelta(days=ahead)
        rhythm = _rhythm(learner, history, candidate)
        wanted = rhythm in (_Rhythm.DAILY, _Rhythm.GOODBYE)
        if wanted or _comes_again(learner, history, candidate):
            moment = _opening(now, learner, candidate)
            if moment is not None:
                return moment
    return None
