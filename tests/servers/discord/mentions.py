"""Who a text mentions, and who of them is notified."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.discord.errors import Path
from tests.servers.discord.form import Form, snowflake
from tests.servers.discord.limits import MENTIONS

Pinged = frozenset[int | str]
"""Ids of people and roles, and ``"everyone"`` or ``"here"``."""

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_ALL = re.compile(r"(?<![\w`])@(everyone|here)\b")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text names, each once, in its order."""

    users: tuple[int, ...] = ()
    roles: tuple[int, ...] = ()
    all: frozenset[str] = frozenset()
    """``everyone``, ``here``, both or neither."""

    @property
    def pinged(self) -> Pinged:
        """All of them, as a notification goes out when nothing holds it back."""
        return frozenset({*self.users, *self.roles, *self.all})


def mentioned(
    text: str, known_user: Callable[[int], bool], known_role: Callable[[int], bool]
) -> Mentions:
    """Return what a text mentions. Inside code nothing is a mention."""
    plain = _CODE.sub(" ", text)
    users = dict.fromkeys(int(found) for found in _USER.findall(plain))
    roles = dict.fromkeys(int(found) for found in _ROLE.findall(plain))
    return Mentions(
        tuple(filter(known_user, users)),
        tuple(filter(known_role, roles)),
        frozenset(_ALL.findall(plain)),
    )


@dataclass(frozen=True, slots=True)
class Allowed:
    """``allowed_mentions``: which mentions of a message the bot lets through."""

    users: frozenset[int] | None = None
    """None for all."""
    roles: frozenset[int] | None = None
    everyone: bool = True
    replied: bool = True

    def pinged(self, found: Mentions, replied_to: int | None) -> Pinged:
        """Return who is notified of a message that mentions and answers these."""
        pinged: set[int | str] = {
            user for user in found.users if self.users is None or user in self.users
        }
        pinged |= {role for role in found.roles if self.roles is None or role in self.roles}
        if self.everyone:
            pinged |= found.all
        if self.replied and replied_to is not None:
            pinged.add(replied_to)
        return frozenset(pinged)


def check_allowed(form: Form, raw: object) -> Allowed:
    """Return the rule of a body's ``allowed_mentions``; without one everything passes."""
    if raw is None:
        return Allowed()
    path: Path = ("allowed_mentions",)
    given = form.mapping(path, raw)
    parse = given.get("parse") or []
    if not isinstance(parse, list):
        form.add((*path, "parse"), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        parse = []
    for index, kind in enumerate(parse):
        form.choice((*path, "parse", index), kind, ("everyone", "roles", "users"))
    listed = {kind: _ids(form, (*path, kind), given, kind in parse) for kind in ("users", "roles")}
    return Allowed(
        None if "users" in parse else listed["users"],
        None if "roles" in parse else listed["roles"],
        "everyone" in parse,
        given.get("replied_user") is True,
    )


def _ids(form: Form, path: Path, given: dict[str, Any], parsed: bool) -> frozenset[int]:
    kind = str(path[-1])
    raw = given.get(kind) or []
    if not isinstance(raw, list):
        form.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        return frozenset()
    form.length(path, len(raw), 0, MENTIONS)
    if raw and parsed:
        form.add(
            path[:-1],
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
            f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
        )
    found = [snowflake(item) for item in raw]
    for index, (item, number) in enumerate(zip(raw, found, strict=True)):
        if number is None:
            form.add((*path, index), "NUMBER_TYPE_COERCE", f'Value "{item}" is not snowflake.')
    return frozenset(number for number in found if number is not None)
