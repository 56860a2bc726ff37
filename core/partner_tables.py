"""``[[partner]]`` in ``partners.toml``: a partner, and its accounts by the names of variables.

A token never stands in the file: where one might, nothing of it is shown and the program refuses
to start. Which channels there are, and what their accounts need, the channels know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, get_args

from core.context import AccountId
from core.environment import SettingsError
from core.i18n import LANGUAGES, Language, Words
from core.settings import Access

OWN_KEYS: Final = ("name", "persona", "language", "access", "allow")
"""Every other key of a table is the name of a channel."""

MAIN: Final = ""
"""The key of an account that is written as one variable."""

_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""Capitals only: a token that is a single word of letters is no name of a variable."""
_CHANNEL: Final = re.compile(r"[a-z_]{1,20}")
_NAME: Final = 40


@dataclass(frozen=True, slots=True)
class PartnerTable:
    """One table, read."""

    name: str
    """One line, at most 40 characters, unlike that of any other table."""
    accounts: Mapping[str, Mapping[str, str]]
    """By channel: what the account needs and the variable that holds it. ``MAIN`` alone stands
    for whatever a channel with one secret calls it."""
    persona: str | None = None
    language: Language | None = None
    access: Access | None = None
    """None: as for the whole house."""
    allow: tuple[AccountId, ...] | None = None
    """None: as for the whole house."""


def read_tables(
    value: object,
    file: str,
    words: Words,
    warn: Callable[[str], None],
    accounts: Callable[[object, str], Iterable[AccountId]],
) -> tuple[PartnerTable, ...]:
    """Read what stands under ``partner``; ``accounts`` reads a list of accounts of a key.

    Raises SettingsError for a table that may hold a token.
    """
    tables = value if isinstance(value, list) else [value]
    found: list[PartnerTable] = []
    for number, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            # It is not shown: a secret may have been put there.
            warn(words("{file}: partner has to be a table, [[partner]]. It is ignored.", file=file))
            continue
        reader = _Reader(file, words, warn, [one.name for one in found])
        found.append(reader.read(table, number, accounts))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Reader:
    file: str
    words: Words
    warn: Callable[[str], None]
    taken: Sequence[str]

    def read(
        self,
        table: Mapping[str, object],
        number: int,
        accounts: Callable[[object, str], Iterable[AccountId]],
    ) -> PartnerTable:
        name = self.name(table.get("name"), number)
        allow = None
        if "allow" in table:
            allow = tuple(accounts(table["allow"], f"partner “{name}”: allow"))
        persona = table.get("persona")
        return PartnerTable(
            name=name,
            accounts=MappingProxyType(dict(self.accounts(table, name))),
            persona=persona.strip().casefold() or None if isinstance(persona, str) else None,
            language=self.language(table.get("language"), name),
            access=self.access(table.get("access"), name),
            allow=allow,
        )

    def name(self, value: object, number: int) -> str:
        name = " ".join(value.split())[:_NAME] if isinstance(value, str) else ""
        if name and name not in self.taken:
            return name
        made = f"partner {number}"
        self.warn(
            self.words(
                "{file}: [[partner]] number {number} needs a name of its own; it is called "
                "“{name}” until then.",
                file=self.file,
                number=number,
                name=made,
            )
        )
        return made

    def language(self, value: object, name: str) -> Language | None:
        if value is None or value in LANGUAGES:
            return value  # type: ignore[return-value]  # checked against the languages there are
        self.useless(name, "language", value, " · ".join(LANGUAGES))
        return None

    def access(self, value: object, name: str) -> Access | None:
        modes = get_args(Access)
        if value is None or value in modes:
            return value  # type: ignore[return-value]  # checked against the modes there are
        # Not the house's, which may be open: what was meant here was perhaps a closed door.
        self.useless(name, "access", value, " · ".join(modes))
        return "pairing"

    def useless(self, name: str, key: str, value: object, choices: str) -> None:
        self.warn(
            self.words(
                "{file}: partner “{name}”: {key} is “{value}”, which cannot be used. Write one of: "
                "{choices}.",
                file=self.file,
                name=name,
                key=key,
                value=str(value)[:80],
                choices=choices,
            )
        )

    def accounts(
        self, table: Mapping[str, object], name: str
    ) -> Iterator[tuple[str, Mapping[str, str]]]:
        for channel, value in table.items():
            if channel in OWN_KEYS:
                continue
            needs: dict[str, object] = value if isinstance(value, dict) else {MAIN: value}
            variables: dict[str, str] = {}
            for need, variable in needs.items():
                named = isinstance(variable, str) and _VARIABLE.fullmatch(variable)
                if not named or not _CHANNEL.fullmatch(channel):
                    raise SettingsError(self.no_variable(name, channel))
                variables[need] = str(variable)
            yield channel, MappingProxyType(variables)

    def no_variable(self, name: str, channel: str) -> str:
        shown = channel if _CHANNEL.fullmatch(channel) else "…"
        example = re.sub(r"[^A-Z0-9]+", "_", f"{name} {shown}".upper()).strip("_")
        return self.words(
            "{file}: partner “{name}”: {channel} has to name an environment variable in capital "
            "letters, such as {example}_TOKEN. What stands there is not shown here: if it is the "
            "token itself, put it into .env as {example}_TOKEN=… and let this file name that.",
            file=self.file,
            name=name,
            channel=shown,
            example=example if example[:1].isalpha() else "MY",
        )
