"""Quizzes in the chat: ``/quiz``, the buttons under a question, and answers in free words.

One question a message, in its own message or below what is said of the one before. What is wrong
comes back as a card. Whoever writes something else than an answer is answered as always, and the
question stays open.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session, col, select

from core.clock import study_date
from core.commands.declare import CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.context import Role, Text
from core.document import Button, Document, plain
from core.i18n import N_, Words
from core.ids import new_id
from core.learning import deck, quiz
from core.learning.authoring import Wanted, write_items
from core.learning.evidence import Grader
from core.learning.grading import Grade, Note, Verdict, chosen, graded
from core.learning.items import (
    PRODUCED,
    ChoiceKey,
    OrderKey,
    Question,
    label,
    options,
    right_answer,
)
from core.learning.judge import Judgement, Why, judge
from core.learning.quiz import Asked, Graded, Sheet
from core.learning.said import Said, said
from core.llm.port import ChatModel
from core.loop.gates import Budget
from core.loop.single import Unanswered
from core.scheduling.consent import reminders_begin
from core.spending import Spending
from core.store.session import Store
from core.store.tables import Conversation, Learner, Line
from core.turns.metered import Metered
from memory.journal import Event
from memory.layers import Surface

QUESTIONS: Final = 5
MOST_QUESTIONS: Final = 15
TOPIC_MAX: Final = 500
LISTENS: Final = timedelta(hours=12)
"""How long a question is open to free words; its buttons, /quiz and a reply to it always work."""
_TALK_LINES: Final = 12
"""Lines of the talk that a quiz without a topic is about."""
_IN_A_ROW: Final = 4

_COUNT: Final = re.compile(
    r"^(?P<topic>.*?)[\s,，]*(?<!\d)(?P<count>\d{1,2})\s*(?:questions?|q|道题?|题|个问题)?$",
    re.DOTALL,
)
_STOPS: Final = frozenset({"stop", "end", "quit", "停", "停止", "结束"})


@dataclass(frozen=True, slots=True)
class Quizzes:
    """The quizzes of one house."""

    store: Store
    model: ChatModel
    budget: Budget
    spending: Spending

    def command(self) -> Command:
        """``/quiz``."""
        spec = CommandSpec(
            "quiz", N_("a few questions on a topic"), N_("TOPIC NUMBER"), private=True, slow=True
        )
        return Command(spec, self._quiz)

    def action(self) -> Action:
        """The buttons of a quiz: ``quiz:ID:NTH:WHAT``."""
        return Action("quiz", self._press, private=True, slow=True)

    async def pending(self, request: Request) -> Sheet | None:
        """Return the quiz that a message in words may answer; None where none is open."""
        message = request.message
        if not request.private or message.attachments or not isinstance(message.content, Text):
            return None
        found = await self.store.read(
            lambda session: quiz.open_quiz(session, request.conversation_id, request.learner_id)
        )
        if found is None or found.current is None:
            return None
        fresh = request.now - found.asked_at <= LISTENS
        return found if fresh or _replies(request) else None

    async def answered(self, request: Request, sheet: Sheet) -> Answer | None:
        """Take a message for an answer to the open question; None when it is none."""
        asked = sheet.current
        content = request.message.content
        if asked is None or not isinstance(content, Text):
            return None
        text = content.text
        match said(asked.question, text, seed=asked.item_id, reply=_replies(request)):
            case Said.OTHER:
                return None
            case Said.SKIP:
                return partial(self._settled, request, sheet, Graded(None), None)
            case Said.HINT if asked.question.hint:
                return partial(self._hinted, request, sheet)
            case Said.HINT:
                return None
            case Said.STOP:
                return partial(self._stopped, request, sheet)
            case Said.ANSWER:
                found = await graded(asked.question, text, seed=asked.item_id)
                by_code = _by_code(found, asked, text)
                return partial(self._settled, request, sheet, by_code, found.note)
            case Said.PERHAPS:
                return await self._read(request, sheet, asked, text)

    async def _read(self, request: Request, sheet: Sheet, asked: Asked, text: str) -> Answer | None:
        """Have an answer in words graded."""
        found = await graded(asked.question, text, seed=asked.item_id)
        if found.verdict is not Verdict.UNDECIDED:
            by_code = _by_code(found, asked, text)
            return partial(self._settled, request, sheet, by_code, found.note)
        judged = await self._judged(request, asked, text)
        if judged.why is Why.NO_ATTEMPT:
            return None
        return partial(self._settled, request, sheet, _by_model(judged, text), judged)

    async def _judged(
        self, request: Request, asked: Asked, text: str, objection: str = ""
    ) -> Judgement:
        if await self._spent(request):
            return Judgement(Verdict.UNDECIDED, Why.UNREACHABLE)
        return await judge(
            Metered(self.model, self.budget, request.tally),
            self.budget,
            asked.question,
            text,
            seed=asked.item_id,
            nonce=secrets.token_hex(4),
            language=request.words.language,
            objection=objection,
        )

    async def _spent(self, request: Request) -> bool:
        """Nothing may be spent on this learner today any more."""
        reached = await self.store.read(
            lambda session: self.spending.reached(session, request.now, request.learner_id)
        )
        return reached is not None

    # --- the command ------------------------------------------------------------------------------

    async def _quiz(self, request: Request) -> Answer:
        given = request.arguments.strip()
        if given.casefold() in _STOPS:
            return partial(self._stop_open, request)
        topic, count = _wanted(given)
        if not topic:
            found = await self.store.read(
                lambda session: quiz.open_quiz(session, request.conversation_id, request.learner_id)
            )
            if found is not None and not given:
                return partial(self._shown, request, found)
        return await self._begin(request, topic, count)

    async def _begin(self, request: Request, topic: str, count: int) -> Answer:
        words = request.words
        if len(topic) > TOPIC_MAX:
            return _said(
                words("That is a long topic. Say it in a sentence, for example /quiz fractions 5")
            )
        if self.model.small:
            return _said(
                words(
                    "The small built-in model can't write a quiz. Your own cards still come with "
                    "/review; with a larger model I can make quizzes too."
                )
            )
        if await self._spent(request):
            return _said(
                words("That was all I may spend today. Quizzes work again tomorrow; /review does.")
            )
        talk = "" if topic else await self.store.read(lambda session: _talk(session, request))
        if not topic and not talk:
            return _said(words("What shall it be about? For example /quiz fractions 5"))
        known = await self.store.read(
            lambda session: quiz.known_questions(session, request.learner_id)
        )
        wanted = Wanted(
            topic=topic or "What this conversation was about.",
            count=count,
            language=words.language,
            material=talk,
            known=known,
        )
        model = Metered(self.model, self.budget, request.tally)
        try:
            questions = await write_items(model, self.budget, wanted, nonce=secrets.token_hex(4))
        except Unanswered:
            return _said(
                words("My model isn't answering right now. Please try /quiz again in a moment.")
            )
        if not questions:
            return _said(
                words("I could not make good questions of that. Try a narrower topic, please.")
            )
        return partial(self._begun, request, topic, questions)

    def _begun(
        self, request: Request, topic: str, questions: tuple[Question, ...], session: Session
    ) -> Reply:
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
        event = _event(request, f"began a quiz of {len(questions)} questions: {topic}".rstrip(": "))
        return Reply(_question(request.words, sheet), events=(event,))

    def _shown(self, request: Request, sheet: Sheet, session: Session) -> Reply:
        now = quiz.load(session, sheet.id, request.learner_id)
        if now is None or now.current is None:
            return _said(request.words("This quiz is over. /quiz begins a new one."))
        return Reply(_question(request.words, now))

    def _stop_open(self, request: Request, session: Session) -> Reply:
        sheet = quiz.open_quiz(session, request.conversation_id, request.learner_id)
        if sheet is None:
            return _said(request.words("No quiz is open. /quiz begins one."))
        return self._stopped(request, sheet, session)

    # --- the buttons ------------------------------------------------------------------------------

    async def _press(self, request: Request) -> Answer:
        quiz_id, _, rest = request.arguments.partition(":")
        nth_text, _, what = rest.partition(":")
        nth = int(nth_text) if nth_text.isascii() and nth_text.isdigit() else -1
        sheet = await self.store.read(
            lambda session: quiz.load(session, quiz_id, request.learner_id)
        )
        words = request.words
        if sheet is None:
            return _said(words("This quiz is over. /quiz begins a new one."))
        if what == "more":
            return await self._begin(request, sheet.topic, len(sheet.items))
        if what == "right":
            return await self._appeal(request, sheet, nth)
        asked = sheet.current
        if asked is None:
            return _said(words("This quiz is over. /quiz begins a new one."))
        if nth != sheet.position:
            return _said(words("This question is answered already. /quiz goes on."))
        match what:
            case "hint":
                return partial(self._hinted, request, sheet)
            case "skip":
                return partial(self._settled, request, sheet, Graded(None), None)
            case "stop":
                return partial(self._stopped, request, sheet)
            case _:
                found = await graded(asked.question, what, seed=asked.item_id)
                by_code = _by_code(found, asked, what)
                return partial(self._settled, request, sheet, by_code, found.note)

    async def _appeal(self, request: Request, sheet: Sheet, nth: int) -> Answer:
        words = request.words
        outcome = sheet.outcomes.get(nth)
        asked = sheet.items[nth] if outcome is not None else None
        missed = outcome is not None and outcome.verdict in (Verdict.WRONG, Verdict.PARTIAL)
        if outcome is None or asked is None or not missed or asked.question.kind not in PRODUCED:
            return _said(words("There is nothing to look at again."))
        judged = await self._judged(
            request, asked, outcome.given, objection="The learner says: I was right."
        )
        better = judged.verdict is Verdict.RIGHT or (
            judged.verdict is Verdict.PARTIAL and outcome.verdict is Verdict.WRONG
        )
        if judged.why is Why.UNREACHABLE:
            return _said(words("I can't look at it again right now. Please try in a moment."))
        if not better:
            reason = plain(judged.comment) if judged.comment else ""
            stays = words("I looked again, and it stays as it was.")
            return _said(f"{stays} {reason}".rstrip())
        return partial(self._granted, request, sheet, nth, _by_model(judged, outcome.given))

    def _granted(
        self, request: Request, sheet: Sheet, nth: int, found: Graded, session: Session
    ) -> Reply:
        words = request.words
        after = quiz.judge_anew(session, sheet, nth, found, now=request.now)
        if after is None:
            return _said(words("There is nothing to look at again."))
        event = _event(request, f"quiz, judged anew: {_first(sheet.items[nth])} — {found.verdict}")
        text = (
            words("I looked again: you were right. It counts now.")
            if found.verdict is Verdict.RIGHT
            else words("I looked again: it is partly right. It counts as that now.")
        )
        return Reply(Document(markdown=text), events=(event,))

    # --- what becomes of a question ---------------------------------------------------------------

    def _hinted(self, request: Request, sheet: Sheet, session: Session) -> Reply:
        now = quiz.load(session, sheet.id, request.learner_id)
        if now is None or now.current is None or now.position != sheet.position:
            return _said(request.words("This question is answered already. /quiz goes on."))
        return Reply(
            _question(request.words, quiz.give_hint(session, now, request.now)), in_place=True
        )

    def _stopped(self, request: Request, sheet: Sheet, session: Session) -> Reply:
        now = quiz.load(session, sheet.id, request.learner_id)
        if now is None or now.current is None:
            return _said(request.words("This quiz is over. /quiz begins a new one."))
        quiz.stop(session, now)
        text = request.words("Stopped.")
        return self._over(session, request, now, text)

    def _settled(
        self,
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
            return _said(words("This question is answered already. /quiz goes on."))
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
        event = _event(
            request, f"quiz: {_first(asked)} — answered: {found.given or '—'} — {verdict}"
        )
        feedback = _feedback(words, asked, found, about)
        # Of what was chosen there is nothing to be read again.
        objects = (
            found.verdict in (Verdict.WRONG, Verdict.PARTIAL) and asked.question.kind in PRODUCED
        )
        appeal = Button(
            label=words("I was right"), action=f"quiz:{sheet.id}:{sheet.position}:right"
        )
        if after.current is None:
            reply = self._over(session, request, after, feedback)
            document = reply.document
        else:
            document = _question(words, after, feedback)
            reply = Reply(document)
        if objects:
            document = document.model_copy(update={"buttons": (*document.buttons, (appeal,))})
        return Reply(document, in_place=True, events=(event, *reply.events))

    def _over(self, session: Session, request: Request, sheet: Sheet, before: str) -> Reply:
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
        today = study_date(request.now, ZoneInfo(request.zone))
        saved = [
            card
            for asked in sheet.misses
            if (
                card := deck.add(
                    session, request.learner_id, quiz.card_of(asked), today, request.now
                )
            )
        ]
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
            events = [
                _event(request, f"saved a card: {card.front} :: {card.back}") for card in saved
            ]
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


def _question(words: Words, sheet: Sheet, before: str = "") -> Document:
    """The open question, below what is said of the one before it."""
    asked = sheet.current
    assert asked is not None
    text, key = asked.question.text, asked.question.key
    shown = options(key, asked.item_id)
    parts = [f"**{sheet.position + 1}/{len(sheet.items)}** {text}"]
    if shown:
        parts.append("  \n".join(f"**{label(n)}** {each}" for n, each in enumerate(shown)))
    if isinstance(key, OrderKey):
        parts.append(words("Write the letters in the right order."))
    if sheet.hint_level:
        parts.append(f"💡 {asked.question.hint}")
    stem = f"quiz:{sheet.id}:{sheet.position}"
    rows: list[tuple[Button, ...]] = []
    if isinstance(key, ChoiceKey):
        letters = [Button(label=label(n), action=f"{stem}:{label(n)}") for n in range(len(shown))]
        rows += [tuple(letters[n : n + _IN_A_ROW]) for n in range(0, len(letters), _IN_A_ROW)]
    ways = [
        Button(label=words("Skip"), action=f"{stem}:skip"),
        Button(label=words("Stop the quiz"), action=f"{stem}:stop"),
    ]
    if asked.question.hint and not sheet.hint_level:
        ways.insert(0, Button(label=words("Hint"), action=f"{stem}:hint"))
    rows.append(tuple(ways))
    body = "\n\n".join(parts)
    return Document(markdown=f"{before}\n\n---\n\n{body}" if before else body, buttons=tuple(rows))


def _feedback(words: Words, asked: Asked, found: Graded, about: Note | Judgement | None) -> str:
    """What is said of an answer, gently: what it was, what would be right, and why."""
    lines = [_first(asked)]
    answer = words("The answer: {answer}", answer=right_answer(asked.question.key, asked.item_id))
    comment = plain(about.comment) if isinstance(about, Judgement) else ""
    match found.verdict:
        case Verdict.RIGHT:
            lines.append(" ".join(filter(None, (words("✓ Right."), comment))))
        case Verdict.PARTIAL:
            note = words("The unit is missing.") if about is Note.UNIT_MISSING else comment
            lines += [" ".join(filter(None, (words("◐ Partly right."), note))), answer]
        case Verdict.WRONG:
            note = (
                words("That unit measures something else.") if about is Note.UNIT_WRONG else comment
            )
            lines += [" ".join(filter(None, (words("✗ Not this time."), note))), answer]
        case Verdict.UNDECIDED:
            unreachable = isinstance(about, Judgement) and about.why is Why.UNREACHABLE
            lines.append(
                words("I can't check that right now, so it doesn't count.")
                if unreachable
                else words("I can't say for sure whether that is right, so it doesn't count.")
            )
            lines.append(answer)
        case None:
            lines.append(answer)
    if found.verdict is not Verdict.RIGHT and asked.question.explanation:
        lines.append(asked.question.explanation)
    return "\n\n".join(lines)


def _by_code(found: Grade, asked: Asked, text: str) -> Graded:
    given = chosen(asked.question.key, text, seed=asked.item_id) or text
    return Graded(found.verdict, given, found.score)


def _by_model(judged: Judgement, text: str) -> Graded:
    return Graded(
        judged.verdict, text, judged.score, Grader.MODEL, judged.confidence, judged.criteria
    )


def _wanted(given: str) -> tuple[str, int]:
    """The topic and the number of questions of ``/quiz TOPIC NUMBER``."""
    found = _COUNT.match(given)
    if found is None:
        return given, QUESTIONS
    count = min(max(int(found["count"]), 1), MOST_QUESTIONS)
    return found["topic"].strip(), count


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


def _replies(request: Request) -> bool:
    quote = request.message.quote
    return quote is not None and quote.from_tutor


def _said(text: str) -> Reply:
    return Reply(Document(markdown=text))


def _event(request: Request, text: str) -> Event:
    return Event(
        new_id(request.now),
        request.now.astimezone(ZoneInfo(request.zone)),
        Surface.QUIZ,
        text,
    )


def _first(asked: Asked) -> str:
    line = asked.question.text.strip().split("\n", 1)[0]
    return line if len(line) <= 120 else f"{line[:119]}…"
