"""What each step of a quiz in private does and says; each runs in the transaction of its answer.

Every step looks at the quiz as it is now: what was decided before may have been overtaken by a
second tap.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import study_date
from core.commands.quiz_words import asked_in, feedback, first_line
from core.commands.request import Reply, Request
from core.document import Button, Document
from core.ids import new_id
from core.learning import deck, quiz
from core.learning.grading import Note, Verdict
from core.learning.items import PRODUCED, Question
from core.learning.judge import Judgement
from core.learning.quiz import Graded, Sheet
from core.scheduling.consent import reminders_begin
from core.store.tables import Card, Learner
from memory.journal import Event
from memory.layers import Surface


def begun(request: Request, topic: str, questions: tuple[Question, ...], session: Session) -> Reply:
    """Store a quiz and ask its first question."""
    put_away(session, request)
    sheet = quiz.begin(
        session,
        learner_id=request.learner_id,
        conversation_id=request.conversation_id,
        target=request.message.target,
        topic=topic,
        language=request.words.language,
        questions=questions,
        now=request.now,
    )
    event = event_of(request, f"began a quiz of {len(questions)} questions: {topic}".rstrip(": "))
    return Reply(asked_in(request.words, sheet), events=(event,))


def shown(request: Request, sheet: Sheet, session: Session) -> Reply:
    """Ask the open question again."""
    now = quiz.load(session, sheet.id, request.learner_id)
    if now is None or now.current is None:
        return said_only(request.words("This quiz is over. /quiz begins a new one."))
    return Reply(asked_in(request.words, now))


def stop_open(request: Request, session: Session) -> Reply:
    """End what is open, by command."""
    sheet = quiz.open_quiz(session, request.conversation_id, request.learner_id)
    if sheet is None:
        return said_only(request.words("No quiz is open. /quiz begins one."))
    return stopped(request, sheet, session)


def granted(request: Request, sheet: Sheet, nth: int, found: Graded, session: Session) -> Reply:
    """An objection was right."""
    words = request.words
    after = quiz.judge_anew(session, sheet, nth, found, now=request.now)
    if after is None:
        return said_only(words("There is nothing to look at again."))
    event = event_of(
        request, f"quiz, judged anew: {first_line(sheet.items[nth])} — {found.verdict}"
    )
    text = (
        words("I looked again: you were right. It counts now.")
        if found.verdict is Verdict.RIGHT
        else words("I looked again: it is partly right. It counts as that now.")
    )
    return Reply(Document(markdown=text), events=(event,))


def hinted(request: Request, sheet: Sheet, session: Session) -> Reply:
    """Ask the open question again, with its hint."""
    now = quiz.load(session, sheet.id, request.learner_id)
    if now is None or now.current is None or now.position != sheet.position:
        return said_only(request.words("This question is answered already. /quiz goes on."))
    return Reply(asked_in(request.words, quiz.give_hint(session, now, request.now)), in_place=True)


def stopped(request: Request, sheet: Sheet, session: Session) -> Reply:
    """End a quiz."""
    now = quiz.load(session, sheet.id, request.learner_id)
    if now is None or now.current is None:
        return said_only(request.words("This quiz is over. /quiz begins a new one."))
    quiz.stop(session, now)
    text = request.words("Stopped.")
    return over(session, request, now, text)


def settled(
    request: Request,
    sheet: Sheet,
    found: Graded,
    about: Note | Judgement | None,
    session: Session,
) -> Reply:
    """Record an answer; say what it was, and ask the next question below."""
    words = request.words
    before = quiz.load(session, sheet.id, request.learner_id)
    if before is None or before.current is None or before.position != sheet.position:
        return said_only(words("This question is answered already. /quiz goes on."))
    asked = before.current
    after = quiz.settle(
        session,
        before,
        found,
        day=study_date(request.now, ZoneInfo(request.zone)),
        now=request.now,
        source=request.message.message_id,
    )
    verdict = found.verdict or "passed over"
    event = event_of(
        request, f"quiz: {first_line(asked)} — answered: {found.given or '—'} — {verdict}"
    )
    said_of_it = feedback(words, asked, found, about)
    # Of what was chosen there is nothing to be read again.
    objects = found.verdict in (Verdict.WRONG, Verdict.PARTIAL) and asked.question.kind in PRODUCED
    appeal = Button(label=words("I was right"), action=f"quiz:{sheet.id}:{sheet.position}:right")
    if after.current is None:
        reply = over(session, request, after, said_of_it)
        document = reply.document
    else:
        document = asked_in(words, after, said_of_it)
        reply = Reply(document)
    if objects:
        document = document.model_copy(update={"buttons": (*document.buttons, (appeal,))})
    return Reply(document, in_place=True, events=(event, *reply.events))


def over(session: Session, request: Request, sheet: Sheet, before: str) -> Reply:
    """Say what it came to; what was missed becomes cards."""
    words, result = request.words, sheet.result
    lines = [before] if before else []
    if result.counted:
        lines.append(
            words("Done. All {n} right.", n=result.right)
            if result.right == result.counted
            else words("Done. {n} of {all} right.", n=result.right, all=result.counted)
        )
        if result.partly:
            lines.append(
                words.plural(
                    "{n} more was partly right.", "{n} more were partly right.", result.partly
                )
            )
    saved = _cards(session, request, sheet)
    buttons: list[tuple[Button, ...]] = []
    events = []
    if saved:
        lines.append(
            words.plural(
                "What you missed comes back: {n} new card, in /review at once.",
                "What you missed comes back: {n} new cards, in /review at once.",
                len(saved),
            )
        )
        events = [event_of(request, f"saved a card: {card.front} :: {card.back}") for card in saved]
        learner = session.get_one(Learner, request.learner_id)
        told = reminders_begin(session, learner, words, request.now)
        if told is not None:
            lines.append(told.markdown)
            buttons += told.buttons
    if sheet.topic:
        more = Button(label=words("More of these"), action=f"quiz:{sheet.id}:0:more")
        buttons.append((more,))
    return Reply(
        Document(markdown="\n\n".join(lines), buttons=tuple(buttons)),
        in_place=True,
        events=tuple(events),
    )


def put_away(session: Session, request: Request) -> None:
    """End what is open without a word; what was missed is in /review all the same."""
    sheet = quiz.open_quiz(session, request.conversation_id, request.learner_id)
    if sheet is not None:
        quiz.stop(session, sheet)
        _cards(session, request, sheet)


def _cards(session: Session, request: Request, sheet: Sheet) -> list[Card]:
    """Save what was missed; cards that the learner has already are not saved again."""
    today = study_date(request.now, ZoneInfo(request.zone))
    saved = (
        deck.add(session, request.learner_id, quiz.card_of(asked), today, request.now)
        for asked in sheet.misses
    )
    return [card for card in saved if card is not None]


def said_only(text: str) -> Reply:
    """Return a reply that says a sentence and changes nothing."""
    return Reply(Document(markdown=text))


def event_of(request: Request, text: str) -> Event:
    """Return what the journal is told of a step."""
    return Event(
        new_id(request.now),
        request.now.astimezone(ZoneInfo(request.zone)),
        Surface.QUIZ,
        text,
    )
