"""The stage of Discord."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

from pydantic import SecretStr

from bots.discord.adapter import DiscordChannel
from bots.discord.commands import ARGUMENTS
from bots.discord.gateway import Pace
from core.channel import Intake
from core.clock import Clock
from core.commands.declare import Menu
from core.context import InboundMessage
from core.i18n import words_for
from tests.contract.stage import Flood, RemoteStage, Seen, bold_in, code_in, readable
from tests.servers.discord import Channel, Chat, DiscordServer, Person, Shown, Thread, media
from tests.servers.discord.files import Upload
from tests.servers.faults import RecordedRequest

_LOADING = 1 << 7


class _Door(DiscordChannel):
    """The channel, which counts what the house has committed: the gateway has no receipts."""

    def __init__(self, server: DiscordServer, committed: Counter[tuple[str, bool]]) -> None:
        super().__init__(
            SecretStr(server.token),
            words=words_for("en"),
            api_base=server.api_url,
            gateway_url=server.gateway_url,
            pace=Pace(start=15.0, first_retry=0.01, longest_retry=0.05),
        )
        self._server = server
        self._committed = committed

    async def start(self, intake: Intake, menus: Sequence[Menu]) -> None:
        async def counted(batch: Sequence[InboundMessage]) -> None:
            await intake(batch)
            self._committed.update((message.message_id, message.edited) for message in batch)
            self._server.changes.announce()

        await super().start(counted, menus)


class DiscordStage(RemoteStage[Person, Chat, Shown]):
    """Discord: gateway, slash commands, threads, a bot that reads message content."""

    def __init__(self) -> None:
        self.server: DiscordServer = DiscordServer(rates=None)
        self._numbers = itertools.count(7)
        self._told: Counter[tuple[str, bool]] = Counter()
        self._committed: Counter[tuple[str, bool]] = Counter()

    def channel(self, clock: Clock) -> DiscordChannel:
        return _Door(self.server, self._committed)

    def all_taken(self) -> bool:
        return self._told <= self._committed

    async def reached(self) -> None:
        await self.server.wait_ready()

    def account(self, person: Person) -> str:
        return f"discord:{person.id}"

    def secrets(self) -> Sequence[str]:
        return (self.server.token,)

    # Who and where

    def person(self, name: str = "Ada", *, chinese: bool = False) -> Person:
        return self.server.user(next(self._numbers), name, "zh-CN" if chinese else "en-US")

    def private(self, person: Person) -> Chat:
        return person.private

    def group(self, *people: Person) -> Channel:
        return self.server.guild("Study group", *people).channel()

    def thread(self, *people: Person) -> Thread:
        return self.group(*people).thread("Limits", by=people[0])

    def around(self, thread: Chat) -> Chat:
        assert isinstance(thread, Thread)
        return thread.parent

    def name_of(self, person: Person) -> str:
        return f"<@{person.id}>"

    def alarms(self, person: Person) -> str:
        return f"<@{person.id}> <@!{person.id}> @everyone @here `@everyone`"

    # What people do

    async def say(
        self,
        place: Chat,
        person: Person,
        text: str,
        *,
        mention: bool = False,
        reply_to: Seen[Shown] | None = None,
    ) -> Shown:
        said = f"{self.server.mention} {text}" if mention else text
        message = place.say(
            person, said, reply_to=reply_to.message if reply_to else None, ping=False
        )
        return self._note(message)

    async def command(self, place: Chat, person: Person, name: str, arguments: str = "") -> None:
        press = place.slash(person, name, {ARGUMENTS: arguments} if arguments else {})
        self._told[f"ix:{press.interaction_id}", False] += 1

    async def press(self, place: Chat, person: Person, seen: Seen[Shown], label: str) -> None:
        press = place.press(seen.message, label, person)
        self._told[f"ix:{press.interaction_id}", False] += 1

    async def fill(
        self, place: Chat, person: Person, seen: Seen[Shown], label: str, values: Sequence[str]
    ) -> bool:
        press = place.press(seen.message, label, person)
        await press.wait_answered()
        sent = place.submit_modal(press, {str(n): value for n, value in enumerate(values)})
        self._told[f"ix:{sent.interaction_id}", False] += 1
        return True

    async def sticker(self, place: Chat, person: Person) -> None:
        self._note(media.sticker(place, person))

    async def hand_over(
        self,
        place: Chat,
        person: Person,
        name: str,
        data: bytes,
        words: str = "",
        *,
        mention: bool = False,
    ) -> None:
        said = f"{self.server.mention} {words}" if mention else words
        self._note(media.document(place, person, name, data, said))

    async def album(
        self, place: Chat, person: Person, pictures: Sequence[bytes], words: str
    ) -> None:
        uploads = [Upload(f"{n}.png", picture, "image/png") for n, picture in enumerate(pictures)]
        self._note(place.post(person, words, attachments=uploads))

    async def record(self, place: Chat, person: Person, data: bytes) -> None:
        self._note(media.voice(place, person, data))

    async def edit(self, place: Chat, message: Shown, text: str) -> None:
        place.edit(message, text)
        if not text.startswith("/"):
            self._told[str(message.message_id), True] += 1

    async def again(self, message: Shown) -> None:
        self.server.redeliver(message)
        self._note(message)

    async def strange(self) -> None:
        self.server.push_raw("THOUGHT_TRANSFER", {"id": "1", "thought": ["?"]})

    def shut(self, person: Person) -> None:
        person.block()

    def sends(self, place: Chat) -> Callable[[RecordedRequest], bool]:
        number = str(place.id)

        def matches(request: RecordedRequest) -> bool:
            return request.name == "createMessage" and request.json["channel_id"] == number

        return matches

    def flood(self, place: Chat) -> Flood:
        rule = self.server.refuse(
            self.sends(place), 429, 0, "Slow", times=None, retry_after=1.0, **{"global": False}
        )
        return Flood(self.server, rule, 1.0)

    def _note(self, message: Shown) -> Shown:
        self._told[str(message.message_id), False] += 1
        return message

    # What is seen

    def shown(self, place: Chat) -> list[Seen[Shown]]:
        return [
            Seen(
                message=message,
                id=message.message_id,
                text=readable(message.text),
                labels=tuple(message.labels),
                bold=bold_in(message.text),
                code=code_in(message.text),
                quotes=message.reply_to,
                rings=bool(message.pinged),
                file=next(((f.filename, f.data) for f in message.attachments), None),
            )
            for message in place.from_bot
            if (message.text or message.attachments) and not message.flags & _LOADING
        ]

    def working(self, place: Chat) -> bool:
        number = str(place.id)
        last = self.last_call(
            ("typing", "createMessage"), lambda request: request.json["channel_id"] == number
        )
        return last == "typing"
