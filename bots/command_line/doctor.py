"""``partners doctor``: is everything set up? Each fault with the place where it is mended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import typer

from bots.findings import Finding, Level, fault

if TYPE_CHECKING:
    from bots.doors import Door
    from core.environment import SettingsError
    from core.i18n import Words
    from core.settings import Settings
    from core.tuning import Tuning

_COLOURS: Final = {
    Level.OK: "green",
    Level.WARNING: "yellow",
    Level.FAULT: "red",
    Level.UNKNOWN: "cyan",
}
_INDENT: Final = "  "


def doctor() -> None:
    """Check settings, data, model and every channel, and say what to do about each fault.

    Asks the model one short question and each platform about its bot; changes nothing there.

    Example: partners doctor
    """
    from core.environment import SettingsError, language_of_messages
    from core.i18n import words_for
    from core.logs import configure
    from core.settings import Settings

    # Whatever a library would log is said here in a sentence.
    configure(level=logging.CRITICAL)
    settings: Settings | SettingsError
    try:
        settings = Settings.load()
        words = settings.words
    except SettingsError as error:
        settings = error
        words = words_for(language_of_messages())
    report = Report(words)
    asyncio.run(_examine(settings, report, words))
    report.end()
    if report.faults:
        raise SystemExit(1)


class Report:
    """Prints findings as they come, and counts them."""

    def __init__(self, words: Words) -> None:
        self.faults = 0
        self._warnings = 0
        self._words = words
        # Written with their meaning, since colours and signs are not seen by everybody.
        self._names = {
            Level.OK: words("ok"),
            Level.WARNING: words("warning"),
            Level.FAULT: words("fault"),
            Level.UNKNOWN: words("not checked"),
        }

    def section(self, title: str) -> None:
        """Begin a part of the report."""
        typer.echo(typer.style(title, bold=True))

    def say(self, findings: Iterable[Finding]) -> None:
        """Print findings."""
        for finding in findings:
            self.add(finding)

    def add(self, finding: Finding) -> None:
        """Print one finding: its level, what is so, and below it what to do."""
        from core.logs import redact

        name = self._names[finding.level]
        shown = typer.style(f"[{name}]", fg=_COLOURS[finding.level])
        first, *more = redact(finding.text).splitlines() or [""]
        typer.echo(f"{_INDENT}{shown} {first}")
        for line in (*more, *(f"→ {line}" for line in redact(finding.fix).splitlines())):
            typer.echo(f"{_INDENT * 3}{line}")
        self.faults += finding.level is Level.FAULT
        self._warnings += finding.level is Level.WARNING

    def end(self) -> None:
        """Print what it comes to."""
        words = self._words
        faults = words.plural("{n} fault", "{n} faults", self.faults)
        warnings = words.plural("{n} warning", "{n} warnings", self._warnings)
        typer.echo()
        if self.faults or self._warnings:
            typer.echo(words("Found: {faults}, {warnings}.", faults=faults, warnings=warnings))
        else:
            typer.echo(words("All is well."))


async def _examine(settings: Settings | SettingsError, report: Report, words: Words) -> None:
    from bots.command_line import checkup
    from bots.doors import survey
    from core.environment import ENV_FILE, SettingsError
    from core.tuning import TUNING_FILE, Tuning, load_tuning

    report.section(words("Settings"))
    tuning: Tuning | None = None
    try:
        tuning = load_tuning(words=words)
    except SettingsError as error:
        report.say(checkup.problems(error))
    if isinstance(settings, SettingsError):
        report.say(checkup.problems(settings))
    else:
        report.say(checkup.check_settings(settings, words))
    report.say(checkup.check_env_file(ENV_FILE, tuning, words))
    if tuning is not None:
        report.say(checkup.check_tuning(TUNING_FILE, tuning, words))
    tuning = tuning or Tuning()
    if not isinstance(settings, SettingsError):
        report.section(words("Data"))
        report.say(checkup.check_data(settings, words))
        report.say(checkup.check_personas(settings, tuning, words))
        report.section(words("Model"))
        await _ask_models(settings, report, words)
    found = survey(tuning, words)
    report.section(words("Chat apps"))
    report.say(checkup.check_accounts(found, settings, words))
    for door in found.doors:
        report.section(door.label)
        async with aclosing(ask(door, words, tuning)) as findings:
            async for finding in findings:
                report.add(finding)


async def _ask_models(settings: Settings, report: Report, words: Words) -> None:
    from bots.app import choose_transcriber
    from bots.command_line import checkup
    from bots.command_line.model_check import check_model, fallback_access, first_access
    from core.settings import SettingsError

    for access in (first_access(settings), fallback_access(settings)):
        if access is not None:
            report.add(await check_model(access, words))
    try:
        choose_transcriber(settings)
    except SettingsError as error:
        report.say(checkup.problems(error))


async def ask(door: Door, words: Words, tuning: Tuning) -> AsyncGenerator[Finding, None]:
    """Ask a platform about an account, which may need a package that is not installed."""
    try:
        async for finding in door.check(words, tuning):
            yield finding
    except ModuleNotFoundError as error:
        yield fault(
            words("{package} is not installed.", package=error.name),
            words("Run: pip install 'partners[{channel}]'", channel=door.channel),
        )
