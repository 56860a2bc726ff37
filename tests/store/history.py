"""The Alembic history, driven as tests need it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlmodel import SQLModel

import core.store.migrations
import core.store.tables

FOLDER = Path(core.store.migrations.__file__).parent


def script() -> ScriptDirectory:
    """The history."""
    return ScriptDirectory.from_config(_config())


def revisions() -> list[str]:
    """All revisions, oldest first."""
    return [found.revision for found in script().walk_revisions()][::-1]


def bring_to(connection: Connection, revision: str) -> None:
    """Bring an empty database to a revision."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def differences(connection: Connection) -> list[object]:
    """What a database lacks, or has too much, by the tables as the program knows them."""
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, SQLModel.metadata))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return config
