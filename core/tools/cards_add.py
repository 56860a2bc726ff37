"""The tool that saves a card, once the learner has agreed to this very one."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Session

from core.clock import Clock, study_date
from core.context import ReplyTarget
from core.document import plain
from core.i18n import Words, words_for
from core.learning import deck
from core.learning.cards import BACK_MAX, FRONT_MAX, CardProblem, CardText, parse_card
from core.outbox import post
from core.scheduling.consent import reminders_begin
from core.store.session import Store
from core.store.tables import Learner
from core.tools.registry import Tool, ToolContext, ToolError, declare


class CardsAddArguments(BaseModel):
    """One card."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(
        min_length=1, max_length=FRONT_MAX, description="One short question, complete in itself."
    )
    answer: str = Field(min_length=1, max_length=BACK_MAX, description="Its one short answer.")


def cards_add(store: Store, clock: Clock) -> Tool:
    """Return the tool ``cards_add``. It changes the deck, so the learner is asked first; private.

    The first card a learner saves tells them about reminders, in a message of its own.
    """

    async def run(arguments: CardsAddArguments, context: ToolContext) -> str:
        text = parse_card(f"{_side(arguments.question)} :: {_side(arguments.answer)}")
        if isinstance(text, CardProblem):
            raise ToolError("Not saved: question and answer must both have words.")
        saved = await store.write(lambda session: _save(session, context, text))
        return "Saved." if saved else "The learner has this card already."

    def _save(session: Session, context: ToolContext, text: CardText) -> bool:
        now = clock.now()
        today = study_date(now, ZoneInfo(context.zone))
        card = deck.add(session, context.learner_id, text, today, now)
        if card is None:
            return False
        learner = session.get_one(Learner, context.learner_id)
        told = reminders_begin(session, learner, words_for(context.language), now)
        if told is not None and learner.home is not None:
            post(
                session,
                key=f"consent:{learner.id}",
                target=ReplyTarget.model_validate_json(learner.home),
                document=told,
                now=now,
                language=context.language,
                learner_id=learner.id,
            )
        return True

    return declare(
        "cards_add",
        "Offers the learner a review card that comes back before it is forgotten. They are asked "
        "first. For what they got wrong, or asked to keep; never for what they do not know yet.",
        CardsAddArguments,
        run,
        parallel_safe=False,
        private=True,
        consent=_asked,
    )


def _asked(given: CardsAddArguments, words: Words) -> str:
    return words(
        "Save this card: **{question}** → {answer}",
        question=plain(given.question),
        answer=plain(given.answer),
    )


def _side(text: str) -> str:
    return text.strip().replace("::", ": :")
