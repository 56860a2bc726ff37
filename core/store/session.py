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
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError
from sqlalchemy.sql.dml import Insert
from sqlmodel import Session, SQLModel

from core.i18n import Words
from core.store.migrations import HEAD, DatabaseTooNewError, upgrade

T = TypeVar("T")

Work = Callable[[Session], T]
"""The body of a transaction. It must not keep the session."""


class StoreError(Exception):
    """The database cannot be used; the text says why and what to do."""


def insert_new(session: Session, table: type[SQLModel], *unique: str) -> Insert:
    """An INSERT that does nothing where a row with these unique columns exists."""
    name = session.get_bind().dialect.name
    insert = sqlite.insert if name == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing(index_elements=list(unique))


class Store:
    """The open database. Make one with ``Store.open`` and close it at the end."""

    def __init__(self, readers: Engine, writer: Engine, durable: Engine) -> None:
        self._readers, self._writer, self._durable = readers, writer, durable
        writers = 1 if writer.dialect.name == "sqlite" else 8
        self._write_threads = ThreadPoolExecutor(writers, thread_name_prefix="store-write")
        self._read_threads = ThreadPoolExecutor(4, thread_name_prefix="store-read")

    @classmethod
    def open(cls, url: str, words: Words) -> Store:
        """Open and migrate the database at a SQLAlchemy URL; blocks meanwhile.

        ``sqlite:///path`` and ``postgresql://…`` are enough. Raises StoreError with a sentence
        for the one who runs the tutor, in their ``words``.
        """
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise StoreError(
                words(
                    "PARTNERS_DATABASE_URL is no database address. Write one like "
                    "postgresql://user:password@host/name, or remove it."
                )
            ) from None
        if parsed.get_backend_name() == "sqlite":
            full = parsed.set(drivername="sqlite").render_as_string(hide_password=False)
            store = cls(
                _sqlite(full, "NORMAL", writes=False),
                _sqlite(full, "NORMAL", writes=True),
                _sqlite(full, "FULL", writes=True),
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
            raise StoreError(
                words(
                    "The database {address} cannot be opened ({reason}). Check PARTNERS_DATA and "
                    "PARTNERS_DATABASE_URL.",
                    address=parsed.render_as_string(hide_password=True),
                    reason=str(error.orig).strip(),
                )
            ) from error
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


def _sqlite(url: str, synchronous: str, *, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # The driver would open transactions by itself, and only at writes: we say when, below.
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A writer takes the lock at once: upgrading from reading later can fail.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
