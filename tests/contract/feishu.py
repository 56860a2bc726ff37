"""The stage of Feishu."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pydantic import SecretStr

from bots.feishu.adapter import FeishuChannel
from bots.feishu.connection import Pace
from core.clock import Clock
from core.i18n import words_for
from tests.contract.stage import Flood, RemoteStage, Seen, bold_in, code_in, readable
from tests.servers.faults import RecordedRequest
from tests.servers.feishu import Chat, FeishuServer, Person, Shown, Topic

Place = Chat | Topic
_SENDS = ("im.v1.message.create", "im.v1.message.reply")


class FeishuStage(RemoteStage[Person, Place, Shown]):
    """Feishu: long connection, cards, topics; an app that may read every message of a group."""

    def __init__(self) -> None:
        # How soon a busy machine acknowledges is not at issue here.
        self.server: FeishuServer = FeishuServer(rates=None, ack_seconds=60)
        self.server.grant_scopes("im:message.group_msg")
        self.server.state.subscribed.add("im.message.updated_v1")

    def channel(self, clock: Clock) -> FeishuChannel:
        return FeishuChannel(
            self.server.app_id,
            SecretStr(self.server.app_secret),
            words=words_for("en"),
            domain=self.server.url,
            rates=None,
            clock=clock,
            pace=Pace(first_retry=0.01, longest_retry=0.05, look_up=10, commit=30),
        )

    def all_taken(self) -> bool:
        return all(delivery.settled for delivery in self.server.deliveries)

    async def taken(self) -> None:
        # A commit that a busy machine makes slow is not acknowledged: then the event comes again.
        while not self.all_taken():
            await self.server.wait_for(lambda: self.all_taken() or self._pause() > 0)
            self.server.pass_time(self._pause())

    def _pause(self) -> float:
        """Return the seconds until the last of the events that failed comes again.

        One that went into a connection which is gone has failed when its time is over.
        """
        now = self.server.clock.now()
        alive = {one.device_id for one in self.server.connections}
        waits = [0.0]
        for one in self.server.deliveries:
            if one.send_at:
                waits.append(one.send_at - now)
            elif one.ack_by and one.attempts[-1].connection not in alive:
                waits.append(one.ack_by - now)
        return max(waits)

    async def reached(self) -> None:
        await self.server.wait_connected()

    def account(self, person: Person) -> str:
        return f"feishu:{self.server.app_id}/{person.open_id}"

    def secrets(self) -> Sequence[str]:
        with self.server.changes.lock:
            return (self.server.app_secret, *self.server.state.tokens)

    # Who and where

    def person(self, name: str = "Ada", *, chinese: bool = False) -> Person:
        return self.server.user(name, locale="zh_CN" if chinese else "en_US")

    def private(self, person: Person) -> Place:
        return person.private

    def group(self, *people: Person) -> Chat:
        return self.server.group("Study group", *people)

    def thread(self, *people: Person) -> Place:
        return self.group(*people).topic(people[0], "Limits")

    def around(self, thread: Place) -> Place:
        return _chat(thread)

    def name_of(self, person: Person) -> str:
        return f"@{person.name}"

    def alarms(self, person: Person) -> str:
        tags = (f'<at {key}="{who}"></at>' for key in ("id", "user_id") for who in ("all",))
        own = f"<at id={person.open_id}></at> <at user_id={person.open_id}>{person.name}</at>"
        return f"{' '.join(tags)} {own} `<at id=all></at>`"

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
        said = f"@{self.server.bot.name} {text}" if mention else text
        return place.say(person, said, reply_to=reply_to.message if reply_to else None)

    async def command(self, place: Place, person: Person, name: str, arguments: str = "") -> None:
        place.say(person, f"/{name} {arguments}".strip())

    async def press(self, place: Place, person: Person, seen: Seen[Shown], label: str) -> None:
        _chat(place).press(seen.message, label, person)

    async def sticker(self, place: Place, person: Person) -> None:
        _chat(place).send_sticker(person)

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
        file = _chat(place).send_file(person, data, name)
        if words:
            said = f"@{self.server.bot.name} {words}" if mention else words
            _chat(place).say(person, said, reply_to=file)

    async def album(
        self, place: Place, person: Person, pictures: Sequence[bytes], words: str
    ) -> None:
        chat = _chat(place)
        keys = [
            chat.state.add_file(data, "i.png", "image", from_bot=False).key for data in pictures
        ]
        rows = [
            [{"tag": "text", "text": words}],
            *([{"tag": "img", "image_key": key}] for key in keys),
        ]
        chat.send(person, "post", {"title": "", "content": rows})

    async def record(self, place: Place, person: Person, data: bytes) -> None:
        _chat(place).send_audio(person, data)

    async def edit(self, place: Place, message: Shown, text: str) -> None:
        _chat(place).edit(message, text)

    async def again(self, message: Shown) -> None:
        self.server.redeliver(message, fresh_event=True)

    async def strange(self) -> None:
        self.server.push_event("im.thought.transferred_v1", {"thought": ["?"]})

    def shut(self, person: Person) -> None:
        person.stopped = True

    def sends(self, place: Place) -> Callable[[RecordedRequest], bool]:
        chat = _chat(place)

        def matches(request: RecordedRequest) -> bool:
            if request.name not in _SENDS:
                return False
            answered = str(request.json.get("message_id", ""))
            return chat.find(answered) is not None or request.json.get("receive_id") == chat.chat_id

        return matches

    def flood(self, place: Place) -> Flood:
        rule = self.server.refuse(self.sends(place), 99991400, times=None)
        return Flood(self.server, rule, 1.0)

    # What is seen

    def shown(self, place: Place) -> list[Seen[Shown]]:
        return [
            Seen(
                message=message,
                id=message.message_id,
                text=readable(message.text),
                labels=tuple(message.labels),
                bold=bold_in(message.text),
                code=code_in(message.text),
                quotes=message.parent_id,
                rings=bool(message.mentions) or "<at" in json.dumps(message.content),
                file=self._file(message),
            )
            for message in place.messages
            if message.from_bot
        ]

    def _file(self, message: Shown) -> tuple[str, bytes] | None:
        key = message.content.get("file_key") or message.content.get("image_key")
        file = self.server.state.files.get(str(key))
        return (file.name, file.data) if file else None

    def working(self, place: Place) -> bool:
        return any(
            reaction.by is None for message in place.messages for reaction in message.reactions
        )


def _chat(place: Place) -> Chat:
    return place.chat if isinstance(place, Topic) else place
