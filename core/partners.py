"""Several partners in one house: what each bot account brings as its own.

A partner is a name with a persona, a language, and its own answer to who may learn with it. What
it leaves open is the house's. Accounts that belong to no named partner share the house's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.access import AccessPolicy
from core.context import ReplyTarget
from core.i18n import Language


@dataclass(frozen=True, slots=True)
class Partner:
    """Who teaches on an account."""

    policy: AccessPolicy
    """Who may learn there."""
    name: str = ""
    """Tells it apart from the others; empty for the house's own."""
    persona: str | None = None
    """Id of the persona of its conversations where the learner chose none; None for the
    library's default."""
    language: Language | None = None
    """Spoken with learners who chose none; None for that of their app."""

    def label(self, channel: str) -> str:
        """Name an account of this partner where a channel may have several."""
        return f"{channel} ({self.name})" if self.name else channel


class Partners:
    """Which partner an address belongs to."""

    def __init__(self, own: Partner) -> None:
        self.own = own
        """The house's own, for every account that was not said to be another's."""
        self._accounts: dict[tuple[str, str], Partner] = {}

    def put(self, channel: str, account: str, partner: Partner) -> None:
        """Say whose an account is."""
        self._accounts[channel, account] = partner

    def label(self, channel: str, account: str) -> str:
        """Name an account as health and ``/status`` show it."""
        return self._accounts.get((channel, account), self.own).label(channel)

    def of(self, target: ReplyTarget) -> Partner:
        """The partner that is spoken with at an address."""
        return self._accounts.get((target.channel, target.account), self.own)
