"""Transactions on the database: each is one plain function, run in the database's own thread.

``await store.write(work)`` opens a transaction, calls ``work(session)`` and commits when it
returns. One thread hop a transaction costs a third of what an asynchronous driver costs with its
hop a statement, and nothing can be awaited inside, so no transaction waits for a model or a
network.

SQLite runs in WAL mode with one writer; readers run beside it. A committed transaction survives
a killed process (synchronous NORMAL); ``write(…, durable=True)`` also survives a power cut
(synchronous FULL), which the inbox needs.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Engine, Table, bindparam, create_engine, event, insert, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.sql.dml import ReturningInsert, Update
from sqlmodel import Session, SQLModel

from core.i18n import Words
from core.store.migrations import HEAD, DatabaseTooNewError, upgrade
from core.store.trouble import unusable

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
"""Seconds between tries of a transaction that must be recorded; the pause doubles."""

Work = Callable[[Session], T]
"""The body of a transaction. It must not keep the session."""


_IN_MEMORY = (None, "", ":memory:")


class StoreError(Exception):
    """The database cannot be used; the text says why and what to do."""


def insert_rows(session: Session, table: type[SQLModel], *rows: Mapping[str, object]) -> None:
    """Insert rows, each with the same columns.

    This and the two functions below go past the mapper and build their SQL once, which makes them
    several times cheaper; objects of the session do not notice what they change.
    """
    session.flush()
    session.connection().execute(insert(_columns_of(table)), rows)


def insert_new(
    session: Session, table: type[SQLModel], row: Mapping[str, object], *unique: str
) -> Sequence[Any] | None:
    """Insert a row unless one with the same ``unique`` columns exists.

    Returns its primary key; None when nothing was inserted.
    """
    session.flush()
    connection = session.connection()
    statement = _insert_new(connection.dialect.name, table, unique)
    return connection.execute(statement, row).one_or_none()


def update_where(
    session: Session,
    table: type[SQLModel],
    equal: Mapping[str, object],
    values: Mapping[str, object],
) -> int:
    """Set ``values`` in the rows whose columns ``equal`` these; return how many there are."""
    session.flush()
    wanted = {f"where_{name}": value for name, value in equal.items()}
    statement = _update_where(table, tuple(equal))
    return session.connection().execute(statement, {**wanted, **values}).rowcount


@cache
def _insert_new(
    dialect: str, table: type[SQLModel], unique: tuple[str, ...]
) -> ReturningInsert[Any]:
    into = sqlite.insert if dialect == "sqlite" else postgresql.insert
    columns = _columns_of(table)
    statement = into(columns).on_conflict_do_nothing(index_elements=list(unique))
    return statement.returning(*columns.primary_key)


@cache
def _update_where(table: type[SQLModel], equal: tuple[str, ...]) -> Update:
    columns = _columns_of(table)
    return update(columns).where(*(columns.c[name] == bindparam(f"where_{name}") for name in equal))


def _columns_of(table: type[SQLModel]) -> Table:
    return table.metadata.tables[str(table.__tablename__)]


class Store:
    """The open database. Make one with ``Store.open`` and close it at the end."""

    def __init__(self, readers: Engine, writer: Engine, durable: Engine) -> None:
        self._readers, self._writer, self._durable = readers, writer, durable
        writers = 1 if writer.dialect.name == "sqlite" else 8
        self._write_threads = ThreadPoolExecutor(writers, thread_name_prefix="store-write")
        self._read_threads = ThreadPoolExecutor(4, thread_name_prefix="store-read")

    @classmethod
    def open(cls, url: str, words: Words, *, patience: float = 30.0) -> Store:
        """Open and migrate the database at a SQLAlchemy URL; blocks meanwhile.

        A transaction waits ``patience`` seconds for another program's lock on a SQLite file.
        ``sqlite:///path`` and ``postgresql://…`` are enough. Raises StoreError with a sentence
        for the one who runs the tutor, in their ``words``.
        """
        try:
            parsed = make_url(url)
            if parsed.drivername.startswith("sqlite") and parsed.database in _IN_MEMORY:
                raise ArgumentError  # every connection would see an empty one of its own
        except (ArgumentError, ValueError):
            raise StoreError(
                words(
                    "PARTNERS_DATABASE_URL is no database address. Write one like "
                    "postgresql://user:password@host/name, or remove it."
                )
            ) from None
        if parsed.get_backend_name() == "sqlite":
            full = parsed.set(drivername="sqlite").render_as_string(hide_password=False)
            store = cls(
                _sqlite(full, "NORMAL", patience, writes=False),
                _sqlite(full, "NORMAL", patience, writes=True),
                _sqlite(full, "FULL", patience, writes=True),
            )
        else:
            try:
                engine = create_engine(
                    parsed.set(drivername="postgresql+psycopg"), pool_size=12, hide_parameters=True
                )
            except ModuleNotFoundError:
                raise StoreError(
                    words(
                        "PostgreSQL needs its driver. Run {command}.",
                        command="pip install 'partners[postgres]'",
                    )
                ) from None
            store = cls(engine, engine, engine)
        try:
            with store._writer.begin() as connection:
                upgrade(connection)
        except DatabaseTooNewError as error:
            store.close()
            raise StoreError(
                words(
                    "The data was used by a newer version of Partners (database revision "
                    "{have}, this one knows {known}). Start that version, or name another folder "
                    "in PARTNERS_DATA.",
                    have=error.have,
                    known=HEAD,
                )
            ) from None
        except DatabaseError as error:
            store.close()
            raise StoreError(unusable(url, error, words)) from error
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Wait for the transactions under way, then close every connection."""
        self._write_threads.shutdown()
        self._read_threads.shutdown()
        for engine in {self._readers, self._writer, self._durable}:
            engine.dispose()

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` on a session that only reads."""
        return await asyncio.wrap_future(self._read_threads.submit(_read, self._readers, work))

    async def write(self, work: Work[T], *, durable: bool = False) -> T:
        """Run ``work`` as one transaction: committed whole when it returns, undone when it raises.

        ``durable`` waits until the disk has it. A cancelled caller does not undo a transaction
        that has begun.
        """
        future = self.submit(work, durable=durable)
        return await asyncio.shield(asyncio.wrap_future(future))

    async def insist(self, work: Work[T]) -> T:
        """Like ``write``, again and again while the database cannot be written.

        For what has happened and must be recorded: a full disk, a lock held by another program or
        a server that restarts costs time, not an answer. Cancelling ends it.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                return await self.write(work)
            except OperationalError as error:
                if not _passing(error):
                    raise
                log.error("the database cannot be written, trying again: %s", error.orig)
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)

    def scrub(self) -> None:
        """Leave nothing of erased rows in the files of a SQLite database; it blocks.

        The rows themselves are overwritten when they are deleted; older states of them lie in the
        write-ahead log until it is written back. While another program reads, that waits for the
        next transaction that finds the log long enough.
        """
        if self._writer.dialect.name == "sqlite":
            self._write_threads.submit(_write_back, self._writer).result()

    def submit(self, work: Work[T], *, durable: bool = False) -> Future[T]:
        """Like ``write`` for a caller without an event loop."""
        engine = self._durable if durable else self._writer
        return self._write_threads.submit(_write, engine, work)


def _read(engine: Engine, work: Work[T]) -> T:
    with Session(engine, expire_on_commit=False, autoflush=False) as session:
        return work(session)


def _write(engine: Engine, work: Work[T]) -> T:
    with Session(engine, expire_on_commit=False) as session, session.begin():
        return work(session)


def _write_back(engine: Engine) -> None:
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _passing(error: OperationalError) -> bool:
    """Tell a refusal that may pass (locked, full, read-only) from a statement that cannot work.

    PostgreSQL's driver reports the latter by other exceptions; SQLite tells it by its code only.
    """
    return getattr(error.orig, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR


def _sqlite(url: str, synchronous: str, patience: float, *, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # The driver would open transactions by itself, and only at writes: we say when, below.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what was erased is overwritten

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A writer takes the lock at once: upgrading from reading later can fail.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
