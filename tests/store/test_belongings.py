"""Every table that holds something of a learner is known to those who erase and export."""

from __future__ import annotations

import pytest
from sqlalchemy import Column, ForeignKey, MetaData, String, Table
from sqlmodel import SQLModel

from core.belongings.export import LEFT_OUT, TABLES
from core.belongings.rows import SPOKEN_IN, Person, rows_of

NOBODY = Person(("01JDQZ7Y3WJ5M8RKT2V4X6A0AD",), ("telegram:7",))
WORDS = ("learner", "account", "sender", "speaker", "user", "person")


def personal(metadata: MetaData) -> set[str]:
    """Names of the tables that tell of a learner: by a column's name, or by what they refer to."""
    found = {"learner", "account"}
    while True:
        more = {
            table.name
            for table in metadata.tables.values()
            if any(word in column.name for column in table.columns for word in WORDS)
            or any(key.column.table.name in found for key in table.foreign_keys)
        }
        if more <= found:
            return found
        found |= more


def test_every_table_that_tells_of_a_learner_is_erased_and_exported_or_left_out_for_a_reason() -> (
    None
):
    erased = {str(table.__tablename__) for table in rows_of(NOBODY)}
    assert personal(SQLModel.metadata) <= erased
    told = [str(table.__tablename__) for table in TABLES]
    told += [str(table.__tablename__) for table in LEFT_OUT]
    assert {*told, "learner", "account"} == erased
    assert not set(TABLES) & LEFT_OUT


def test_every_table_that_names_a_conversation_is_asked_who_spoke_there() -> None:
    naming = {
        name
        for name, table in SQLModel.metadata.tables.items()
        if "conversation_id" in table.columns
    }
    assert naming == {str(table.__tablename__) for table in SPOKEN_IN}


@pytest.mark.parametrize(
    "column",
    [
        Column("learner_id", String),
        Column("made_by_account", String),
        Column("x", ForeignKey("learner.id")),
        Column("turn_id", ForeignKey("turn.id")),
    ],
)
def test_a_new_table_with_something_of_a_learners_would_be_noticed(column: Column[str]) -> None:
    metadata = MetaData()
    for table in SQLModel.metadata.tables.values():
        table.to_metadata(metadata)
    before = personal(metadata)
    Table("fresh", metadata, Column("id", String, primary_key=True), column)
    assert personal(metadata) - before == {"fresh"}
