"""The code that joins another account: short-lived, used once, and not to be guessed.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final

from sqlmodel import Session, col, delete, func, select

from core.store.tables import LinkCode, LinkGuess

LIFE: Final = timedelta(minutes=10)
GUESSES: Final = 5
"""Codes that lead nowhere an account may try within ``GUESSING``."""
GUESSING: Final = timedelta(hours=1)
_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 8


class Refused(Enum):
    """Why a code joins nothing."""

    UNKNOWN = auto()
    OLD = auto()
    USED = auto()
    OWN = auto()
    """It leads to the very learner who wrote it."""
    TOO_MANY = auto()
    """Too many codes of this account led nowhere; not even a right one is taken now."""


def make(session: Session, learner_id: str, account_id: str, now: datetime) -> str:
    """Make a code that joins another account to this learner; earlier ones are void."""
    session.exec(
        delete(LinkCode).where(
            col(LinkCode.learner_id) == learner_id, col(LinkCode.used_at).is_(None)
        )
    )
    session.exec(delete(LinkCode).where(col(LinkCode.expires_at) < now - timedelta(days=1)))
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    code = f"{letters[:4]}-{letters[4:]}"
    session.add(
        LinkCode(
            code=code,
            learner_id=learner_id,
            account_id=account_id,
            created_at=now,
            expires_at=now + LIFE,
        )
    )
    return code


def find(
    session: Session, code: str, learner_id: str, account_id: str, now: datetime
) -> LinkCode | Refused:
    """The code that an account of a learner wrote, however it was typed; what leads nowhere counts.

    A learner's own code is no guess.
    """
    since = now - GUESSING
    session.exec(delete(LinkGuess).where(col(LinkGuess.at) <= since))
    tried = select(func.count()).where(LinkGuess.account_id == account_id)
    if session.exec(tried).one() >= GUESSES:
        return Refused.TOO_MANY
    letters = "".join(c for c in code.upper() if c.isalnum())
    found = session.get(LinkCode, f"{letters[:4]}-{letters[4:]}")
    if found is not None and found.learner_id == learner_id:
        return Refused.OWN if found.used_at is None else Refused.USED
    if found is not None and found.used_at is None and found.expires_at > now:
        return found
    session.add(LinkGuess(account_id=account_id, at=now))
    if found is None:
        return Refused.UNKNOWN
    return Refused.OLD if found.used_at is None else Refused.USED
