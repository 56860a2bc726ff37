"""The tool that tells the model which of the learner's questions are due."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Session

from core.clock import study_date
from core.learning.deck import session_queue
from core.store.session import Store
from core.tools.registry import Tool, ToolContext, declare


class CardsDueArguments(BaseModel):
    """How much to tell."""

    model_config = ConfigDict(extra="ignore")

    limit: int = Field(default=10, ge=1, le=25, description="Most questions to list.")


def cards_due(store: Store) -> Tool:
    """Return the tool ``cards_due``. Read-only, and private: a group never hears of it."""

    async def run(arguments: CardsDueArguments, context: ToolContext) -> str:
        today = study_date(context.now, ZoneInfo(context.zone))

        def load(session: Session) -> list[str]:
            return [card.front for card in session_queue(session, context.learner_id, today)]

        fronts = await store.read(load)
        if not fronts:
            return "Nothing is due now."
        shown = "\n".join(f"- {front}" for front in fronts[: arguments.limit])
        return f"{len(fronts)} due (the learner answers them with /review):\n{shown}"

    return declare(
        "cards_due",
        "The learner's review questions that are due today, without their answers.",
        CardsDueArguments,
        run,
        private=True,
    )
