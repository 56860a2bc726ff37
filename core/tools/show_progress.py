"""The tool that tells the model what the learner has done lately."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from core.clock import study_date
from core.learning.progress import progress
from core.store.session import Store
from core.tools.registry import Tool, ToolContext, declare


class ShowProgressArguments(BaseModel):
    """Nothing to choose."""

    model_config = ConfigDict(extra="ignore")


def show_progress(store: Store) -> Tool:
    """Return the tool ``show_progress``. Read-only, and private: a group never hears of it."""

    async def run(arguments: ShowProgressArguments, context: ToolContext) -> str:
        today = study_date(context.now, ZoneInfo(context.zone))
        done = await store.read(lambda session: progress(session, context.learner_id, today))
        if not done.cards:
            return "The learner has no cards yet."
        return (
            f"{done.cards} cards, {done.due} due now. In the last seven days: "
            f"{done.week_reviews} reviews on {done.week_days} days, {done.week_right} of them "
            f"right. {done.all_reviews} reviews in all."
        )

    return declare(
        "show_progress",
        "Numbers of the learner's own cards and reviews: how many, how many right, how often.",
        ShowProgressArguments,
        run,
        private=True,
    )
