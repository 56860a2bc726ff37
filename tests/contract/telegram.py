"""The stage of Telegram."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from pydantic import SecretStr

from bots.telegram.adapter import TelegramChannel
from bots.telegram.polling import Pace
from core.clock import Clock
from core.i18n import words_for
from tests.contract.stage import Flood, RemoteStage, Seen
from tests.servers.faults import RecordedRequest
from tests.servers.telegram import Chat, Person, Shown, TelegramServer, Topic, media
from tests.servers.telegram.entities import Entity, detected

Place = Chat | Topic


class TelegramStage(RemoteStage[Person, Place, Shown]):
    """Telegram: long polling, forum topics, a bot that may read along in groups."""

    def __init__(self) -> None:
        self.server: TelegramServer = TelegramServer(rates=None)
        self.server.state.reads_all = True
        self._numbers = itertools.count(7)

    def channel(self, clock: Clock) -> TelegramChannel:
        return TelegramChannel(
            SecretStr(self.server.token),
            words=words_for("en"),
            api_base=self.server.url,
            rates=None,
            clock=clock,
            pace=Pace(long_poll=20, first_retry=0.01, longest_retry=0.05),
        )

    def all_taken(self) -> bool:
        return not self.server.pending_updates

    async def reached(self) -> None:
        await self.server.wait_polling(within=30)

    def account(self, person: Person) -> str:
        return f"telegram:{person.id}"

    def secrets(self) -> Sequence[str]:
        return (self.server.token,)

    # Who and where

    def person(self, name: str = "Ada", *, chinese: bool = False) -> Person:
        language = "zh-hans" if chinese else "en"
        return self.server.user(next(self._numbers), name, language, f"{name.lower()}_learns")

    def private(self, person: Person) -> Place:
        return person.private

    def group(self, *people: Person) -> Place:
        return self.server.supergroup()

    def thread(self, *people: Person) -> Place:
        return self.server.forum().topic("Limits", by=people[0])

    def around(self, thread: Place) -> Place:
        return _chat(thread)

    def name_of(self, person: Person) -> str:
        return f"@{person.username}"

    def alarms(self, person: Person) -> str:
        return f"@{person.username} [{person.first_name}](tg://user?id={person.id}) @all"

    # What people do

    async def say(
        self,
        place: Place,
        person: Person,
        text: str,
        *,
        mention: bool = False,
        reply_to: Seen[Shown] | None = None,
    ) -> Shown:
        said = f"@tutor_bot {text}" if mention else text
        return place.say(person, said, reply_to=reply_to.message if reply_to else None)

    async def command(self, place: Place, person: Person, name: str, arguments: str = "") -> None:
        called = name if _chat(place).person else f"{name}@tutor_bot"
        place.say(person, f"/{called} {arguments}".strip())

    async def press(self, place: Place, person: Person, seen: Seen[Shown], label: str) -> None:
        _chat(place).press(seen.message, label, person)

    async def sticker(self, place: Place, person: Person) -> None:
        media.sticker(_chat(place), person)

    async def hand_over(
        self,
        place: Place,
        person: Person,
        name: str,
        data: bytes,
        words: str = "",
        *,
        mention: bool = False,
    ) -> None:
        caption = f"@tutor_bot {words}" if mention else words
        media.document(_chat(place), person, name, data, caption)

    async def album(
        self, place: Place, person: Person, pictures: Sequence[bytes], words: str
    ) -> None:
        for number, picture in enumerate(pictures):
            caption = words if number == 0 else ""
            media.photo(_chat(place), person, picture, caption, album="77")

    async def record(self, place: Place, person: Person, data: bytes) -> None:
        media.voice(_chat(place), person, data)

    async def edit(self, place: Place, message: Shown, text: str) -> None:
        _chat(place).edit(message, text)

    async def again(self, message: Shown) -> None:
        self.server.redeliver(message)

    async def strange(self) -> None:
        self.server.push_raw({"thought_transfer": {"from": {"id": 7}, "thought": ["?"]}})

    def shut(self, person: Person) -> None:
        person.block()

    def sends(self, place: Place) -> Callable[[RecordedRequest], bool]:
        number = _chat(place).id

        def matches(request: RecordedRequest) -> bool:
            return request.name == "sendMessage" and request.json["chat_id"] == number

        return matches

    def flood(self, place: Place) -> Flood:
        rule = self.server.refuse(
            self.sends(place), 429, "Too Many Requests: retry after 1", times=None, retry_after=1
        )
        return Flood(self.server, rule, 1.0)

    # What is seen

    def shown(self, place: Place) -> list[Seen[Shown]]:
        return [
            Seen(
                message=message,
                id=message.message_id,
                text=message.text.replace("\u2060", ""),
                labels=tuple(message.labels),
                bold=tuple(message.covered("bold")),
                code=tuple(message.covered("pre")),
                quotes=message.reply_to,
                rings=any(map(_rings, _entities(message))),
                file=self._file(message),
            )
            for message in place.messages
            if message.from_bot
        ]

    def _file(self, message: Shown) -> tuple[str, bytes] | None:
        given = message.extra.get("document") or (message.extra.get("photo") or [None])[-1]
        if given is None:
            return None
        return given.get("file_name", ""), self.server.state.files[given["file_id"]].data

    def working(self, place: Place) -> bool:
        number = _chat(place).id
        last = self.last_call(
            ("sendChatAction", "sendMessage"), lambda request: request.json["chat_id"] == number
        )
        return last == "sendChatAction"


def _entities(message: Shown) -> list[Entity]:
    """Return what the bot marked and what the platform finds by itself."""
    return [*message.entities, *detected(message.text, message.entities)]


def _rings(entity: Entity) -> bool:
    return entity["type"] in ("mention", "text_mention") or "tg://user" in entity.get("url", "")


def _chat(place: Place) -> Chat:
    return place.chat if isinstance(place, Topic) else place
