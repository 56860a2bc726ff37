"""Transactions, and databases that cannot be used."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlmodel import Session, select

from core.i18n import words_for
from core.store.session import Store, StoreError
from core.store.tables import Account, Conversation, Learner
from tests.process import PATIENCE, Installation

NOW = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
EN = words_for("en")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path / 'partners.db'}", EN)
    yield opened
    opened.close()


def learner(name: str, at: datetime = NOW) -> Learner:
    return Learner(id=name, zone="UTC", seen_at=at, created_at=at)


def names(session: Session) -> list[str]:
    return list(session.exec(select(Learner.id).order_by(Learner.id)).all())


async def test_a_transaction_is_committed_whole_or_not_at_all(store: Store) -> None:
    await store.write(lambda session: session.add(learner("ada")))

    def breaks(session: Session) -> None:
        session.add(learner("bob"))
        session.flush()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.write(breaks)
    assert await store.read(names) == ["ada"]


async def test_a_cancelled_caller_does_not_tear_a_transaction(store: Store) -> None:
    writing = asyncio.ensure_future(store.write(lambda session: session.add(learner("ada"))))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await store.write(lambda session: session.add(learner("bob")))
    assert await store.read(names) == ["ada", "bob"]


async def test_transactions_from_everywhere_at_once_are_all_kept(store: Store) -> None:
    def adding(name: str) -> Callable[[Session], None]:
        return lambda session: session.add(learner(name))

    def adds(name: str) -> None:
        store.submit(adding(name), durable=True).result()

    some = (store.write(adding(f"a{n}")) for n in range(20))
    others = (asyncio.to_thread(adds, f"b{n}") for n in range(20))
    await asyncio.gather(*some, *others)
    assert len(await store.read(names)) == 40


async def test_the_database_is_set_up_to_survive_a_killed_process(store: Store) -> None:
    def pragmas(session: Session) -> tuple[object, ...]:
        wanted = ("journal_mode", "synchronous", "foreign_keys")
        return tuple(session.connection().scalar(text(f"PRAGMA {name}")) for name in wanted)

    assert await store.read(pragmas) == ("wal", 1, 1)
    assert await store.write(pragmas) == ("wal", 1, 1)
    assert await store.write(pragmas, durable=True) == ("wal", 2, 1)


async def test_a_row_cannot_belong_to_a_learner_who_is_not_there(store: Store) -> None:
    orphan = Account(id="terminal:x", name="x", learner_id="nobody", created_at=NOW)
    with pytest.raises(IntegrityError):
        await store.write(lambda session: session.add(orphan))


async def test_an_instant_comes_back_as_the_same_moment_in_utc(store: Store) -> None:
    berlin = NOW.astimezone(timezone(timedelta(hours=2)))
    await store.write(lambda session: session.add(learner("ada", berlin)))
    seen = await store.read(lambda session: session.get_one(Learner, "ada").seen_at)
    assert seen == NOW
    assert seen.tzinfo is UTC
    with pytest.raises(StatementError, match="naive"):
        await store.write(
            lambda session: session.add(
                Conversation(id="c", key="k", created_at=NOW.replace(tzinfo=None))
            )
        )


# --- databases that cannot be used --------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "is no database address"),
        ("sqlite://", "is no database address"),
        ("sqlite:///:memory:", "is no database address"),
        ("postgresql://u:hunter2@h:port/x", "is no database address"),
        ("sqlite:////nowhere/at/all/x.db", "unable to open database file"),
        ("postgresql://u:hunter2@127.0.0.1:1/x", r"u:\*\*\*@127.0.0.1.* refused"),
    ],
)
def test_an_address_of_no_use_is_told_in_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(StoreError, match=sentence) as told:
        Store.open(url, EN)
    assert "PARTNERS_DATABASE_URL" in str(told.value)
    assert "hunter2" not in str(told.value)
    assert "\n" not in str(told.value)


def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "partners.db"
    Store.open(f"sqlite:///{file}", EN).close()
    whole = file.read_bytes()
    torn = bytearray(whole)
    torn[100:4096] = b"\xaa" * 3996  # the page that lists the tables
    for damaged in (b"this was never a database " * 100, bytes(torn)):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"partners\.db is damaged .*Put a copy"):
            Store.open(f"sqlite:///{file}", EN)
        assert file.read_bytes() == damaged


def test_processes_that_start_at_once_on_an_empty_folder_share_one_database(
    tmp_path: Path,
) -> None:
    installation = Installation(tmp_path)
    starts = [
        subprocess.Popen(
            [sys.executable, "-m", "bots.cli", "learners"],
            cwd=installation.folder,
            env=installation.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for start in starts:
        out, err = start.communicate(timeout=PATIENCE)
        assert (start.returncode, err) == (0, b"")
        assert out.strip() == b"Nobody yet."
