"""The house before it is opened: settings files, data folder, database, tutors."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from bots.findings import Finding, fault, ok, warning

if TYPE_CHECKING:
    from pathlib import Path

    from bots.doors import Survey
    from core.environment import SettingsError
    from core.i18n import Words
    from core.settings import Settings
    from core.tuning import Tuning

_OURS: Final = ("PARTNERS_", "OPENAI_", "TELEGRAM_", "DISCORD_", "FEISHU_")
"""Beginnings of names in ``.env`` that somebody here should read."""


def check_env_file(path: Path, tuning: Tuning | None, words: Words) -> Iterator[Finding]:
    """Look at ``.env``: names nobody reads, names the environment overrules, who can read it."""
    from dotenv import dotenv_values

    try:
        written = dotenv_values(path, encoding="utf-8-sig", interpolate=False)
    except (OSError, UnicodeDecodeError):
        return  # said by what reads the settings
    if not path.is_file():
        yield ok(
            words("There is no {file}: the environment and the defaults hold.", file=path),
            words("`partners init` writes one."),
        )
        return
    known = variables(tuning)
    strange = [name for name in written if name.startswith(_OURS) and name not in known]
    for name in strange:
        near = difflib.get_close_matches(name, known, 1)
        yield warning(
            words("{file}: nobody reads {name}.", file=path, name=name),
            words("Did you mean {similar}?", similar=near[0])
            if near
            else words("Remove it, or compare with .env.example."),
        )
    overruled = [
        name
        for name, value in written.items()
        if name in known and value and os.environ.get(name, value) not in (value, "")
    ]
    if overruled:
        yield warning(
            words(
                "{file}: the environment has another value for {names}, and that one counts.",
                file=path,
                names=", ".join(overruled),
            ),
            words("Unset it in the environment, or remove the line from {file}.", file=path),
        )
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield warning(
            words("{file} can be read by other people on this machine.", file=path),
            words("Run: chmod 600 {file}", file=path),
        )
    elif not strange and not overruled:
        yield ok(words("{file} is in order.", file=path))


def variables(tuning: Tuning | None) -> set[str]:
    """Return the names of all variables that somebody reads."""
    from bots.doors import KINDS
    from core.environment import EnvSettings, variable
    from core.settings import Settings

    groups: Iterable[type[EnvSettings]] = (Settings, *(kind.GROUP for kind in KINDS.values()))
    known = {variable(group, field) for group in groups for field in group.model_fields}
    for table in tuning.partners if tuning else ():
        known.update(name for named in table.accounts.values() for name in named.values())
    return known


def check_settings(settings: Settings, words: Words) -> Iterator[Finding]:
    """Look at values that can be used, and are perhaps not meant."""
    from bots.doors import KINDS
    from bots.terminal.receive import CHANNEL

    channels = (*KINDS, CHANNEL)
    for account in settings.owners:
        channel = account.partition(":")[0]
        if channel not in channels:
            yield warning(
                words(
                    "PARTNERS_OWNERS names {account}; there is no such channel.", account=account
                ),
                words("There are: {known}", known=", ".join(channels)),
            )
    if settings.access == "open":
        yield warning(
            words("Everybody may use this tutor, at your cost (PARTNERS_ACCESS=open)."),
            words(
                "Limit what may be spent in a day ([limits] in partners.toml), or set "
                "PARTNERS_ACCESS=pairing."
            ),
        )


def check_tuning(path: Path, tuning: Tuning, words: Words) -> Iterator[Finding]:
    """Look at ``partners.toml``: what cannot be used, and what nobody reads."""
    from bots.doors import KINDS

    compare = words("Correct it in {file}; partners.toml.example shows how.", file=path)
    said = list(tuning.warnings)
    for name in tuning.channels:
        if name not in KINDS:
            near = difflib.get_close_matches(name, KINDS, 1)
            said.append(
                words(
                    "{file}: nobody knows {key}, it is ignored. There are: {known}",
                    file=path,
                    key=f"channels.{name}",
                    known=near[0] if near else ", ".join(KINDS),
                )
            )
    for sentence in said:
        yield warning(sentence, compare)
    if path.is_file() and not said:
        yield ok(words("{file} is in order.", file=path))


def check_data(settings: Settings, words: Words) -> Iterator[Finding]:
    """See that the data folder can be written to, and that the database opens."""
    from core.settings import SettingsError
    from core.store.session import Store, StoreError

    try:
        folder = settings.prepare_data()
    except SettingsError as error:
        yield from problems(error)
        return
    yield ok(words("The data folder {folder} can be written to.", folder=folder))
    try:
        Store.open(settings.database.get_secret_value(), words).close()
    except StoreError as error:
        yield fault(
            str(error),
            words(
                "See that PARTNERS_DATABASE_URL is right and its server runs, or remove it to use "
                "a file in the data folder."
            ),
        )
    else:
        yield ok(words("The database opens."))


def check_personas(settings: Settings, tuning: Tuning, words: Words) -> Iterator[Finding]:
    """See that the tutors' files can be read, and that those asked for are there."""
    from personas.persona import PersonaLibrary, PersonaUnknown

    library = PersonaLibrary.load(settings.data / "personas")
    for problem in library.problems:
        yield warning(
            str(problem),
            words("It is left out until its file is mended; `partners persona check` checks it."),
        )
    names = ", ".join(persona.id for persona in library.all())
    yield ok(words("Tutors: {names}", names=names))
    for table in tuning.partners:
        if table.persona is None:
            continue
        try:
            library.get(table.persona)
        except PersonaUnknown:
            yield warning(
                words(
                    "Partner “{name}”: there is no persona {persona}. These are there: {known}",
                    name=table.name,
                    persona=table.persona,
                    known=names,
                ),
                words("Name one of them in partners.toml; the default one answers until then."),
            )


def problems(error: SettingsError) -> Iterator[Finding]:
    """Return what is wrong; each sentence says itself what to do."""
    return (fault(problem, "") for problem in error.problems)


def check_accounts(
    found: Survey, settings: Settings | SettingsError, words: Words
) -> Iterator[Finding]:
    """Say which accounts stay off, and why. What ``settings`` had to say is not said again."""
    known = getattr(settings, "problems", ())
    for problem in found.problems:
        if problem not in known:
            yield fault(problem, "")
    for said in found.warnings:
        yield warning(said, words("Correct it in partners.toml or .env."))
    if not (found.doors or found.problems or found.warnings):
        yield warning(
            words("No chat app is set up; the tutor speaks in the terminal only."),
            words("`partners init` sets one up, and the README shows how, step by step."),
        )
