"""How a value of ``partners.toml`` is judged, and what is said of one that is of no use."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.i18n import Words


@dataclass(frozen=True, slots=True)
class Number:
    """A number: the field it fills, and the values that make sense."""

    name: str
    low: float
    high: float
    whole: bool = True


class Values:
    """Judges values and collects what has to be said about them; ``file`` is named in it."""

    def __init__(self, file: str, words: Words) -> None:
        self.file = file
        self.words = words
        self.warnings: list[str] = []

    def table(self, tables: Mapping[str, object], key: str) -> Mapping[str, object]:
        """Return a table by its key, empty when there is none, or no table."""
        found = tables.get(key, {})
        if isinstance(found, dict):
            return found
        self.no_table(key, found)
        return {}

    def number(self, key: str, value: object, number: Number, default: object) -> float | None:
        """Return a usable number, None after a warning."""
        usable = _number(value, number)
        if usable is None:
            self.warnings.append(
                self.words(
                    "{file}: {key} is “{value}”, which cannot be used; it stays {default}. "
                    "Write a number from {low} to {high}.",
                    file=self.file,
                    key=key,
                    value=str(value)[:80],
                    default=default,
                    low=f"{number.low:g}",
                    high=f"{number.high:.0f}",
                )
            )
        return usable

    def choice(self, key: str, value: object, choices: Sequence[str], default: str) -> str:
        """Return one of ``choices``, in any spelling of its case; ``default`` after a warning."""
        given = str(value).strip().lower()
        if given in choices:
            return given
        self.warnings.append(
            self.words(
                "{file}: {key} is “{value}”, which cannot be used; it stays {default}. "
                "Write one of: {choices}.",
                file=self.file,
                key=key,
                value=str(value)[:80],
                default=default,
                choices=", ".join(choices),
            )
        )
        return default

    def unknown(self, key: str, prefix: str, known: Sequence[str]) -> None:
        """Say that nobody knows a key, and which known one is like it."""
        near = difflib.get_close_matches(key, known, n=1)
        if near:
            self.warnings.append(
                self.words(
                    "{file}: nobody knows {key}, it is ignored. Did you mean {similar}?",
                    file=self.file,
                    key=prefix + key,
                    similar=prefix + near[0],
                )
            )
        else:
            self.warnings.append(
                self.words(
                    "{file}: nobody knows {key}, it is ignored. Remove it, or compare with "
                    "partners.toml.example.",
                    file=self.file,
                    key=prefix + key,
                )
            )

    def no_table(self, key: str, value: object) -> None:
        """Say that something has to be a table and is none."""
        self.warnings.append(
            self.words(
                "{file}: {key} is “{value}”, which is ignored; it has to be a table, [{key}].",
                file=self.file,
                key=key,
                value=str(value)[:80],
            )
        )


def _number(value: object, number: Number) -> float | None:
    """Return a usable number, also from a text such as ``"0.2"``; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value.replace("_", ""))
        except ValueError:
            return None
    # A boolean counts as a number in Python, not here; what is not a number fails both bounds.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not number.low <= value <= number.high:
        return None
    if not number.whole:
        return value
    return int(value) if value == int(value) else None
