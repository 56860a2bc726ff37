"""``/remind`` and ``/snooze``: when the reminders come, and when not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import ROLLOVER, local_instant, standing, study_date
from core.commands.declare import Choice, CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.document import Button, Document, plain
from core.i18n import N_, Words, words_for
from core.learning import deck
from core.learning.digest import EVERY_DAY, next_reminder
from core.scheduling.nudges import past_nudges
from core.store.tables import Learner

TONIGHT: Final = time(20)
MOST: Final = 10
"""Questions of a digest, the usual number."""
FARTHEST: Final = timedelta(days=366)

_ON: Final = frozenset({"on", "yes", "开", "打开", "开启"})
_OFF: Final = frozenset({"off", "no", "never", "stop", "关", "关闭", "不要"})
_DAYS: Final = {
    "daily": "1234567", "every day": "1234567", "everyday": "1234567", "每天": "1234567",
    "weekdays": "12345", "工作日": "12345", "weekends": "67", "周末": "67",
}  # fmt: skip
_NAMES: Final = (
    ("mon", "一"), ("tue", "二"), ("wed", "三"), ("thu", "四"),
    ("fri", "五"), ("sat", "六"), ("sun", "日", "天"),
)  # fmt: skip
_TIME: Final = re.compile(r"(\d{1,2})(?:[:：](\d{2})|点)?\s*(am|pm)?")
_COUNT: Final = re.compile(r"(\d{1,2})\s*(?:cards?|questions?|题|张)")
_SPAN: Final = re.compile(r"(\d{1,3})\s*(m|min|minutes?|分钟|h|hours?|小时|d|days?|天|w|weeks?|周)")
_UNITS: Final = {"m": "minutes", "分": "minutes", "h": "hours", "小": "hours", "d": "days",
                 "天": "days", "w": "weeks", "周": "weeks"}  # fmt: skip


def commands() -> tuple[Command, ...]:
    """Return both commands."""
    spec = CommandSpec(
        "remind",
        N_("when I come back with what is due"),
        N_("9:00, weekdays, 5 cards, on or off"),
        private=True,
        choices=_remind_choices,
    )
    later = CommandSpec(
        "snooze",
        N_("put the reminder off"),
        N_("1h, tonight, tomorrow or 2026-12-24"),
        private=True,
        choices=_snooze_choices,
    )

    async def remind(request: Request) -> Answer:
        return partial(_remind, request=request)

    async def snooze(request: Request) -> Answer:
        return partial(_snooze, request=request, wanted=request.arguments)

    return Command(spec, remind), Command(later, snooze)


def later() -> Action:
    """[In an hour] under a reminder."""

    async def handle(request: Request) -> Answer:
        return partial(_snooze, request=request, wanted=request.arguments or "1h")

    return Action("snooze", handle, private=True)


def _remind(session: Session, request: Request) -> Reply:
    words = request.words
    learner = session.get_one(Learner, request.learner_id)
    change = _change(request.arguments)
    if request.arguments.strip() and change is None:
        text = words("Write it like this: {example}", example="`/remind 9:00 weekdays 5 cards`")
        return _told(text)
    if change is not None:
        change(learner, request)
    return _standing(session, learner, request)


def _change(text: str) -> Callable[[Learner, Request], None] | None:
    """What ``/remind`` is to change; None for what cannot be read."""
    rest = " ".join(text.casefold().replace("，", " ").replace(",", " ").split())
    if rest in _ON or rest in _OFF:
        return partial(_switch, on=rest in _ON)
    values: dict[str, object] = {}
    if count := _COUNT.search(rest):
        values["reminder_cards"] = int(count[1])
        rest = rest.replace(count[0], " ")
    for name, days in _DAYS.items():
        if name in rest:
            values["reminder_days"] = days
            rest = rest.replace(name, " ")
    rest, days = _named_days(rest)
    if days:
        values["reminder_days"] = days
    if found := _TIME.search(rest):
        hour = int(found[1]) % 12 + 12 * (found[3] == "pm") if found[3] else int(found[1])
        minute = int(found[2] or 0)
        if hour > 23 or minute > 59:
            return None
        values["reminder_time"] = f"{hour:02}:{minute:02}"
        rest = rest.replace(found[0], " ", 1)
    cards = values.get("reminder_cards")
    if rest.strip() or not values or (isinstance(cards, int) and not 1 <= cards <= MOST):
        return None
    return partial(_set, values=values)


def _named_days(text: str) -> tuple[str, str]:
    """Take the names of days out of a text; return the rest, and their numbers."""
    days = ""
    for number, (english, *chinese) in enumerate(_NAMES, 1):
        pattern = "|".join((rf"\b{english}[a-z]*\b", *(f"(?:周|星期){name}" for name in chinese)))
        text, found = re.subn(pattern, " ", text)
        days += str(number) if found else ""
    return text, days


def _switch(learner: Learner, request: Request, *, on: bool) -> None:
    learner.reminders = on
    if on:
        learner.reminders_from = request.now
        learner.snoozed_until = None


def _set(learner: Learner, request: Request, values: dict[str, object]) -> None:
    for name, value in values.items():
        setattr(learner, name, value)
    learner.reminders = True
    learner.reminders_from = learner.reminders_from or request.now
    learner.snoozed_until = None


def _snooze(session: Session, request: Request, wanted: str) -> Reply:
    words = request.words
    learner = session.get_one(Learner, request.learner_id)
    until = _until(wanted, request.now, ZoneInfo(standing(learner.zone)))
    if until is None or not request.now < until <= request.now + FARTHEST:
        return _told(words("Write it like this: {example}", example="`/snooze tomorrow`"))
    learner.snoozed_until = until
    return _standing(session, learner, request)


def _until(text: str, now: datetime, zone: ZoneInfo) -> datetime | None:
    """The instant until which there is to be quiet; None for what cannot be read."""
    wanted = " ".join(text.casefold().split())
    today = study_date(now, zone)
    if span := _SPAN.fullmatch(wanted):
        return now + timedelta(**{_UNITS[span[2][0]]: int(span[1])})
    if wanted in ("tonight", "今晚", "晚上"):
        return local_instant(today, TONIGHT, zone)
    if wanted in ("tomorrow", "明天"):
        return local_instant(today + timedelta(days=1), ROLLOVER, zone)
    if wanted in ("next week", "下周"):
        monday = today + timedelta(days=8 - today.isoweekday())
        return local_instant(monday, ROLLOVER, zone)
    try:
        return local_instant(date.fromisoformat(wanted), ROLLOVER, zone)
    except ValueError:
        return None


def _standing(session: Session, learner: Learner, request: Request) -> Reply:
    """Say how it stands now, and when the next one comes."""
    words = request.words
    if not learner.reminders:
        on = Button(label=words("Turn reminders on"), action="reminder:on")
        text = words("No reminders, then. /review is always there.")
        return Reply(Document(markdown=text, buttons=((on,),)), in_place=True)
    if learner.reminders_from is None:
        return _told(words("Reminders begin with your first card."))
    lines = [
        words(
            "Reminders come at {time} ({zone} time), with {n} questions at most.",
            time=learner.reminder_time,
            zone=plain(standing(learner.zone)),
            n=learner.reminder_cards or MOST,
        )
    ]
    if frozenset(map(int, learner.reminder_days)) != EVERY_DAY:
        listed = ", ".join(words(_DAY_NAMES[int(day) - 1]) for day in learner.reminder_days)
        lines.append(words("Only on these days: {days}.", days=listed))
    lines.append(_next(session, learner, request))
    change = Button(label=words("Change time"), action="reminder:change")
    off = Button(label=words("No reminders"), action="reminder:off")
    return Reply(Document(markdown=" ".join(lines), buttons=((change, off),)), in_place=True)


_DAY_NAMES: Final = (
    N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"),
    N_("Friday"), N_("Saturday"), N_("Sunday"),
)  # fmt: skip


def _next(session: Session, learner: Learner, request: Request) -> str:
    words, zone = request.words, ZoneInfo(standing(learner.zone))
    at = next_reminder(
        request.now,
        deck.learner_time(learner),
        deck.load(session, learner.id),
        past_nudges(session, learner),
    )
    if at is None:
        return words("Nothing will be due soon.")
    return words(
        "The next one comes {day} at {time}.",
        day=words.day(at.astimezone(zone).date(), request.now.astimezone(zone).date()),
        time=words.time(at, zone.key),
    )


def _told(text: str) -> Reply:
    return Reply(Document(markdown=text))


def _remind_choices(typed: str, language: str) -> list[Choice]:
    return _matching(typed, words_for(language), ("8:00", "18:00", "weekdays", "5 cards", "off"))


def _snooze_choices(typed: str, language: str) -> list[Choice]:
    return _matching(typed, words_for(language), ("1h", "tonight", "tomorrow", "3d", "next week"))


def _matching(typed: str, _: Words, known: tuple[str, ...]) -> list[Choice]:
    part = typed.strip().casefold()
    return [Choice(one, one) for one in known if part in one]
