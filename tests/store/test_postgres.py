"""The main job on a real PostgreSQL."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import ColumnElement, create_engine, text
from sqlmodel import Session, SQLModel, func, select

from core.belongings.export import collect
from core.belongings.rows import person, rows_of
from core.i18n import words_for
from core.scheduling.nudges import sweep
from core.store.migrations import HEAD
from core.store.session import Store, StoreError
from tests.house.home import Home
from tests.house.test_forgetting import everything, forget
from tests.process import PATIENCE, Installation
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer
from tests.store import postgres
from tests.store.history import differences

pytestmark = pytest.mark.skipif(
    postgres.programs() is None, reason="PostgreSQL (initdb) is not installed on this machine"
)
EN = words_for("en")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def database(cluster: str) -> str:
    """Emptied before each test."""
    engine = create_engine(cluster.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return cluster


@pytest.fixture
async def home(
    tmp_path: Path, database: str, telegram: TelegramServer, openai: OpenAIServer
) -> AsyncIterator[Home]:
    openai.default = Reply("Go on.")
    opened = await Home(tmp_path, telegram, openai, database=database).open()
    yield opened
    await opened.close()


async def test_a_learner_is_exported_and_forgotten_to_the_last_row(home: Home) -> None:
    ada = home.telegram.user(7, "Ada")
    await everything(home, ada)
    learner = await home.learner(ada)
    found = await asyncio.to_thread(collect, home.store, home.memory, learner, EN)
    assert "zebra7 front" in found.files["cards.csv"].decode()
    who = await home.read(partial(person, learner_id=learner))
    await forget(home, learner)
    for table, own in rows_of(who).items():
        assert await home.read(partial(_count, table=table, own=own)) == 0, table


def _count(session: Session, table: type[SQLModel], own: ColumnElement[bool]) -> int:
    return session.exec(select(func.count()).select_from(table).where(own)).one()


async def test_a_learner_is_answered_saves_a_card_and_is_reminded_once(home: Home) -> None:
    ada = home.telegram.user(7, "Ada")
    assert (await home.tell(ada, "why is 0! = 1? 为什么")).text == "Go on."
    await home.restart()
    assert (await home.tell(ada, "and now?")).text == "Go on."
    assert [m["content"] for m in home.prompts[-1].json["messages"] if m["role"] != "system"] == [
        "why is 0! = 1? 为什么",
        "Go on.",
        "and now?",
    ]
    assert "Saved." in (await home.tell(ada, "/add 0! :: 1")).text
    assert "already" in (await home.tell(ada, "/add 0! :: 1")).text

    now = home.clock.now()
    tomorrow = now + timedelta(days=1)
    swept = [await sweep(home.store, tomorrow, now, "en") for _ in range(2)]
    assert [one.sent for one in swept] == [1, 0]
    home.house.delivery.look()
    nudge = await ada.private.wait_message(lambda m: m.from_bot and "0!" in m.text)
    shown, _ = await home.press(nudge, "Show answer")
    rated, _ = await home.press(shown, shown.labels[0])
    assert "Done for today: 1 of 1." in rated.text
    assert "ERROR" not in home.log
    assert "WARNING" not in home.log


def test_the_history_makes_the_tables_the_program_knows(database: str) -> None:
    Store.open(database, EN).close()
    Store.open(database, EN).close()
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        assert differences(connection) == []
        connection.execute(text("UPDATE alembic_version SET version_num = '9001'"))
    with pytest.raises(StoreError, match="9001"):
        Store.open(database, EN)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) != HEAD
    engine.dispose()


def test_processes_that_start_at_once_take_turns(tmp_path: Path, database: str) -> None:
    installation = Installation(tmp_path, PARTNERS_DATABASE_URL=database)
    starts = [
        subprocess.Popen(
            [sys.executable, "-m", "bots.cli", "learners"],
            cwd=installation.folder,
            env=installation.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for start in starts:
        out, err = start.communicate(timeout=PATIENCE)
        assert (start.returncode, err) == (0, b"")
        assert out.strip() == b"Nobody yet."
    assert not (installation.data / "partners.db").exists()
