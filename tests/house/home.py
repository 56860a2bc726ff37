"""A real house behind a Telegram door, and ways to talk to it and to look inside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bots.telegram.adapter import TelegramChannel
from bots.telegram.polling import Pace
from core.access import decide
from core.i18n import words_for
from core.store.tables import AccessState, Account
from memory.layers import LearnerFolder
from tests.house.indoors import Indoors
from tests.servers.faults import Gate, RecordedRequest
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Chat, Person, Shown, TelegramServer


class Home(Indoors):
    """One house with one Telegram account. ``await open()`` first, ``await close()`` last."""

    def __init__(
        self, folder: Path, telegram: TelegramServer, openai: OpenAIServer, **settings: Any
    ) -> None:
        """``settings`` are those of ``Indoors``."""
        super().__init__(folder, openai, **settings)
        self.telegram = telegram

    def channel(self) -> TelegramChannel:
        return TelegramChannel(
            SecretStr(self.telegram.token),
            words=words_for("en"),
            api_base=self.telegram.url,
            rates=None,
            clock=self.clock,
            pace=Pace(long_poll=20, first_retry=0.01, longest_retry=0.05),
        )

    def all_taken(self) -> bool:
        return not self.telegram.pending_updates

    async def taken(self) -> None:
        """Wait until every update is committed and stands in its lane."""
        await self.telegram.wait_for(self.all_taken)

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

    async def decide(self, person: Person, state: AccessState) -> None:
        """What ``partners access deny`` and ``owner`` do."""
        now = self.clock.now()
        await self.store.write(lambda s: decide(s, f"telegram:{person.id}", state, now))


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
