"""``partners memory consolidate``: what was said becomes memory, now."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.people import find_learner, no_learner
from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from sqlmodel import Session

    from bots.app import Ground
    from core.i18n import Words
    from core.scheduling.consolidation import Report


def consolidate(
    learner: Annotated[
        str | None,
        typer.Argument(help="An account such as telegram:123, or an id; everybody if left out."),
    ] = None,
) -> None:
    """Make notes of what was said and not looked at yet, with the model of the settings.

    It may run beside `partners serve`. With the small local model it takes minutes.

    Example: partners memory consolidate telegram:123
    """
    with ground(quiet=True) as base:
        words = base.settings.words
        if learner is None:
            learners = base.store.submit(_everybody).result()
            if not learners:
                typer.echo(words("Nobody yet."))
        else:
            found = base.store.submit(partial(find_learner, name=learner)).result()
            if found is None:
                fail(no_learner(words, learner))
            learners = [found]
        failed = asyncio.run(_consolidate(base, learners))
    if failed:
        raise SystemExit(1)


async def _consolidate(base: Ground, learners: list[str]) -> bool:
    """Consolidate one after the other; True when not all could be done."""
    from bots.app import build_consolidator, choose_model

    model = choose_model(base.settings)
    consolidator = build_consolidator(base, model)
    failed = False
    try:
        for learner in learners:
            report = await consolidator.refresh(learner)
            typer.echo(f"{learner}  {_said(base.settings.words, report)}")
            if report.held is not None:
                failed = True
                typer.echo(_why(base.settings.words, report), err=True)
    finally:
        await model.close()
    return failed


def _said(words: Words, report: Report) -> str:
    if not report.calls:
        return words("nothing to do") if report.held is None else words("nothing was done")
    counts = report.counts
    return words(
        "{calls} calls, {tokens} tokens: {added} added, {edited} edited, {merged} merged, "
        "{deleted} deleted, {refused} refused",
        calls=report.calls,
        tokens=words.number(report.tokens),
        added=counts["add"],
        edited=counts["edit"],
        merged=counts["merge"],
        deleted=counts["delete"],
        refused=report.refused,
    )


def _why(words: Words, report: Report) -> str:
    from core.scheduling.consolidation import Held

    match report.held:
        case Held.LIMIT:
            return words("A limit of the day is reached. The limits are under [limits].")
        case Held.CALLS:
            return words(
                "That is all for this learner within a day. The number is calls_per_day under "
                "[memory] in partners.toml."
            )
        case Held.UNREADABLE:
            return words(
                "The model's answer could not be used, so nothing was changed by it. Try again, "
                "or name another model."
            )
        case _:
            return words(
                "The model or the files could not be reached, so nothing was changed. "
                "`partners doctor` shows what is wrong."
            )


def _everybody(session: Session) -> list[str]:
    from sqlmodel import col, select

    from core.store.tables import Learner

    own = select(Learner.id).where(col(Learner.merged_into).is_(None)).order_by(Learner.id)
    return list(session.exec(own).all())
