"""A real house in this process: real door, real model client, real files, a clock to be moved."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr
from sqlmodel import Session, col, func, select

from bots.telegram.adapter import TelegramChannel
from bots.telegram.polling import Pace
from core.access import AccessMode, AccessPolicy, approve, decide
from core.house import House, Parts
from core.i18n import Language, words_for
from core.llm.client import OpenAIModel
from core.logs import JsonFormatter
from core.loop.gates import Budget
from core.store.session import Store
from core.store.tables import AccessState, Account, Outgoing, OutgoingState
from core.turns.intake import Defaults
from memory.layers import LearnerFolder
from personas.persona import PersonaLibrary
from tests.servers.changes import PATIENCE
from tests.servers.faults import Gate, RecordedRequest
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Chat, Person, Shown, TelegramServer

T = TypeVar("T")

MORNING = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
"""A Monday, 10:00 in Berlin, where the house stands."""
KEY = "sk-house-0123456789abcdef"
_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


class MovableClock:
    """Stands still until a test moves it."""

    def __init__(self, instant: datetime) -> None:
        self.instant = instant

    def now(self) -> datetime:
        return self.instant

    def advance(self, **duration: float) -> None:
        """Let time pass: ``advance(hours=24)``."""
        self.instant += timedelta(**duration)


class Home:
    """One house with one Telegram account. ``await open()`` first, ``await close()`` last."""

    def __init__(
        self,
        folder: Path,
        telegram: TelegramServer,
        openai: OpenAIServer,
        *,
        mode: AccessMode = AccessMode.OPEN,
        owners: Collection[str] = (),
        allow: Collection[str] = (),
        budget: Budget | None = None,
        language: Language = "en",
        database: str | None = None,
    ) -> None:
        """``database`` is a SQLAlchemy address; None means a file in the folder."""
        self.folder = folder
        self.memory = folder / "memory"
        self.telegram = telegram
        self.openai = openai
        self.policy = AccessPolicy(mode, frozenset(owners), frozenset(allow))
        self.budget = budget or Budget()
        self.clock = MovableClock(MORNING)
        self.language = language
        self.database = database or f"sqlite:///{folder / 'partners.db'}"
        self._log = io.StringIO()
        self._handler = logging.StreamHandler(self._log)
        self._handler.setFormatter(JsonFormatter())
        self._level = logging.WARNING
        self.store: Store
        self.house: House

    async def open(self) -> Home:
        """Open the house as a start of the program does."""
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(logging.INFO)
        root.addHandler(self._handler)
        self.store = Store.open(self.database, words_for("en"))
        self.house = House(
            Parts(
                store=self.store,
                clock=self.clock,
                policy=self.policy,
                defaults=Defaults(zone="Europe/Berlin", language=self.language),
                personas=PersonaLibrary.load(self.folder / "personas"),
                model=OpenAIModel(
                    name="scripted", api_key=KEY, base_url=self.openai.base_url, backoff=0.01
                ),
                budget=self.budget,
                memory=self.memory,
            )
        )
        await self.house.start()
        await self.house.open(
            TelegramChannel(
                SecretStr(self.telegram.token),
                words=words_for("en"),
                api_base=self.telegram.url,
                rates=None,
                clock=self.clock,
                pace=Pace(long_poll=20, first_retry=0.01, longest_retry=0.05),
            )
        )
        return self

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

    async def taken(self) -> None:
        """Wait until every update is committed and stands in its lane."""
        await self.telegram.wait_for(lambda: not self.telegram.pending_updates)

    async def quiet(self) -> None:
        """Wait until every update is taken and everything to be said is said."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self.taken()
                await self.house.idle()
                if not self.telegram.pending_updates and not await self.read(_unsent):
                    return
                self.house.delivery.look()
                await asyncio.sleep(0.002)

    async def ask(self, chat: Chat, person: Person, text: str, **where: object) -> list[Shown]:
        """Let a person write, wait for quiet, return what the tutor said since."""
        before = chat.from_bot
        last = before[-1].message_id if before else 0
        chat.say(person, text, **where)  # type: ignore[arg-type]
        await self.quiet()
        return [message for message in chat.from_bot if message.message_id > last]

    async def tell(self, person: Person, text: str, **where: object) -> Shown:
        """Do the same in private, where exactly one message is the answer."""
        [answer] = await self.ask(person.private, person, text, **where)
        return answer

    async def press(
        self, message: Shown, button: str, person: Person | None = None
    ) -> tuple[Shown, list[Shown]]:
        """Press a button; return its message as shown afterwards, and what came below."""
        before = {shown.message_id for shown in message.chat.from_bot}
        message.chat.press(message, button, person)
        await self.quiet()
        new = [shown for shown in message.chat.from_bot if shown.message_id not in before]
        return message.chat.now(message), new

    def forge(self, person: Person, chat: Chat, origin: Shown, data: str) -> None:
        """Send a press with data of one's own making."""
        query = {
            "id": f"forged-{self.telegram.state.fresh_id()}",
            "from": person.json(),
            "message": origin.json(),
            "chat_instance": str(chat.id),
            "data": data,
        }
        self.telegram.push_raw({"callback_query": query})

    async def press_forged(self, person: Person, origin: Shown, data: str) -> list[Shown]:
        """Send a press with data of one's own making; return what came of it."""
        before = {(m.message_id, m.text) for m in origin.chat.from_bot}
        self.forge(person, origin.chat, origin, data)
        await self.quiet()
        return [m for m in origin.chat.from_bot if (m.message_id, m.text) not in before]

    # Looking inside, as the one who runs the tutor can

    async def read(self, work: Callable[[Session], T]) -> T:
        return await self.store.read(work)

    async def learner(self, person: Person) -> str:
        """The id of a person's learner."""
        account = await self.read(lambda s: s.get_one(Account, f"telegram:{person.id}"))
        assert account.learner_id
        return account.learner_id

    async def memory_of(self, person: Person) -> LearnerFolder:
        return LearnerFolder(self.memory, await self.learner(person))

    async def journal_of(self, person: Person) -> str:
        """All that the first layer says of a person."""
        folder = await self.memory_of(person)
        return "\n".join(p.read_text("utf-8") for p in sorted(folder.events.glob("*.md")))

    async def approve(self, code: str, language: Language = "en") -> Account | None:
        """What ``partners access approve`` does."""
        return await self.store.write(lambda s: approve(s, code, self.clock.now(), language))

    async def decide(self, person: Person, state: AccessState) -> None:
        """What ``partners access deny`` and ``owner`` do."""
        now = self.clock.now()
        await self.store.write(lambda s: decide(s, f"telegram:{person.id}", state, now))


