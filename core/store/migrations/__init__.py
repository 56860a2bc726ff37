"""The one Alembic history, and the check that a database belongs to it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

HEAD = "0012"
"""Newest revision. Comparing with it spares a start the import of Alembic."""

_LOCK = 7_224_531
"""Ours among the advisory locks of a PostgreSQL database."""


class DatabaseTooNewError(Exception):
    """The database was written by a newer version of the program."""

    def __init__(self, have: str) -> None:
        super().__init__(f"the database is at revision {have}, this program knows up to {HEAD}")
        self.have = have


def upgrade(connection: Connection) -> None:
    """Bring the database to ``HEAD``; an empty one is created.

    Raises DatabaseTooNewError when its revision is not in our history.
    """
    if connection.dialect.name == "postgresql":
        # Two processes that start at once take turns; on SQLite the write lock sees to that.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    have = None
    if inspect(connection).has_table("alembic_version"):
        have = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if have == HEAD:
        return

    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if have is not None and have not in known:
        raise DatabaseTooNewError(have)
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
