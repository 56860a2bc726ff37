"""What the one who runs the tutor is told when the database fails."""

from __future__ import annotations

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from core.i18n import Words

__all__ = ["DatabaseError", "unusable"]

_DAMAGED = ("file is not a database", "disk image is malformed")
"""What SQLite says of a file that it did not write, or not whole (sqlite.org/rescode.html)."""


def unusable(url: str, error: DatabaseError, words: Words) -> str:
    """Say why the database at ``url`` cannot be used, and what to do."""
    address = make_url(url).render_as_string(hide_password=True)
    reason = " ".join(str(error.orig).split())
    if any(sign in reason for sign in _DAMAGED):
        return words(
            "The database {address} is damaged ({reason}). Put a copy from before back in its "
            "place, or move it away to begin anew; the memory files stay as they are.",
            address=address,
            reason=reason,
        )
    return words(
        "The database {address} cannot be opened ({reason}). Check PARTNERS_DATA and "
        "PARTNERS_DATABASE_URL.",
        address=address,
        reason=reason,
    )
