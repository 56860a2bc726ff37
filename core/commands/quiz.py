"""Quizzes in the chat: ``/quiz``, the buttons under a question, and answers in free words.

One question a message, in its own message or below what is said of the one before. What is wrong
comes back as a card. Whoever writes something else than an answer is answered as always, and the
question stays open.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from core.commands import quiz_group, quiz_steps
from core.commands.declare import CommandSpec
from core.commands.quiz_steps import said_only
from core.commands.quiz_wanted import topic_and_count, wanted_of
from core.commands.request import Action, Answer, Command, Request
from core.context import Text
from core.document import plain
from core.i18n import N_
from core.learning import quiz
from core.learning.authoring import write_items
from core.learning.evidence import Grader
from core.learning.grading import Grade, Verdict, chosen, graded
from core.learning.items import PRODUCED
from core.learning.judge import Judgement, Why, judge
from core.learning.quiz import Asked, Graded, Sheet
from core.learning.said import Said, said
from core.llm.port import ChatModel
from core.loop.gates import Budget
from core.loop.single import Unanswered
from core.spending import Spending
from core.store.session import Store
from core.turns.metered import Metered

TOPIC_MAX: Final = 500
LISTENS: Final = timedelta(hours=12)
"""How long a question is open to free words; its buttons, /quiz and a reply to it always work."""

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
        spec = CommandSpec("quiz", N_("a few questions on a topic"), N_("TOPIC NUMBER"), slow=True)
        return Command(spec, self._quiz)

    def action(self) -> Action:
        """The buttons of a quiz: ``quiz:ID:NTH:WHAT``; a bare ``quiz:`` begins one."""
        return Action("quiz", self._press, slow=True)

    async def pending(self, request: Request) -> Sheet | None:
        """Return the quiz that a message in words may answer; None where none is open."""
        message = request.message
        content, quote = message.content, message.quote
        if not request.private or message.attachments or not isinstance(content, Text):
            return None
        if not content.text.strip() or (quote is not None and not quote.from_tutor):
            return None  # it speaks of somebody else's words
        found = await self.store.read(
            lambda session: quiz.open_quiz(session, request.conversation_id, request.learner_id)
        )
        if found is None or found.current is None:
            return None
        fresh = request.now - found.asked_at <= LISTENS
        return found if fresh or _replies(request) else None

    async def answered(self, request: Request, sheet: Sheet) -> Answer | None:
        """Take a message for an answer to the open question; None when it is none.

        Then the tutor answers it, which may help with the question: so it counts as help.
        """
        answer = await self._taken(request, sheet)
        if answer is None:
            await self.store.write(lambda session: quiz.talk_about(session, sheet, request.now))
        return answer

    async def _taken(self, request: Request, sheet: Sheet) -> Answer | None:
        asked = sheet.current
        content = request.message.content
        if asked is None or not isinstance(content, Text):
            return None
        text = content.text
        match said(asked.question, text, seed=asked.item_id, reply=_replies(request)):
            case Said.OTHER:
                return None
            case Said.SKIP:
                return partial(quiz_steps.settled, request, sheet, Graded(None), None)
            case Said.HINT if asked.question.hint:
                return partial(quiz_steps.hinted, request, sheet)
            case Said.HINT:
                return None
            case Said.STOP:
                return partial(quiz_steps.stopped, request, sheet)
            case Said.ANSWER:
                found = await graded(asked.question, text, seed=asked.item_id)
                by_code = _by_code(found, asked, text)
                return partial(quiz_steps.settled, request, sheet, by_code, found.note)
            case Said.PERHAPS:
                return await self._read(request, sheet, asked, text)

    async def _read(self, request: Request, sheet: Sheet, asked: Asked, text: str) -> Answer | None:
        """Have an answer in words graded."""
        found = await graded(asked.question, text, seed=asked.item_id)
        if found.verdict is not Verdict.UNDECIDED:
            by_code = _by_code(found, asked, text)
            return partial(quiz_steps.settled, request, sheet, by_code, found.note)
        judged = await self._judged(request, asked, text)
        if judged.why is Why.NO_ATTEMPT:
            return None
        return partial(quiz_steps.settled, request, sheet, _by_model(judged, text), judged)

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
            return partial(quiz_steps.stop_open if request.private else quiz_group.stop, request)
        topic, count = topic_and_count(given)
        if not request.private:
            if given:
                return await self._begin(request, topic, count)
            return partial(quiz_group.show, request)
        if not topic:
            found = await self.store.read(
                lambda session: quiz.open_quiz(session, request.conversation_id, request.learner_id)
            )
            if found is not None and not given:
                return partial(quiz_steps.shown, request, found)
        return await self._begin(request, topic, count)

    async def _begin(self, request: Request, topic: str, count: int) -> Answer:
        words = request.words
        if len(topic) > TOPIC_MAX:
            return said_only(
                words("That is a long topic. Say it in a sentence, for example /quiz fractions 5")
            )
        if self.model.small:
            return said_only(
                words(
                    "The small built-in model can't write a quiz. Your own cards still come with "
                    "/review; with a larger model I can make quizzes too."
                )
            )
        if await self._spent(request):
            return said_only(
                words("That was all I may spend today. Quizzes work again tomorrow; /review does.")
            )
        wanted = await self.store.read(lambda session: wanted_of(session, request, topic, count))
        if wanted is None:
            return said_only(words("What shall it be about? For example /quiz fractions 5"))
        model = Metered(self.model, self.budget, request.tally)
        try:
            questions = await write_items(model, self.budget, wanted, nonce=secrets.token_hex(4))
        except Unanswered:
            return said_only(
                words("My model isn't answering right now. Please try /quiz again in a moment.")
            )
        if not questions:
            return said_only(
                words("I could not make good questions of that. Try a narrower topic, please.")
            )
        begun = quiz_steps.begun if request.private else quiz_group.begin
        return partial(begun, request, topic, questions)

    # --- the buttons ------------------------------------------------------------------------------

    async def _press(self, request: Request) -> Answer:
        if not request.arguments:
            return await self._quiz(request)
        quiz_id, _, rest = request.arguments.partition(":")
        nth_text, _, what = rest.partition(":")
        nth = int(nth_text) if nth_text.isascii() and nth_text.isdigit() else -1
        if not request.private:
            return partial(quiz_group.press, request, quiz_id, nth, what)
        sheet = await self.store.read(
            lambda session: quiz.load(session, quiz_id, request.learner_id)
        )
        words = request.words
        if sheet is None:
            return said_only(words("This quiz is over. /quiz begins a new one."))
        if what == "more":
            return await self._begin(request, sheet.topic, len(sheet.items))
        if what == "right":
            return await self._appeal(request, sheet, nth)
        asked = sheet.current
        if asked is None:
            return said_only(words("This quiz is over. /quiz begins a new one."))
        if nth != sheet.position:
            return said_only(words("This question is answered already. /quiz goes on."))
        match what:
            case "hint" if asked.question.hint:
                return partial(quiz_steps.hinted, request, sheet)
            case "skip":
                return partial(quiz_steps.settled, request, sheet, Graded(None), None)
            case "stop":
                return partial(quiz_steps.stopped, request, sheet)
            case _:
                found = await graded(asked.question, what, seed=asked.item_id)
                by_code = _by_code(found, asked, what)
                return partial(quiz_steps.settled, request, sheet, by_code, found.note)

    async def _appeal(self, request: Request, sheet: Sheet, nth: int) -> Answer:
        words = request.words
        outcome = sheet.outcomes.get(nth)
        asked = sheet.items[nth] if outcome is not None else None
        missed = outcome is not None and outcome.verdict in (Verdict.WRONG, Verdict.PARTIAL)
        if outcome is None or asked is None or not missed or asked.question.kind not in PRODUCED:
            return said_only(words("There is nothing to look at again."))
        judged = await self._judged(
            request, asked, outcome.given, objection="The learner says: I was right."
        )
        better = judged.verdict is Verdict.RIGHT or (
            judged.verdict is Verdict.PARTIAL and outcome.verdict is Verdict.WRONG
        )
        if judged.why is Why.UNREACHABLE:
            return said_only(words("I can't look at it again right now. Please try in a moment."))
        if not better:
            reason = plain(judged.comment) if judged.comment else ""
            stays = words("I looked again, and it stays as it was.")
            return said_only(f"{stays} {reason}".rstrip())
        return partial(quiz_steps.granted, request, sheet, nth, _by_model(judged, outcome.given))


def _by_code(found: Grade, asked: Asked, text: str) -> Graded:
    given = chosen(asked.question.key, text, seed=asked.item_id) or text
    return Graded(found.verdict, given, found.score)


def _by_model(judged: Judgement, text: str) -> Graded:
    return Graded(
        judged.verdict, text, judged.score, Grader.MODEL, judged.confidence, judged.criteria
    )


def _replies(request: Request) -> bool:
    quote = request.message.quote
    return quote is not None and quote.from_tutor
