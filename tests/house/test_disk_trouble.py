"""A disk or database that refuses for a while: it costs time, never an answer or a memory."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlmodel import col, select, update

from core.store.tables import Inbound, Turn
from tests.house.conftest import MakeHome
from tests.house.home import Home, hanging
from tests.servers.changes import PATIENCE
from tests.servers.faults import Stage
from tests.servers.openai import OpenAIServer
from tests.servers.telegram import TelegramServer


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    """Let another program hold the database for longer than a transaction waits."""
    connection = sqlite3.connect(home.folder / "partners.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.close()


async def _logged(home: Home, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in home.log:  # noqa: ASYNC110 - a log tells nobody that it grew
            await asyncio.sleep(0.005)


async def test_an_answer_waits_for_the_database_that_cannot_take_it(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(patience=0.01)
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("why?")
    await gate.wait_reached()
    with _locked(home):
        gate.release()
        await _logged(home, "the database cannot be written")
    await home.quiet()
    assert [message.text for message in ada.private.from_bot] == ["late answer"]
    assert len(home.prompts) == 1


@pytest.mark.parametrize("stage", Stage)
async def test_a_send_and_its_receipt_wait_too_so_nobody_is_left_in_doubt(
    make_home: MakeHome, telegram: TelegramServer, stage: Stage
) -> None:
    home = await make_home(patience=0.01)
    ada = telegram.user(7, "Ada")
    gate = telegram.hold("sendMessage", stage=stage)
    ada.say("why?")
    await gate.wait_reached()
    with _locked(home):
        gate.release()
        await _logged(home, "the database cannot be written")
    await home.quiet()
    assert [message.text for message in ada.private.from_bot] == ["Go on."]


async def test_what_arrives_meanwhile_is_taken_when_it_can_be_stored(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(patience=0.01)
    ada = telegram.user(7, "Ada")
    with _locked(home):
        ada.say("why?")
        await _logged(home, "cannot be stored")
        assert telegram.pending_updates
    await home.quiet()
    assert [message.text for message in ada.private.from_bot] == ["Go on."]


async def test_what_the_journal_could_not_take_is_written_when_it_can(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "first")
    folder = await home.memory_of(ada)
    day = next(folder.events.glob("*.md"))
    kept = day.rename(day.with_name("kept"))
    day.mkdir()
    assert (await home.tell(ada, "second")).text == "Go on."
    await home.house.sweep()
    day.rmdir()
    kept.rename(day)
    await home.house.sweep()
    journal = await home.journal_of(ada)
    assert journal.count("asked: first") == journal.count("asked: second") == 1


async def test_a_folder_that_is_a_link_to_elsewhere_keeps_nobody_from_being_answered(
    home: Home, telegram: TelegramServer, tmp_path: Path
) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await home.tell(ada, "first")
    folder = (await home.memory_of(ada)).path
    shutil.move(folder, tmp_path / "away")
    folder.symlink_to(tmp_path / "away", target_is_directory=True)
    assert (await home.tell(ada, "second")).text == "Go on."
    assert "unforeseen" not in home.log
    await home.restart()
    assert (await home.tell(ben, "hello")).text == "Go on."
    folder.unlink()
    shutil.move(tmp_path / "away", folder)
    await home.house.sweep()
    assert (await home.journal_of(ada)).count("asked: second") == 1
    await home.restart()
    rows = await home.read(lambda s: s.exec(select(Turn.events)).all())
    assert set(rows) == {None}


async def test_a_stored_event_that_cannot_be_read_holds_up_nobody_else(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    for person, gate in ((ada, hanging()), (ben, hanging())):
        openai.script(gate[0])
        person.say("why?")
        await gate[1].wait_reached()
    learner = await home.learner(ada)
    spoil = update(Inbound).where(col(Inbound.learner_id) == learner).values(message="{}")
    await home.store.write(lambda s: s.exec(spoil))
    await home.restart()
    await home.quiet()
    assert [message.text for message in ben.private.from_bot] == ["Go on."]
    assert ada.private.from_bot == []
