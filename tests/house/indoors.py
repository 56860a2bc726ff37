"""A real house in this process behind any door: real model client, real files, a movable clock."""

from __future__ import annotations

import abc
import asyncio
import io
import logging
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

from sqlmodel import Session, col, func, select

from core.access import AccessMode, AccessPolicy, approve
from core.capabilities.registry import CAPABILITIES
from core.channel import Channel
from core.house import House, Parts
from core.i18n import Language, words_for
from core.limits import Limits
from core.llm.client import OpenAIModel
from core.llm.fallback import FallbackModel
from core.llm.port import ChatModel
from core.llm.transcribe import Transcriber
from core.logs import JsonFormatter
from core.loop.gates import Budget
from core.memory_tuning import Consolidating, MemoryTuning
from core.store.session import Store
from core.store.tables import Account, Outgoing, OutgoingState
from core.tools.registry import Tool
from core.turns.intake import Defaults
from personas.persona import PersonaLibrary
from tests.servers.changes import PATIENCE
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer

T = TypeVar("T")

MORNING = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
"""A Monday, 10:00 in Berlin, where the house stands."""
KEY = "sk-house-0123456789abcdef"
BY_HAND = MemoryTuning(consolidate=Consolidating.OFF)
"""Memory is consolidated only where a test asks for it."""


class MovableClock:
    """Stands still until a test moves it."""

    def __init__(self, instant: datetime) -> None:
        self.instant = instant

    def now(self) -> datetime:
        return self.instant

    def advance(self, **duration: float) -> None:
        """Let time pass: ``advance(hours=24)``."""
        self.instant += timedelta(**duration)


class Indoors(abc.ABC):
    """One house with one door. ``await open()`` first, ``await close()`` last.

    A subclass says which door, and when everything that people did has come through it.
    """

    def __init__(
        self,
        folder: Path,
        openai: OpenAIServer,
        *,
        mode: AccessMode = AccessMode.OPEN,
        owners: Collection[str] = (),
        allow: Collection[str] = (),
        budget: Budget | None = None,
        language: Language = "en",
        database: str | None = None,
        patience: float = 30.0,
        join_within: timedelta = timedelta(0),
        model: str = "scripted",
        hears: bool = False,
        limits: Limits | None = None,
        fallback: str | None = None,
        tools: tuple[Tool, ...] = (),
        offers_anew: bool = False,
        consolidation: MemoryTuning = BY_HAND,
    ) -> None:
        """``database`` is a SQLAlchemy address; None means a file in the folder. ``patience`` is
        the seconds a transaction waits for a lock on it. Every message is a question of its own
        unless ``join_within`` says otherwise. ``hears`` gives the house speech recognition, by the
        model server, which also has the model ``fallback``. ``tools`` come beside the house's own.
        """
        self.folder = folder
        self.memory = folder / "memory"
        self.openai = openai
        self.policy = AccessPolicy(mode, frozenset(owners), frozenset(allow))
        self.budget = budget or Budget()
        self.budgets: dict[str, Budget] = {}
        self.tune(self.budget)
        self.clock = MovableClock(MORNING)
        self.language = language
        self.database = database or f"sqlite:///{folder / 'partners.db'}"
        self.patience = patience
        self.join_within = join_within
        self.model = model
        self.hears = hears
        self.limits = limits or Limits()
        self.fallback = fallback
        self.tools = tools
        self.offers_anew = offers_anew
        self.consolidation = consolidation
        self._log = io.StringIO()
        self._handler = logging.StreamHandler(self._log)
        self._handler.setFormatter(JsonFormatter())
        self._level = logging.WARNING
        self.store: Store
        self.house: House

    def tune(self, budget: Budget) -> None:
        """Let every capability have this budget from now on."""
        self.budgets.update({one.name: budget for one in CAPABILITIES})

    async def open(self) -> Self:
        """Open the house as a start of the program does."""
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(logging.INFO)
        root.addHandler(self._handler)
        self.store = Store.open(self.database, words_for("en"), patience=self.patience)
        self.house = House(
            Parts(
                store=self.store,
                clock=self.clock,
                policy=self.policy,
                defaults=Defaults(zone="Europe/Berlin", language=self.language),
                personas=PersonaLibrary.load(self.folder / "personas"),
                model=self._model(),
                budgets=self.budgets,
                memory=self.memory,
                join_within=self.join_within,
                limits=self.limits,
                tools=self.tools,
                offers_anew=self.offers_anew,
                consolidation=self.consolidation,
                transcriber=Transcriber(
                    name="ears", api_key=KEY, base_url=self.openai.base_url, backoff=0.01
                )
                if self.hears
                else None,
            )
        )
        await self.house.start()
        await self.house.open(self.channel())
        return self

    def _model(self) -> ChatModel:
        first = OpenAIModel(
            name=self.model, api_key=KEY, base_url=self.openai.base_url, backoff=0.01
        )
        return first if self.fallback is None else FallbackModel(first, first.named(self.fallback))

    async def close(self) -> None:
        """Close it as SIGTERM does."""
        await self.house.close(2.0)
        self.store.close()
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger().setLevel(self._level)

    async def restart(self) -> None:
        """Close, and open again on the same data."""
        await self.close()
        await self.open()

    # What was said

    @property
    def log(self) -> str:
        """Everything logged so far, as it is written where no person reads along."""
        return self._log.getvalue()

    @property
    def prompts(self) -> list[RecordedRequest]:
        """The model calls."""
        return self.openai.chats

    @abc.abstractmethod
    def channel(self) -> Channel:
        """Return the door, not started."""

    @abc.abstractmethod
    async def taken(self) -> None:
        """Wait until everything that people did is committed and stands in its lane."""

    @abc.abstractmethod
    def all_taken(self) -> bool:
        """Tell whether that is so."""

    async def quiet(self) -> None:
        """Wait until every update is taken and everything to be said is said."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self.taken()
                await self.house.idle()
                if self.all_taken() and not await self.read(_unsent):
                    return
                self.house.delivery.look()
                await asyncio.sleep(0.002)

    async def read(self, work: Callable[[Session], T]) -> T:
        return await self.store.read(work)

    async def approve(self, code: str, language: Language = "en") -> Account | None:
        """What ``partners access approve`` does."""
        return await self.store.write(lambda s: approve(s, code, self.clock.now(), language))


def _unsent(session: Session) -> int:
    waiting = (OutgoingState.PENDING, OutgoingState.SENDING)
    return session.exec(
        select(func.count()).select_from(Outgoing).where(col(Outgoing.state).in_(waiting))
    ).one()
