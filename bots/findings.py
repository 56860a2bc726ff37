"""What a look at the settings, or at a live account, brings to light: ``partners doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"
    """It runs, but perhaps not as it was meant."""
    FAULT = "fault"
    """It does not run."""
    UNKNOWN = "unknown"
    """It could not be asked; ``fix`` says where to look."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report, in the language of the one who runs the tutor."""

    level: Level
    text: str
    """What is so: one sentence."""
    fix: str = ""
    """What to do about it, with the exact place; empty where nothing has to be done."""


def ok(text: str, hint: str = "") -> Finding:
    """It works; ``hint`` is something worth knowing all the same."""
    return Finding(Level.OK, text, hint)


def warning(text: str, fix: str) -> Finding:
    """It runs, but perhaps not as it was meant."""
    return Finding(Level.WARNING, text, fix)


def fault(text: str, fix: str) -> Finding:
    """It does not run."""
    return Finding(Level.FAULT, text, fix)


def unknown(text: str, where: str) -> Finding:
    """It could not be asked; ``where`` says where to look."""
    return Finding(Level.UNKNOWN, text, where)
