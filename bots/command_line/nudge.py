"""``partners nudge``: one sweep by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bots.command_line.start import fail, ground

FURTHEST = 100
"""Years from now that a sweep may be judged as of: beyond, dates cease to be reckoned well."""


def nudge(
    as_of: Annotated[
        str | None,
        typer.Option(help="Moment to judge by, ISO 8601 with zone; now when left out."),
    ] = None,
) -> None:
    """Plan the reminders due at a moment; a running `partners serve` sends them.

    Example: partners nudge --as-of 2026-12-02T09:00:00+01:00
    """
    from core.clock import SystemClock
    from core.scheduling.nudges import sweep

    with ground(quiet=True) as base:
        words, now = base.settings.words, SystemClock().now()
        moment = now
        if as_of is not None:
            try:
                moment = datetime.fromisoformat(as_of.strip())
            except ValueError:
                fail(
                    words(
                        "“{text}” is no moment. Write it like 2026-12-02T09:00:00+01:00.",
                        text=as_of,
                    )
                )
            if moment.tzinfo is None:
                fail(
                    words(
                        "{text} has no time zone. Add one: {text}Z, or {text}+01:00.",
                        text=moment.isoformat(),
                    )
                )
            if abs(moment.year - now.year) > FURTHEST:
                fail(
                    words(
                        "{text} is too far from today. Name a moment within {n} years.",
                        text=as_of,
                        n=FURTHEST,
                    )
                )
        swept = asyncio.run(sweep(base.store, moment.astimezone(UTC), now, words.language))
        typer.echo(words.plural("{n} reminder planned.", "{n} reminders planned.", swept.sent))
        if swept.sent and not _is_serving(base.settings.data):
            typer.echo(words("They wait in the outbox until `partners serve` runs."))


def _is_serving(data: Path) -> bool:
    from filelock import FileLock, Timeout

    lock = FileLock(data / "serve.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False
