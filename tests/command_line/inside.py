"""Commands run in this process, for the breadth that many processes would make slow."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from bots.cli import app
from tests.process import Installation


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]


def runner(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs one command in the installation; a traceback fails the test."""
    monkeypatch.chdir(installation.folder)
    for name in set(os.environ) - set(installation.environment):
        monkeypatch.delenv(name)
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Done:
        with _own_log():
            result = CliRunner().invoke(app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.output
        return Done(result.exit_code, result.stdout, result.stderr)

    return run


@contextmanager
def _own_log() -> Iterator[None]:
    """Put back what a command sets for the process it expects to be alone in."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    hooks = sys.excepthook, threading.excepthook
    try:
        yield
    finally:
        root.handlers[:], root.level = handlers, level
        sys.excepthook, threading.excepthook = hooks
        logging.captureWarnings(capture=False)
