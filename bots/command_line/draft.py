"""What a person has chosen so far in ``partners init``, and the questions about it that repeat."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING

from bots.command_line.doctor import Report

if TYPE_CHECKING:
    from bots.command_line.asking import Person
    from bots.findings import Finding
    from core.i18n import Words


class Choice(Enum):
    """What is done with values that were tried."""

    KEEP = "keep"
    AGAIN = "again"
    DROP = "drop"


class Draft:
    """The file that will be written. ``present`` is what it holds now."""

    def __init__(self, person: Person, present: Mapping[str, str], words: Words) -> None:
        self.person = person
        self.present = present
        self.words = words
        self.chosen: dict[str, str] = {}
        """What will be set; empty for what will be unset."""
        self._secret: set[str] = set()

    def keep(self, values: Mapping[str, str], secret: Iterable[str] = ()) -> None:
        """Take values; those that change nothing are left out. ``secret`` names what is hidden."""
        for name, value in values.items():
            if value != self.present.get(name, ""):
                self.chosen[name] = value
        self._secret.update(secret)

    def value(self, name: str) -> str:
        """Return what a variable will be, empty when unset."""
        return self.chosen.get(name, self.present.get(name, ""))

    def shown(self) -> list[str]:
        """Return the changes as lines in which no secret stands."""
        hidden, unset = self.words("(hidden)"), self.words("(removed)")
        return [
            f"  {name}={(hidden if name in self._secret else value) if value else unset}"
            for name, value in self.chosen.items()
        ]

    def may_change(self, names: Iterable[str]) -> bool:
        """Ask before values are changed that are there."""
        there = [name for name in names if name in self.present]
        if not there:
            return True
        said = self.words("Set already: {names}. Change that?", names=", ".join(there))
        return self.person.yes(said, default=False)

    def judged(self, findings: Iterable[Finding]) -> Choice:
        """Show what a trial brought to light; where it failed, ask what to do."""
        words, report = self.words, Report(self.words)
        report.say(findings)
        if not report.faults:
            return Choice.KEEP
        if self.person.yes(words("Enter it again?"), default=True):
            return Choice.AGAIN
        kept = self.person.yes(words("Write it all the same?"), default=False)
        return Choice.KEEP if kept else Choice.DROP

    def overruled(self) -> list[str]:
        """Return the names whose values in the environment win over the file."""
        return [name for name, value in self.chosen.items() if os.environ.get(name, value) != value]
