"""Mentions: how ``@Name`` becomes ``@_user_1`` with an entry beside it, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

ALL = "@_all"
EVERYONE = "所有人"
_TAG = re.compile(r"<at\s+user_id\s*=\s*[\"']([\w-]+)[\"']\s*>(.*?)</at>", re.DOTALL)
_KEY = re.compile(r"@_user_\d+|@_all(?!\w)")


class Account(Protocol):
    """A person or the bot."""

    @property
    def open_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def is_bot(self) -> bool: ...
    def ids(self) -> dict[str, str | None]:
        """Return open_id, union_id and user_id as events show them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One mentioned account and the placeholder that stands for it in the text."""

    key: str
    name: str
    ids: dict[str, str | None]
    is_bot: bool = False

    @property
    def open_id(self) -> str:
        """The account's open_id; empty for everyone."""
        return self.ids.get("open_id") or ""

    def event(self, tenant: str) -> dict[str, Any]:
        """Return the entry in an event's ``mentions``."""
        kind = {"mentioned_type": "bot" if self.is_bot else "user"} if self.key != ALL else {}
        return {
            "key": self.key,
            "id": self.ids,
            "name": self.name,
            "tenant_key": tenant,
            **kind,
        }

    def rest(self, tenant: str) -> dict[str, Any]:
        """Return the entry in a message object of the REST interfaces."""
        return {
            "key": self.key,
            "id": self.open_id,
            "id_type": "open_id",
            "name": self.name,
            "tenant_key": tenant,
        }


def everyone() -> Mention:
    """Return the entry for a mention of all, which the platform does not always send."""
    return Mention(ALL, EVERYONE, {"open_id": "", "union_id": "", "user_id": ""})


class Encoder:
    """Numbers the accounts of one message in order of their first mention."""

    def __init__(self) -> None:
        self._found: dict[str, Mention] = {}

    @property
    def mentions(self) -> list[Mention]:
        """The entries so far."""
        return list(self._found.values())

    def key(self, account: Account) -> str:
        """Return the placeholder of an account."""
        mention = self._found.get(account.open_id)
        if mention is None:
            key = f"@_user_{len(self._found) + 1}"
            mention = Mention(key, account.name, account.ids(), account.is_bot)
            self._found[account.open_id] = mention
        return mention.key

    def text(self, text: str, accounts: Iterable[Account]) -> str:
        """Replace every ``@Name`` of these accounts; ``@all`` becomes ``@_all``."""
        by_name = {account.name: account for account in accounts}
        names = sorted([*by_name, "all"], key=len, reverse=True)
        # Longest first, so that a name that begins another one does not win.
        pattern = re.compile("@(" + "|".join(map(re.escape, names)) + ")")

        def placeholder(found: re.Match[str]) -> str:
            account = by_name.get(found[1])
            return ALL if account is None else self.key(account)

        return pattern.sub(placeholder, text)


def tags_encoded(
    text: str, find: Callable[[str], Account | None]
) -> tuple[str, list[Mention], list[str]]:
    """Replace ``<at user_id="ou_x">`` tags; return text, entries, and the ids nobody has."""
    encoder = Encoder()
    unknown: list[str] = []

    def placeholder(found: re.Match[str]) -> str:
        if found[1] == "all":
            return ALL
        account = find(found[1])
        if account is None:
            unknown.append(found[1])
            return found[0]
        return encoder.key(account)

    return _TAG.sub(placeholder, text), encoder.mentions, unknown


def readable(text: str, mentions: list[Mention]) -> str:
    """Return a text as an app shows it: placeholders replaced by names."""
    names = {mention.key: mention.name for mention in mentions} | {ALL: EVERYONE}
    return _KEY.sub(lambda found: f"@{names[found[0]]}" if found[0] in names else found[0], text)
