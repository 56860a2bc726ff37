"""Rows of the outbox that this version cannot read."""

from __future__ import annotations

from sqlmodel import Session, select

from core.store.tables import Outgoing, OutgoingState
from tests.house.home import Home
from tests.servers.telegram import TelegramServer


async def test_a_row_that_cannot_be_read_holds_up_no_other(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/help")

    def spoil(session: Session) -> None:
        old = session.exec(select(Outgoing)).one()
        for name, state in (("a", OutgoingState.PENDING), ("b", OutgoingState.SENDING)):
            row = {**old.model_dump(warnings=False), "id": name, "key": name, "state": state}
            session.add(Outgoing(**{**row, "document": '{"of": "another version"}'}))

    await home.store.write(spoil)
    await home.restart()
    assert "A fresh start" in (await home.tell(ada, "/new")).text
    rows = await home.read(lambda s: s.exec(select(Outgoing.id, Outgoing.state)).all())
    assert {row[0]: row[1] for row in rows if len(row[0]) == 1} == {
        "a": OutgoingState.FAILED,
        "b": OutgoingState.FAILED,
    }