def _unsent(session: Session) -> int:
    waiting = (OutgoingState.PENDING, OutgoingState.SENDING)
    return session.exec(
        select(func.count()).select_from(Outgoing).where(col(Outgoing.state).in_(waiting))
    ).one()


def system(request: RecordedRequest) -> str:
    """The instructions of a model call."""
    return "\n".join(m["content"] for m in request.json["messages"] if m["role"] == "system")


def spoken(request: RecordedRequest) -> list[tuple[str, str]]:
    """What the model is shown of the conversation: (role, text), instructions left out."""
    return [
        (m["role"], m["content"] or "") for m in request.json["messages"] if m["role"] != "system"
    ]


def tools_of(request: RecordedRequest) -> set[str]:
    """Names of the tools that a model call offers."""
    return {tool["function"]["name"] for tool in request.json.get("tools", ())}


def reference_in(text: str) -> str:
    """The reference that a learner was told."""
    found = re.search(r"(?:ref|编号) ([0-9A-Z]{4})\b", text)
    assert found, text
    return found[1]


def hanging() -> tuple[Reply, Gate]:
    """A reply that hangs before its first word until the gate is released."""
    gate = Gate()
    return Reply.hanging(gate, "late answer"), gate


def code_in(text: str) -> str:
    """The pairing code in a refusal."""
    found = re.search(r"\b[0-9A-Z]{4}-[0-9A-Z]{2}\b", text)
    assert found, text
    return found[0]
