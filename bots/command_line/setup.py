"""``partners init``: asks for what one has, tries it at once, writes ``.env``."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Final

import typer

from bots.command_line.asking import Keyboard
from bots.command_line.draft import Draft
from bots.command_line.start import fail

if TYPE_CHECKING:
    from pathlib import Path

    from bots.command_line.asking import Person
    from core.i18n import Words

_LANGUAGE: Final = "PARTNERS_LANGUAGE"
_ZONE: Final = "PARTNERS_TIMEZONE"


def init() -> None:
    """Set the tutor up: asks for model, chat apps and owner, tries each, writes .env.

    Keys and tokens are not shown while they are typed. What is set already is not changed without
    asking, and nothing is written before the end.

    Example: partners init
    """
    from core.environment import ENV_FILE, SettingsError, language_of_messages
    from core.i18n import words_for
    from core.logs import configure

    # Whatever a library would log is said here in a sentence.
    configure(level=logging.CRITICAL)
    words = words_for(language_of_messages())
    if sys.stdin is None or not sys.stdin.isatty():
        fail(
            words(
                "`partners init` asks questions, and nobody sits at this keyboard. Copy "
                ".env.example to .env and fill it in; `partners doctor` then checks it."
            )
        )
    try:
        set_up(ENV_FILE, Keyboard(), words)
    except SettingsError as error:
        fail(str(error))
    except typer.Abort:
        typer.echo()
        fail(words("Stopped. Nothing was written."))


def set_up(path: Path, person: Person, words: Words) -> None:
    """Ask everything, then write the file at ``path``.

    Raises SettingsError, and typer.Abort when they stop.
    """
    from bots.command_line.door_questions import ask_for_doors
    from bots.command_line.env_file import values_in
    from bots.command_line.model_questions import ask_for_model
    from core.environment import text_of
    from core.i18n import language_from, words_for

    present = values_in(text_of(path, words) or "")
    draft = Draft(person, present, words_for(language_from(present.get(_LANGUAGE), words.language)))
    _ask_for_language(draft)
    ask_for_model(draft)
    ask_for_doors(draft)
    _ask_for_zone(draft)
    _write(path, draft)


def _ask_for_language(draft: Draft) -> None:
    """Ask for the language first: the other questions are in it."""
    from core.i18n import LANGUAGES, host_language, words_for

    said = ""
    while said not in LANGUAGES:
        question = f"Language / 语言 ({', '.join(LANGUAGES)})"
        said = draft.person.line(question, draft.words.language).lower()
    draft.words = words_for(said)
    if said != draft.present.get(_LANGUAGE, host_language()):
        draft.keep({_LANGUAGE: said})
    draft.person.say(
        draft.words(
            "Enter alone leaves out what you do not have. Nothing is written before the end; "
            "Ctrl-C stops."
        )
    )


def _ask_for_zone(draft: Draft) -> None:
    """Ask for the zone; that of this machine is not written, so that it is followed."""
    from bots.command_line.checkup import problems
    from core.settings import Settings, SettingsError, host_zone

    usual = draft.present.get(_ZONE) or host_zone()
    while True:
        said = draft.person.line(draft.words("Time zone"), usual)
        if said == usual:
            return
        try:
            settings = Settings.load(None, {_ZONE: said}, draft.words)
        except SettingsError as error:
            draft.person.say(*(finding.text for finding in problems(error)))
            continue
        draft.keep({_ZONE: settings.timezone})
        return


def _write(path: Path, draft: Draft) -> None:
    from bots.command_line.env_file import changed, write
    from core.environment import SettingsError, text_of

    words, person = draft.words, draft.person
    if not draft.chosen:
        person.say("", words("Nothing was changed. `partners doctor` checks what is set."))
        return
    person.say("", words("This will be written to {file}; all else in it stays:", file=path))
    person.say(*draft.shown())
    if not person.yes(words("Write it?"), default=True):
        person.say(words("Stopped. Nothing was written."))
        return
    # Read once more: an editor may have saved it meanwhile.
    text = text_of(path, words) or ""
    try:
        text = changed(text, draft.chosen)
    except ValueError:
        raise SettingsError(
            words(
                "One of the values cannot be written into {file}: it holds characters that the "
                "file cannot hold. Set it in the environment.",
                file=path,
            )
        ) from None
    write(path, text, words)
    person.say(words("Written to {file}.", file=path))
    if names := draft.overruled():
        person.say(
            words(
                "The environment has another value for {names}, and that one counts. Unset it "
                "there.",
                names=", ".join(names),
            )
        )
    person.say(
        words(
            "`partners chat` talks to the tutor here, `partners serve` runs it in the chat apps, "
            "and `partners doctor` checks everything."
        )
    )
