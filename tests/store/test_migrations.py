"""One history from nothing to the present tables, also for databases from the past or future."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from core.i18n import words_for
from core.store.migrations import HEAD
from core.store.session import Store, StoreError
from tests.store.history import bring_to, differences, revisions, script

EN = words_for("en")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "partners.db"


def address(file: Path) -> str:
    return f"sqlite:///{file.as_posix()}"


def ask(file: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement).fetchall()


def test_the_constant_names_the_newest_revision() -> None:
    assert script().get_heads() == [HEAD]
    assert revisions()[-1] == HEAD


@pytest.mark.parametrize("older", [None, *revisions()])
def test_every_database_from_the_past_becomes_the_present_one(
    file: Path, older: str | None
) -> None:
    engine = create_engine(address(file))
    if older is not None:
        with engine.begin() as connection:
            bring_to(connection, older)
    Store.open(address(file), EN).close()
    with engine.connect() as connection:
        assert differences(connection) == []
    engine.dispose()
    assert ask(file, "SELECT version_num FROM alembic_version") == [(HEAD,)]


def test_a_difference_between_tables_and_history_would_show(file: Path) -> None:
    Store.open(address(file), EN).close()
    ask(file, "ALTER TABLE card DROP COLUMN lapses")
    engine = create_engine(address(file))
    with engine.connect() as connection:
        assert [change[0] for change in differences(connection)] == ["add_column"]  # type: ignore[index]
    engine.dispose()


def test_a_database_from_the_future_is_refused_and_left_alone(file: Path) -> None:
    Store.open(address(file), EN).close()
    ask(file, "UPDATE alembic_version SET version_num = '9001'")
    with pytest.raises(StoreError, match="newer version of Partners") as told:
        Store.open(address(file), EN)
    assert "9001" in str(told.value)
    assert HEAD in str(told.value)
    assert "PARTNERS_DATA" in str(told.value)
    assert ask(file, "SELECT version_num FROM alembic_version") == [("9001",)]


def test_a_migration_that_fails_leaves_nothing_half_done(file: Path) -> None:
    ask(file, "CREATE TABLE nudge (somebody_elses TEXT)")
    with pytest.raises(StoreError, match=r"cannot be opened \(table nudge already exists\)"):
        Store.open(address(file), EN)
    assert ask(file, "SELECT name FROM sqlite_master WHERE type = 'table'") == [("nudge",)]
