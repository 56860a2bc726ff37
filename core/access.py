"""Who may learn here: the verdict is a pure function, the codes are rows.

Closed by default: a stranger gets a pairing code, and nothing of what they wrote is kept. The one
who runs the tutor lets them in by that code.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from sqlmodel import Session, col, delete, or_, select

from core.context import AccountId, ReplyTarget
from core.document import Button, Document
from core.i18n import Language, language_from, words_for
from core.outbox import post
from core.store.tables import AccessRequest, AccessState, Account, Learner

CODE_LIFE = timedelta(hours=24)
_CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


class AccessMode(StrEnum):
    """PARTNERS_ACCESS."""

    PAIRING = "pairing"
    """Strangers get a code that the owner approves."""
    ALLOWLIST = "allowlist"
    """Only the accounts in ``[access] allow``, the owners and the approved."""
    OPEN = "open"
    """Everybody who is not denied."""


class Verdict(Enum):
    """What an account may do here."""

    OWNER = "learns, and may stop anybody's turn"
    ADMITTED = "learns"
    STRANGER = "is told, politely, how to get in"
    DENIED = "gets no answer"


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The settings that decide about access."""

    mode: AccessMode
    owners: Collection[str]
    allow: Collection[str]

    def judge(self, account: str, state: str | None) -> Verdict:
        """Decide about an account and what is recorded of it (None: never seen).

        A recorded denial outranks every list except ownership; an empty list admits nobody.
        """
        if account in self.owners or state == AccessState.OWNER:
            return Verdict.OWNER
        if state == AccessState.DENIED:
            return Verdict.DENIED
        admitted = (
            self.mode is AccessMode.OPEN or state == AccessState.APPROVED or account in self.allow
        )
        return Verdict.ADMITTED if admitted else Verdict.STRANGER


def pairing_code(
    session: Session, account: AccountId, target: ReplyTarget, language: Language, now: datetime
) -> tuple[AccessRequest, bool]:
    """The account's code, and whether it is new: it keeps one while that is valid, for a day.

    ``language`` is the one its person is spoken with at ``target``.
    """
    request = session.get(AccessRequest, account)
    if request and request.expires_at > now:
        return request, False
    if request:
        session.delete(request)
        session.flush()
    letters = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(6))
    request = AccessRequest(
        account_id=account,
        code=f"{letters[:4]}-{letters[4:]}",
        target=target.model_dump_json(exclude_defaults=True),
        language=language,
        created_at=now,
        expires_at=now + CODE_LIFE,
    )
    session.add(request)
    return request, True


def find_request(session: Session, code: str, now: datetime) -> AccessRequest | None:
    """The valid request with this code, however a person typed it; None when there is none."""
    letters = "".join(c for c in code.upper() if c.isalnum())
    wanted = f"{letters[:4]}-{letters[4:]}"
    request = session.exec(select(AccessRequest).where(AccessRequest.code == wanted)).first()
    return request if request and request.expires_at > now else None


def decide(session: Session, account_id: str, state: AccessState, now: datetime) -> Account:
    """Record a decision about an account, also about one that has not written yet."""
    account = session.get(Account, account_id)
    if account is None:
        account = Account(id=account_id, name=account_id, created_at=now)
    account.access = state
    session.add(account)
    session.exec(delete(AccessRequest).where(col(AccessRequest.account_id) == account_id))
    return account


def approve(session: Session, code: str, now: datetime, language: Language) -> Account | None:
    """Let in whoever has this code, and write to them; None when nobody has it.

    ``language`` is that of people whose app tells none.
    """
    request = find_request(session, code, now)
    if request is None:
        return None
    target = ReplyTarget.model_validate_json(request.target)
    account = decide(session, request.account_id, AccessState.APPROVED, now)
    words = words_for(language_from(request.language or account.language, language))
    post(
        session,
        key=f"approved:{request.account_id}:{request.code}",
        target=target.model_copy(update={"reply_to": None}),
        document=Document(
            markdown=words(
                "You're in. What shall we work on? Ask me anything, and show me how far you got."
            ),
            buttons=(
                (
                    Button(label=words("Choose a tutor"), action="persona:"),
                    Button(label=words("How this works"), action="help:"),
                ),
            ),
        ),
        now=now,
        language=words.language,
    )
    return account


def reachable_owners(session: Session, owners: Collection[str]) -> list[Learner]:
    """The owners, by the settings (``owners``, accounts) or by decision, who have an own chat."""
    return list(
        session.exec(
            select(Learner)
            .join(Account, col(Account.learner_id) == col(Learner.id))
            .where(
                or_(col(Account.id).in_(list(owners)), Account.access == AccessState.OWNER),
                col(Learner.home).is_not(None),
            )
            .distinct()
            .order_by(Learner.id)
        ).all()
    )


@dataclass(frozen=True, slots=True)
class Known:
    """An account as the list shows it."""

    account: Account
    code: str | None
    """The code it waits with, while that is valid."""


def everybody(session: Session, now: datetime) -> list[Known]:
    """All accounts that ever wrote or were decided about; those who wait come first."""
    requests = {
        request.account_id: request.code
        for request in session.exec(select(AccessRequest))
        if request.expires_at > now
    }
    accounts = session.exec(select(Account).order_by(Account.id)).all()
    known = [Known(account, requests.get(account.id)) for account in accounts]
    return sorted(known, key=lambda one: one.code is None)
