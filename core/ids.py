"""Identifiers: ULIDs, which sort by the time they were made."""

from __future__ import annotations

from datetime import datetime

from ulid import ULID


def new_id(at: datetime | None = None) -> str:
    """A new ULID as its 26 characters; of the moment ``at`` when given."""
    return str(ULID.from_datetime(at) if at else ULID())
