"""Which accounts are set up: by plain variables, and by ``[[partner]]`` tables that name theirs.

An account that cannot be used costs a warning while there are others; one account in two tables
is refused, since nobody could say whose it is. Loads no platform's library.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from bots.discord import door as discord
from bots.feishu import door as feishu
from bots.findings import Finding
from bots.telegram import door as telegram
from core.channel import Channel
from core.context import AccountId
from core.environment import EnvSettings, SettingsError, renamed, variable
from core.i18n import Words
from core.partner_tables import MAIN, OWN_KEYS, PartnerTable
from core.tuning import Tuning

log = logging.getLogger(__name__)


class Kind(Protocol):
    """The door of a channel: ``bots/<channel>/door.py``."""

    GROUP: Any
    """The class of its variables."""
    NEEDS: dict[str, str]
    MAY_NAME: dict[str, str]
    TITLE: str
    """How people call it."""
    HOW: str
    """How one gets an account, a message id."""
    ASKS: tuple[str, ...]
    """The fields that somebody who has one is asked for, in order."""

    def identity(self, settings: Any, words: Words) -> str | None:
        """Tell its account from others; None when none is set up. Raises SettingsError."""

    def channel(self, settings: Any, words: Words, tuning: Mapping[str, object]) -> Channel:
        """Make the channel, not started."""

    def check(
        self, settings: Any, words: Words, tuning: Mapping[str, object]
    ) -> AsyncIterator[Finding]:
        """Ask the platform about the account, which is left as it is. Never raises."""


KINDS: Final[Mapping[str, Kind]] = {"telegram": telegram, "discord": discord, "feishu": feishu}


@dataclass(frozen=True, slots=True)
class Door:
    """An account that is set up."""

    channel: str
    """Name of its channel."""
    settings: EnvSettings
    table: PartnerTable | None
    """The partner it belongs to; None for the one that plain variables set up."""

    @property
    def label(self) -> str:
        """Its channel, and its partner where it has one."""
        return f"{self.channel} ({self.table.name})" if self.table else self.channel

    def open(self, words: Words, tuning: Tuning) -> Channel:
        """Make its channel, not started; its platform's library is loaded here."""
        return KINDS[self.channel].channel(self.settings, words, tuning.channel(self.channel))

    def check(self, words: Words, tuning: Tuning) -> AsyncIterator[Finding]:
        """Ask the platform about the account, which is left as it is. Never raises."""
        return KINDS[self.channel].check(self.settings, words, tuning.channel(self.channel))


@dataclass(frozen=True, slots=True)
class Survey:
    """What is set up, and what is said about it."""

    doors: Sequence[Door]
    """Plain accounts first."""
    warnings: Sequence[str]
    """One for each account that stays off, or is none."""
    problems: Sequence[str]
    """What nothing starts with."""


def survey(tuning: Tuning, words: Words) -> Survey:
    """Look at every account that is set up."""
    found = _Tables(words)
    problems: list[str] = []
    for table in tuning.partners:
        try:
            found.read(table)
        except SettingsError as error:
            problems += error.problems
    plain: list[Door] = []
    for name, kind in KINDS.items():
        try:
            settings = kind.GROUP.load(words=words)
            identity = kind.identity(settings, words)
        except SettingsError as error:
            problems += error.problems
            continue
        # Where a table names it as well, it is the table's: that says more.
        if identity is not None and (name, identity) not in found.owners:
            plain.append(Door(name, settings, None))
    return Survey((*plain, *found.doors), found.warnings, tuple(dict.fromkeys(problems)))


def configured(tuning: Tuning, words: Words) -> Sequence[Door]:
    """Every account that is set up, plain ones first. Warnings go to the log.

    Raises SettingsError for plain variables of no use, and for an account of two partners.
    """
    found = survey(tuning, words)
    for said in found.warnings:
        log.warning("%s", said)
    if found.problems:
        raise SettingsError(*found.problems)
    return found.doors


def full_account(account: str, tuning: Tuning) -> AccountId:
    """Return the account with its app, where it is written without and exactly one is set up.

    Raises SettingsError.
    """
    return feishu.full_account(account, _apps(tuning) if feishu.is_short(account) else ())


def _apps(tuning: Tuning) -> Iterator[str]:
    groups = [feishu.GROUP]
    for table in tuning.partners:
        named = table.accounts.get("feishu", {})
        groups += [renamed(feishu.GROUP, {"app_id": named["app_id"]})] if "app_id" in named else []
    for group in groups:
        app = group.load().app_id
        if app is not None:
            yield app


@dataclass(slots=True)
class _Tables:
    """Reads tables one after the other."""

    words: Words
    doors: list[Door] = field(default_factory=list)
    owners: dict[tuple[str, str], str] = field(default_factory=dict)
    """Name of the partner of each account found."""
    warnings: list[str] = field(default_factory=list)

    def read(self, table: PartnerTable) -> None:
        before = len(self.doors)
        for name, named in table.accounts.items():
            kind = KINDS.get(name)
            if kind is None:
                self._unknown(table, name)
            elif (fields := self._fields(table, name, named, kind)) is not None:
                self._account(table, name, kind, fields)
        if len(self.doors) == before:
            self.warnings.append(
                self.words("Partner “{name}” has no account to answer on.", name=table.name)
            )

    def _account(
        self, table: PartnerTable, name: str, kind: Kind, fields: Mapping[str, str]
    ) -> None:
        group = renamed(kind.GROUP, fields)
        try:
            settings = group.load(words=self.words)
            identity = kind.identity(settings, self.words)
        except SettingsError as error:
            self._off(table, name, str(error))
            return
        missing = [field for field in kind.NEEDS.values() if getattr(settings, field) is None]
        if identity is None or missing:
            names = ", ".join(variable(group, field) for field in missing)
            self._off(table, name, self.words("{name} is not set.", name=names))
            return
        other = self.owners.setdefault((name, identity), table.name)
        if other != table.name:
            raise SettingsError(
                self.words(
                    "partners.toml: “{one}” and “{other}” name the same {channel} account. Make a "
                    "bot of its own for one of them.",
                    one=other,
                    other=table.name,
                    channel=name,
                )
            )
        self.doors.append(Door(name, settings, table))

    def _fields(
        self, table: PartnerTable, name: str, named: Mapping[str, str], kind: Kind
    ) -> Mapping[str, str] | None:
        """The fields with the variables that set them; None when something is amiss."""
        if MAIN in named and len(kind.NEEDS) == 1:
            return dict.fromkeys(kind.NEEDS.values(), named[MAIN])
        known = {**kind.NEEDS, **kind.MAY_NAME}
        if not set(kind.NEEDS) <= set(named) <= set(known):
            wanted = ", ".join(kind.NEEDS)
            said = self.words(
                "Name a variable for each of these, and no more: {needs}", needs=wanted
            )
            self._off(table, name, said)
            return None
        return {known[need]: variable for need, variable in named.items()}

    def _off(self, table: PartnerTable, name: str, why: str) -> None:
        self.warnings.append(
            self.words(
                "{channel} of partner “{name}” stays off: {why}",
                channel=name,
                name=table.name,
                why=why,
            )
        )

    def _unknown(self, table: PartnerTable, name: str) -> None:
        near = difflib.get_close_matches(name, (*OWN_KEYS, *KINDS), 1)
        said = self.words(
            "partners.toml: partner “{name}”: nobody knows {key}, it is ignored. There are: "
            "{known}",
            name=table.name,
            key=name,
            known=near[0] if near else ", ".join((*OWN_KEYS, *KINDS)),
        )
        self.warnings.append(said)
