"""A house closes its doors whatever state its database is in."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.house.home import Home
from tests.servers.telegram import TelegramServer


async def test_a_broken_database_keeps_no_door_open_and_no_memory_is_written_twice(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "why is the sky blue?")
    _rename(home, "turn", "gone")
    await home.house.close(2.0)
    assert "the journal could not be marked" in home.log
    polls = len(telegram.requests_of("getUpdates"))
    ada.say("are you there?")
    assert telegram.pending_updates
    assert len(telegram.requests_of("getUpdates")) == polls

    _rename(home, "gone", "turn")
    await home.restart()
    await home.quiet()
    written = await home.journal_of(ada)
    assert written.count("asked: why is the sky blue?") == 1
    assert written.count("asked: are you there?") == 1


def _rename(home: Home, table: str, to: str) -> None:
    with closing(sqlite3.connect(home.folder / "partners.db")) as database:
        database.execute(f"ALTER TABLE {table} RENAME TO {to}")
        database.commit()
