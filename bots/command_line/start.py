"""What every command begins with: settings, log, store; and how it ends when one of them fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from bots.app import Ground


def fail(sentence: str) -> NoReturn:
    """End the program: one sentence that says what to do, and status 1."""
    print(sentence, file=sys.stderr)  # noqa: T201
    raise SystemExit(1)


@contextmanager
def ground(*, quiet: bool = False) -> Iterator[Ground]:
    """Load the settings, set up the log, open the store; whatever fails becomes a sentence.

    ``quiet`` keeps everything below a warning off the screen, for commands that a person reads.
    """
    import logging

    from bots.app import Ground
    from core.logs import configure
    from core.settings import Settings, SettingsError
    from core.store.session import Store, StoreError
    from core.store.trouble import DatabaseError, unusable
    from core.tuning import load_tuning

    configure(level=logging.WARNING if quiet else logging.INFO, quiet=("aiogram",))
    try:
        settings = Settings.load()
        tuning = load_tuning(words=settings.words)
        for warning in tuning.warnings:
            logging.getLogger(__name__).warning("%s", warning)
        settings.prepare_data()
        store = Store.open(settings.database.get_secret_value(), settings.words)
    except (SettingsError, StoreError) as error:
        fail(str(error))
    try:
        yield Ground(settings, tuning, store)
    except SettingsError as error:
        fail(str(error))
    except DatabaseError as error:
        fail(unusable(settings.database.get_secret_value(), error, settings.words))
    finally:
        store.close()
