"""Cards in the learner's hands: ``/add``, ``/due``, ``/review`` and the buttons of a review.

A review is a chain of buttons that carry all they need, so it goes on after a restart; it is
applied once, however often a button is tapped.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from sqlmodel import Session, col, select

from core.clock import study_date
from core.commands.declare import CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.document import Button, Document
from core.i18n import N_, Words
from core.ids import new_id
from core.learning import deck
from core.learning.cards import BACK_MAX, FRONT_MAX, CardProblem, CardText, parse_card
from core.learning.deck import Rated
from core.learning.digest import next_reminder
from core.learning.selection import due
from core.learning.spacing import Rating, preview
from core.scheduling.consent import reminders_begin
from core.store.tables import Card, Learner
from memory.journal import Event
from memory.layers import Surface

GRADES = (
    (Rating.AGAIN, N_("Again")),
    (Rating.HARD, N_("Hard")),
    (Rating.GOOD, N_("Good")),
    (Rating.EASY, N_("Easy")),
)


def commands() -> tuple[Command, ...]:
    """The commands of this room."""
    return (
        Command(
            CommandSpec(
                "add", N_("save a question that comes back"), N_("QUESTION :: ANSWER"), private=True
            ),
            _add,
        ),
        Command(CommandSpec("review", N_("go through the questions due"), private=True), _review),
        Command(CommandSpec("due", N_("how many questions wait, and when"), private=True), _due),
    )


def actions() -> tuple[Action, ...]:
    """The buttons of this room."""
    return (
        Action("review", _review, private=True),
        Action("reveal", _reveal, private=True),
        Action("rate", _rate, private=True),
    )


def edit_button(words: Words, card_id: str) -> Button:
    """The button that changes a card; ``core.commands.collection`` answers it."""
    return Button(label=words("Edit"), action=f"editcard:{card_id}")


def question(words: Words, card: Card, done: int, left: int) -> tuple[str, Button]:
    """A card as it is asked: ``1/3`` and the question, with the button that shows the answer."""
    text = f"{done + 1}/{done + left}\n\n{card.front}"
    return text, Button(label=words("Show answer"), action=f"reveal:{card.id}:{card.reps}:{done}")


# --- adding -------------------------------------------------------------------------------------


async def _add(request: Request) -> Answer:
    parsed = parse_card(request.arguments)
    if isinstance(parsed, CardProblem):
        return Reply(Document(markdown=problem(request.words, parsed, request.arguments)))
    return partial(_save, request=request, text=parsed)


def _save(session: Session, request: Request, text: CardText) -> Reply:
    words, zone = request.words, ZoneInfo(request.zone)
    today = study_date(request.now, zone)
    card = deck.add(session, request.learner_id, text, today, request.now)
    if card is None:
        return Reply(Document(markdown=words("You have this card already.")))
    event = Event(
        new_id(request.now),
        request.now.astimezone(zone),
        Surface.REVIEW,
        f"saved a card: {text.front} :: {text.back}",
    )
    saved = words("Saved. It is in /review at once.")
    learner = session.get_one(Learner, request.learner_id)
    told = reminders_begin(session, learner, words, request.now)
    edit = (edit_button(words, card.id),)
    if told is None:
        return Reply(Document(markdown=saved, buttons=(edit,)), events=(event,))
    document = Document(markdown=f"{saved}\n\n{told.markdown}", buttons=(*told.buttons, edit))
    return Reply(document, events=(event,))


def problem(words: Words, found: CardProblem, text: str) -> str:
    """What is wrong with a card that somebody wrote, and how to write one."""
    match found:
        case CardProblem.NO_SEPARATOR if not text.strip():
            return words(
                "Write the question and the answer with :: between them, for example\n\n"
                "`/add What is 7 × 8? :: 56`"
            )
        case CardProblem.NO_SEPARATOR:
            return words(
                "I can't tell the question from the answer. Put :: between them, for example\n\n"
                "`/add What is 7 × 8? :: 56`"
            )
        case CardProblem.EMPTY_FRONT:
            return words("The question is missing: write it before the ::")
        case CardProblem.EMPTY_BACK:
            return words("The answer is missing: write it after the ::")
        case CardProblem.FRONT_TOO_LONG:
            return words(
                "The question is longer than {limit} characters. A card works best with one "
                "short question; split it into several.",
                limit=FRONT_MAX,
            )
        case CardProblem.BACK_TOO_LONG:
            return words(
                "The answer is longer than {limit} characters. A card works best with one short "
                "answer; split it into several.",
                limit=BACK_MAX,
            )


# --- what is due --------------------------------------------------------------------------------


async def _due(request: Request) -> Answer:
    return partial(_count, request=request)


def _count(session: Session, request: Request) -> Reply:
    words, zone = request.words, ZoneInfo(request.zone)
    today = study_date(request.now, zone)
    learner = session.get_one(Learner, request.learner_id)
    cards = deck.load(session, request.learner_id)
    if not cards:
        return Reply(Document(markdown=words("You have no cards yet. Save one with /add.")))
    waiting = len(deck.session_queue(session, request.learner_id, today))
    lines = [
        words.plural("{n} question is waiting.", "{n} questions are waiting.", waiting)
        if waiting
        else words("Nothing is waiting. {next}", next=_next_line(session, request, today))
    ]
    rows: list[tuple[Button, ...]] = []
    if waiting:
        rows.append((Button(label=words("Start"), action="review:"),))
    if learner.home is not None:
        following = next_reminder(request.now, deck.learner_time(learner), cards)
        if learner.reminders and following:
            lines.append(words("Next reminder: {when}.", when=_moment(request, following)))
        if learner.reminders:
            rows.append(
                (
                    Button(label=words("Change time"), action="reminder:change"),
                    Button(label=words("No reminders"), action="reminder:off"),
                )
            )
        else:
            lines.append(words("Reminders are off."))
            rows.append((Button(label=words("Turn reminders on"), action="reminder:on"),))
    return Reply(Document(markdown="\n\n".join(lines), buttons=tuple(rows)))


def _moment(request: Request, instant: datetime) -> str:
    zone = ZoneInfo(request.zone)
    day = request.words.day(instant.astimezone(zone).date(), request.now.astimezone(zone).date())
    return request.words("{day} at {time}", day=day, time=request.words.time(instant, request.zone))


# --- reviewing ----------------------------------------------------------------------------------


async def _review(request: Request) -> Answer:
    return partial(_ask, request=request)


def _ask(session: Session, request: Request, before: str = "", done: int = 0) -> Reply:
    """Ask the next card, below what is said of the one before it."""
    words = request.words
    today = study_date(request.now, ZoneInfo(request.zone))
    waiting = deck.session_queue(session, request.learner_id, today)
    if waiting:
        text, button = question(words, waiting[0], done, len(waiting))
        return Reply(
            Document(markdown=_below(before, text), buttons=((button,),)), in_place=bool(before)
        )
    if done:
        end = words("Done for today: {n} of {n}.", n=done)
    else:
        cards = deck.load(session, request.learner_id)
        if not cards:
            return Reply(Document(markdown=words("You have no cards yet. Save one with /add.")))
        full = due(cards, today, new_at_once=True)
        end = words("That is enough for today.") if full else words("Nothing is due now.")
    end = f"{end} {_next_line(session, request, today)}".rstrip()
    return Reply(Document(markdown=_below(before, end)), in_place=bool(before))


async def _reveal(request: Request) -> Answer:
    card_id, _, rest = request.arguments.partition(":")
    nth, _, done = rest.partition(":")
    return partial(_show, request=request, card_id=card_id, nth=_number(nth), done=_number(done))


def _show(session: Session, request: Request, card_id: str, nth: int, done: int) -> Reply:
    words = request.words
    card = deck.own(session, request.learner_id, card_id)
    if card is None:
        return Reply(Document(markdown=words("This card is gone. /review shows what is due.")))
    if card.reps != nth:
        return Reply(Document(markdown=words("This one is answered already. /review goes on.")))
    today = study_date(request.now, ZoneInfo(request.zone))
    intervals = preview(deck.memory_of(card), max(today, card.last_day or today), seed=card.id)
    grades = tuple(
        Button(
            label=words("{grade} · {n} d", grade=words(label), n=intervals[rating]),
            action=f"rate:{card.id}:{nth}:{int(rating)}:{done}",
        )
        for rating, label in GRADES
    )
    text = words("How well did you know it?")
    return Reply(
        Document(
            markdown=f"{card.front}\n\n---\n\n{card.back}\n\n*{text}*",
            buttons=(grades[:2], grades[2:], (edit_button(words, card.id),)),
        ),
        in_place=True,
    )


async def _rate(request: Request) -> Answer:
    try:
        card_id, nth, rating, done = request.arguments.split(":")
        grade = Rating(_number(rating))
    except ValueError:
        return partial(_ask, request=request)
    return partial(
        _apply, request=request, card_id=card_id, nth=_number(nth), rating=grade, done=_number(done)
    )


def _apply(
    session: Session, request: Request, card_id: str, nth: int, rating: Rating, done: int
) -> Reply:
    words, zone = request.words, ZoneInfo(request.zone)
    today = study_date(request.now, zone)
    outcome = deck.rate(session, request.learner_id, card_id, nth, rating, today, request.now)
    if outcome is Rated.NO_CARD:
        return Reply(Document(markdown=words("This card is gone. /review shows what is due.")))
    if isinstance(outcome, Rated):
        return Reply(Document(markdown=words("This one is answered already. /review goes on.")))
    card, reviewed = outcome
    when = words.plural(
        "next {day}, in {n} day",
        "next {day}, in {n} days",
        reviewed.interval_days,
        day=words.day(reviewed.memory.due_day, today),
    )
    name = words(dict(GRADES)[rating])
    mark = "↻" if rating is Rating.AGAIN else "✓"
    said = _ask(
        session,
        request,
        before=f"{_first_line(card.front)}\n\n{mark} {name} ({when})",
        done=done + 1,
    )
    event = Event(
        new_id(request.now),
        request.now.astimezone(zone),
        Surface.REVIEW,
        f"reviewed: {card.front} — {rating.name.lower()}, again in {reviewed.interval_days} d",
    )
    return Reply(said.document, in_place=True, events=(event,))


def _next_line(session: Session, request: Request, today: date) -> str:
    """When the next question comes; empty when none will."""
    upcoming = session.exec(
        select(col(Card.due_day))
        .where(Card.learner_id == request.learner_id)
        .order_by(col(Card.due_day))
        .limit(1)
    ).first()
    if upcoming is None:
        return ""
    day = max(upcoming, today + timedelta(days=1))
    return request.words("The next ones come {day}.", day=request.words.day(day, today))


def _below(before: str, text: str) -> str:
    return f"{before}\n\n---\n\n{text}" if before else text


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 80 else f"{line[:79]}…"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else -1
