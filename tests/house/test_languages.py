"""Every door is walked in Chinese and in English: no sentence of the other language anywhere.

The walk itself is held to be complete: a sentence of the house that it never meets fails it.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from sqlalchemy import text as sql

from core.access import AccessMode, AccessPolicy
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    FetchError,
)
from core.commands.book import ABOUT, MOTTO
from core.context import (
    AccountId,
    Attachment,
    AttachmentKind,
    ChatKind,
    InboundMessage,
    ReplyTarget,
    Sender,
    Text,
)
from core.i18n import LANGUAGES, LOCALES, language_from
from core.limits import Limits
from core.llm.transcribe import Transcriber
from core.loop.gates import Budget, LoopProtocol, Price
from core.partners import Partner
from core.reading.reader import Reader
from core.reading.trouble import LARGEST
from core.reading.workshop import Workshop
from core.scheduling.nudges import OPENINGS
from core.store.tables import AccessState
from core.turns.owners import NOTICES_AN_HOUR
from tests.house.conftest import MakeHome
from tests.house.home import Home, code_in, hanging
from tests.house.test_reminders import Desk
from tests.house.tools import Bells, with_handy
from tests.reading import made
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import Person, Shown, TelegramServer, Topic, media
from tests.servers.telegram.entities import cut

PLAIN = """---
id: plain
languages: [en, zh]
name:
  en: Plain
  zh: 素先生
description:
  en: Has no words of its own for trouble.
  zh: 出了问题时没有自己的说法。
greeting:
  en: Good day.
  zh: 你好。
brief:
  en: You are Plain.
  zh: 你是素先生。
tools: [current_time]
capabilities: [chat]
---

# en

You are Plain.

# zh

你是素先生。
"""

ROOMS = (
    "core/access",
    "core/commands",
    "core/reading",
    "core/scheduling",
    "core/spending",
    "core/turns",
)
"""Where what learners read is written."""
NOT_MET = {
    ABOUT: "is shown by the app before anybody writes",
    MOTTO: "as well",
    "a file you sent": "needs a machine write, which the walk has none of",
    "from our talks": "as well",
    "tidied up": "as well",
    "accounts joined": "as well",
    "changed by hand": "needs a hand between two writes",
    "Those lines were changed again since, so I leave them. /memory file sends you everything as "
    "it is now.": "as well",
    "I went through our talks: {n} change. /memory shows it, /memory undo takes it back.": "needs "
    "a model that consolidates",
    "I went through it and found nothing to keep. /memory shows the rest.": "as well",
    "I can't get to it just now. It happens by itself a little later.": "as well",
    "That is more than I can send here. Whoever runs me can hand it to you: {example}": "needs "
    "eight megabytes",
    "Nothing will be due soon.": "needs somebody who deleted all their cards",
    "Change the card": "heads a form, which this door has not",
    "I was just finished.": "a matter of microseconds",
    "Your notes are being written right now. Please try again in a moment.": "ten seconds of lock",
    "I'm running on a small offline model: good for trying things out, often wrong. Whoever "
    "runs me can connect a real one.": "needs the model in this process",
    "(I have changed my question. It reads now:)": "is said to the model",
    "(forwarded this message without a word of their own)": "as well",
    "(sent this without a word of their own: what is it, and what can be done with it?)": "as well",
}

_CHINESE = re.compile("[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"(?:[A-Za-z][a-z']*[ ,;:]+){2,}[A-Za-z][a-z']*")
_NAMES = re.compile(r"[A-Z]\w+(?:/[\w+-]+)+|/\w+|:: |\$[^$]*\$|UTC|English|中文")
"""Zone ids, commands, formulas and the names of languages are the same everywhere."""


@dataclass(frozen=True)
class Said:
    """One text as it left: what people read, without code, and its buttons."""

    text: str
    prose: str
    labels: tuple[str, ...]


def _said(telegram: TelegramServer, since: int) -> Iterator[Said]:
    for request in telegram.requests[since:]:
        if request.name in ("sendMessage", "editMessageText") and "text" in request.json:
            text, prose = request.json["text"], request.json["text"]
            for entity in request.json.get("entities", ()):
                if entity["type"] in ("code", "pre"):
                    prose = prose.replace(cut(text, entity), " ")
            rows = (request.json.get("reply_markup") or {}).get("inline_keyboard", ())
            labels = tuple(button["text"] for row in rows for button in row)
            yield Said(text, _NAMES.sub(" ", prose), labels)


def _grown(topic: Topic, count: int) -> bool:
    return len(topic.messages) >= count


def _calls_for_ever(request: RecordedRequest) -> Reply:
    return Reply.calls(ToolCall("current_time")) if "tools" in request.json else Reply.empty()


def _judged(answer: dict[str, str], met: str, score: float) -> Reply:
    said = {"criteria": [{**answer, "met": met}], "score": score, "confidence": 1.0}
    return Reply(json.dumps(said))


class _Small:
    """All that is asked of the small model before it is known to be too small."""

    small = True


class Walk:
    """Goes through everything a learner can meet, in one language."""

    def __init__(self, home: Home, language: str, openai: OpenAIServer) -> None:
        self.home = home
        self.openai = openai
        self.zh = language == "zh"
        self.locale = "zh-hans" if self.zh else "en"
        self.go_on = Reply("继续想。" if self.zh else "Go on.")
        self._people = 100

    def person(self) -> Person:
        self._people += 1
        return self.home.telegram.user(self._people, "小艾" if self.zh else "Ada", self.locale)

    async def tell(self, person: Person, *texts: str) -> Shown:
        answer = None
        for text in texts:
            answer = await self.home.tell(person, text, unlimited=True)
        assert answer is not None
        return answer

    async def all(self) -> None:
        await self.strangers()
        ada = self.person()
        await self.first_steps(ada)
        await self.settings(ada)
        await self.cards(ada)
        await self.quiz()
        await self.quiz_of_a_group()
        await self.memory(ada)
        await self.odd(ada)
        await self.attachments(ada)
        await self.limits(ada)
        await self.group(ada)
        await self.stopping(ada)
        await self.again()
        await self.choosing()
        await self.deciding()
        await self.solving()
        await self.trouble(ada)
        await self.delivery(ada)
        await self.reminders()
        await self.closed()
        await self.linking()
        await self.collapse(ada)

    def _policy(self, mode: AccessMode) -> None:
        # As if the house had been started with that setting.
        self.home.house.partners.own = Partner(AccessPolicy(mode, frozenset(), frozenset()))

    async def strangers(self) -> None:
        eve = self.person()
        self._policy(AccessMode.PAIRING)
        code = code_in((await self.tell(eve, "1?")).text)
        group = self.home.telegram.supergroup("…")
        await self.home.ask(group, self.person(), "@tutor_bot 1?")
        await self.home.approve(code)
        await self.home.quiet()
        await self.owners()
        self._policy(AccessMode.ALLOWLIST)
        await self.tell(self.person(), "1?")
        self._policy(AccessMode.OPEN)

    async def owners(self) -> None:
        boss, ada = self.person(), self.person()
        await self.home.decide(boss, AccessState.OWNER)
        await self.tell(boss, "/status")
        for _ in range(NOTICES_AN_HOUR + 1):
            await self.tell(self.person(), "1?")
        first, second, *_ = [m for m in boss.private.from_bot if m.labels]
        for notice, button in ((first, 0), (second, 1)):
            action = notice.buttons[button]["callback_data"]
            await self.home.press(notice, notice.labels[button])
            await self.home.press_forged(boss, notice, action)
        await self.home.decide(ada, AccessState.APPROVED)
        await self.home.press_forged(ada, await self.tell(ada, "1?"), "admit:yes:1")
        await self.home.decide(boss, AccessState.APPROVED)

    async def first_steps(self, ada: Person) -> None:
        hello = await self.tell(ada, "/start")
        for label in hello.labels:
            await self.home.press(hello, label)
        await self.tell(ada, "1?", "/status", "/new", "/help")
        tutors = await self.tell(ada, "/persona")
        for label in tutors.labels:
            await self.home.press(tutors, label)
            tutors = await self.tell(ada, "/persona")
        await self.tell(ada, "/persona x", "/persona socrates")
        boss = self.person()
        await self.home.decide(boss, AccessState.OWNER)
        await self.tell(boss, "/status")

    async def settings(self, ada: Person) -> None:
        for city in ("", "Tokyo", "Atlantis"):
            await self.tell(ada, f"/timezone {city}")
        which = await self.tell(ada, "/timezone USA")
        await self.home.press(which, which.labels[1])
        await self.tell(ada, "/timezone Europe/Berlin", "/language x", "/language auto")
        languages = await self.tell(ada, "/language")
        await self.home.press(languages, LANGUAGES["zh" if self.zh else "en"])
        await self.tell(ada, "/settings", "/language auto", "/settings")
        await self.tell(ada, "/remind", "/remind x", "/snooze", "/snooze 1h")
        await self.tell(ada, "/persona plain")
        for protocol in LoopProtocol:
            budget = Budget(temperature=None, cost_limit=0.5, protocol=protocol)
            self.home.tune(budget)
            await self.tell(ada, "/settings")
        self.home.tune(self.home.budget)
        await self.tell(ada, "/persona socrates")

    async def cards(self, ada: Person) -> None:
        await self.tell(ada, "/due", "/review", "/add", "/add 7×8", "/add :: 56", "/add 7×8 ::")
        await self.tell(ada, f"/add {'7' * 501} :: 56", f"/add 7×8 :: {'5' * 1501}")
        first = await self.tell(ada, "/add 7×8 :: 56")
        await self.tell(ada, "/add 7×8 :: 56", "/add 7×7 :: 49", "/due")
        for label in (first.labels[1], None, "18:00"):
            first, _ = await self.home.press(first, label or first.labels[0])
            await self.tell(ada, "/due", "/settings")
        question = await self.tell(ada, "/review")
        message, _ = await self.home.press(question, question.labels[0])
        for grade in (0, 2):
            old = message
            message, _ = await self.home.press(message, message.labels[grade])
            if message.labels:
                message, _ = await self.home.press(message, message.labels[0])
        await self.tell(ada, "/review", "/due")
        await self.collection()
        forge = self.home.press_forged
        await forge(ada, old, old.buttons[0]["callback_data"])
        for data in (question.buttons[0]["callback_data"], "reveal:x:0:0", "rate:x:0:1:0"):
            await forge(ada, question, data)
        many = self.person()
        for number in range(21):
            many.say(f"/add {number} :: {number}")
        await self.home.quiet()
        message = await self.tell(many, "/review")
        while message.labels:
            message, _ = await self.home.press(message, message.labels[0])
            message, _ = await self.home.press(message, message.labels[3])
        await self.tell(many, "/review")

    async def collection(self) -> None:
        """Twelve cards: the newest is changed and deleted, another comes back, another rests."""
        ada = self.person()
        await self.tell(ada, "/cards")
        for number in range(12):
            added = await self.tell(ada, f"/add {number} :: 7")
        await self.tell(ada, "/cards 77")
        listed = await self.tell(ada, "/cards")
        await self.home.press(listed, listed.labels[-1])
        _, [how] = await self.home.press(added, added.labels[-1])
        line = how.text[how.text.index("/cards") :].strip()
        await self.tell(ada, line, line.replace(":: 7", ":: 8"), line.replace("11 ::", "0 ::"))
        question = await self.tell(ada, "/review")
        question, _ = await self.home.press(question, question.labels[0])
        await self.home.press(question, question.labels[3])
        await self.home.store.write(
            lambda s: s.exec(sql("UPDATE card SET lapses = 9 WHERE front = '5'"))  # type: ignore[call-overload]
        )
        for front in ("0", "5", "11"):
            [card] = (await self.home.ask(ada.private, ada, f"/cards {front}"))[-1:]
            _, [card] = await self.home.press(card, front)
        card, _ = await self.home.press(card, card.labels[1])
        await self.home.press(card, card.labels[0])

    async def quiz(self) -> None:
        ada = self.person()
        home, spending = self.home, self.home.house._spending
        await self.tell(ada, "/quiz", "/quiz stop", f"/quiz {'7' * 501}")
        for reply in (Reply.failing(401, "7"), Reply("7"), Reply("7")):
            self.openai.script(reply)
        await self.tell(ada, "/quiz 7×7", "/quiz 7×7")
        # The small model is never asked, and where the money is spent none is.
        quizzes, model = home.house._quizzes, home.house._quizzes.model
        object.__setattr__(quizzes, "model", _Small())
        await self.tell(ada, "/quiz 7×7")
        object.__setattr__(quizzes, "model", model)
        object.__setattr__(spending, "limits", Limits(1, 1e-9, 0, 0))
        await self.tell(ada, "/quiz 7×7")
        object.__setattr__(spending, "limits", Limits())

        async def begin(count: int, *drafts: object) -> Shown:
            items = [{"question": f"{count}{n}?", **d} for n, d in enumerate(drafts)]  # type: ignore[dict-item]
            self.openai.script(Reply(json.dumps({"items": items})))
            return await self.tell(ada, f"/quiz 7×7 {len(drafts)}")

        metre = {"kind": "number", "value": "7", "unit": "m"}
        free = {"kind": "free", "reference": "49"}
        choice = {"kind": "choice", "right": "7", "wrong": ["8", "9", "10"], "hint": "7…"}
        order = {"kind": "order", "steps": ["77", "78", "79"]}
        first = await begin(1, metre, metre, metre, choice, order, free, free)
        await self.tell(ada, "7", "7 kg")
        second, _ = await home.press(await self.tell(ada, "8 m"), "提示" if self.zh else "Hint")
        await home.press_forged(ada, second, first.buttons[0]["callback_data"])
        await self.tell(ada, "8", "A B C" if self.zh else "skip")
        unsure = {"criteria": [{"id": "answer", "met": "no"}], "score": 0, "confidence": 0.1}
        self.openai.script(Reply(json.dumps(unsure)), Reply.failing(401, "7"))
        over = await self.tell(ada, "49!", "50!")
        await home.press_forged(ada, over, first.buttons[0]["callback_data"])
        quiz_id = first.buttons[0]["callback_data"].split(":")[1]
        for data in ("quiz:7:0:A", f"quiz:{quiz_id}:5:right"):
            await home.press_forged(ada, over, data)
        await begin(2, free, free, free)
        answer = {"id": "answer", "quote": "7"}
        for met, score in (("no", 0), ("partly", 0.5)):
            self.openai.script(_judged(answer, met, score))
            shown = await self.tell(ada, "7")
            again = ("yes", 1.0) if score else ("partly", 0.5)
            self.openai.script(Reply.failing(401, "7"), _judged(answer, met, score))
            self.openai.script(_judged(answer, *again))
            for _ in range(3):
                await home.press(shown, "我答对了" if self.zh else "I was right")
        await self.tell(ada, "/quiz", "/quiz stop")
        await begin(3, metre)
        await self.tell(ada, "7 m")

    async def quiz_of_a_group(self) -> None:
        ada, bea = self.person(), self.person()
        group, home = self.home.telegram.supergroup("…"), self.home
        choice = {"kind": "choice", "right": "7", "wrong": ["8", "9", "10"]}
        drafts = [{**choice, "question": f"7{n}?"} for n in range(3)]
        for text in ("/quiz@tutor_bot", "/quiz@tutor_bot stop"):
            await home.ask(group, ada, text)
        self.openai.script(Reply(json.dumps({"items": drafts})))
        [shown] = await home.ask(group, ada, "/quiz@tutor_bot 7 3")
        first = shown
        shown, _ = await home.press(shown, "A", bea)
        shown, _ = await home.press(shown, shown.labels[-1], bea)
        shown, _ = await home.press(shown, shown.labels[-1], ada)
        for data in (first.buttons[0]["callback_data"], "quiz:7:0:A"):
            await home.press_forged(bea, shown, data)
        await home.press_forged(
            bea, shown, first.buttons[0]["callback_data"].replace(":0:", ":1:7")
        )
        await home.press(shown, shown.labels[-1], ada)
        await home.ask(group, ada, "/quiz@tutor_bot stop")

    async def memory(self, ada: Person) -> None:
        await self.tell(ada, "/memory", "/memory file", "/remember", f"/remember {'7' * 1001}")
        await self.tell(ada, "/remember 7", "/remember 7", f"/remember sk-{'7' * 40}")
        folder = await self.home.memory_of(ada)
        for name in ("preferences", "knowledge", "recent"):
            sections = "Goals", "Background", "Knows", "Difficulties", "Misconceptions"
            text = "- 7\n" + "".join(f"## {section}\n- 7\n" for section in sections)
            (folder.path / "profile" / f"{name}.md").write_text(text, encoding="utf-8")
        await self.tell(ada, "/memory")
        self.home.clock.advance(days=1)
        await self.tell(ada, "/memory")
        await self.home.ask(ada.private, ada, "/memory file")
        nobody = self.person()
        await self.tell(nobody, "/memory log", "/memory undo", "/memory refresh")
        await self.tell(nobody, "/remember 77", "/memory log", "/memory undo x", "/memory undo 99")
        await self.tell(nobody, "/memory undo")
        await self.home.ask(nobody.private, nobody, "/export")
        english = "I'll remember that. I'll remind you tomorrow."
        self.openai.script(Reply("我会记住的。我明天会提醒你。" if self.zh else english))
        await self.tell(ada, "7?")

    async def linking(self) -> None:
        ada, bea = self.person(), self.person()
        await self.tell(ada, "1?", "/link undo")
        for person in (ada, bea):
            await self.tell(person, "/add 7 :: 7")

        async def code() -> str:
            found = re.search(r"\w{4}-\w{4}", (await self.tell(ada, "/link")).text)
            assert found
            return found[0]

        first = await code()
        await self.tell(ada, f"/link {first}")
        self.home.clock.advance(hours=1)
        await self.tell(bea, f"/link {first}")
        asked = await self.tell(bea, f"/link {await code()}")
        await self.home.press(asked, asked.labels[1])
        first = await code()
        asked = await self.tell(bea, f"/link {first}")
        joined, _ = await self.home.press(asked, asked.labels[0])
        await self.tell(self.person(), f"/link {first}")
        self.home.clock.advance(seconds=1)  # the order of links is that of their moments
        cleo = self.person()
        asked = await self.tell(cleo, f"/link {await code()}")
        await self.home.press(asked, asked.labels[0])
        undo = joined.buttons[0]["callback_data"]
        await self.home.press_forged(bea, joined, undo)
        linking = self.home.house._linking
        linking._memory = self.home.folder / "partners.db"  # no folder: nothing can be written
        await self.tell(ada, "/link undo")
        linking._memory = self.home.memory
        await self.home.house.sweep()
        await self.home.press_forged(bea, joined, undo)
        asked = await self.tell(bea, f"/link {await code()}")
        await self.home.press(asked, asked.labels[0])
        self.home.clock.advance(days=2)
        await self.tell(ada, "/link undo")
        for _ in range(6):
            await self.tell(cleo, "/link 2222-2222")

    async def odd(self, ada: Person) -> None:
        await self.tell(ada, "/reveiw", "/zzzzzz", "字" * 100_000)
        media.sticker(ada.private, ada)
        await self.home.quiet()
        await self.home.press_forged(ada, ada.private.from_bot[-1], "nothing:1")
        await self.home.press_forged(ada, ada.private.from_bot[-1], "show:1")

    async def attachments(self, ada: Person) -> None:
        """Handed to the house with what the door would have fetched."""
        house = self.home.house
        (channel,) = house._channels.values()
        files: dict[str, bytes | FetchError] = {
            "large": AttachmentTooLarge("7"),
            "gone": AttachmentGone("7"),
            "far": AttachmentUnreachable("7"),
            "broken": made.pdf("7")[:200],
            "locked": made.pdf("7", password="7"),
            "scan": made.pdf(""),
            "slow": made.pdf("7"),
            "empty": b" ",
            "unknown": b"7\0",
            "bomb": made.bomb(),
            "sound": b"OggS",
            "text": b"7",
        }

        async def fetch(attachment: Attachment, *, most: int) -> bytes:
            file = files[attachment.id]
            if isinstance(file, FetchError):
                raise file
            return file

        channel.fetch = fetch  # type: ignore[method-assign]
        kinds = {"bomb": AttachmentKind.IMAGE, "sound": AttachmentKind.VOICE}

        async def hand(*ids: str, **values: int) -> None:
            self._people += 1
            await house._receive(
                [
                    InboundMessage(
                        message_id=f"handed-{self._people}",
                        target=ReplyTarget(
                            channel=channel.name, account=channel.account, chat=str(ada.id)
                        ),
                        chat_kind=ChatKind.PRIVATE,
                        sender=Sender(
                            account=AccountId(f"{channel.name}:{ada.id}"),
                            name="7",
                            language=self.locale,
                        ),
                        content=Text(text=""),
                        addressed=True,
                        attachments=tuple(
                            Attachment(id=i, kind=kinds.get(i, AttachmentKind.FILE), **values)
                            for i in ids
                        ),
                        received_at=self.home.clock.now(),
                    )
                ]
            )
            await self.home.quiet()

        chat = house._runner.chat
        reader = chat.reader
        await hand("large", "gone", "far", "broken", "locked", "scan", "empty", "unknown", "bomb")
        await hand(*["text"] * 11)
        await hand("text", "text", "text", size=LARGEST)
        await hand("sound")
        object.__setattr__(chat, "reader", Reader(None, Workshop(seconds=0.001)))
        await hand("slow")
        ears = Transcriber(name="ears", api_key="7", base_url=self.openai.base_url)
        object.__setattr__(chat, "reader", Reader(ears))
        for heard in (None, "", "7?"):
            self.openai.hears = heard
            await hand("sound")
        self.openai.sees = False
        kinds["text"] = AttachmentKind.IMAGE
        files["text"] = made.picture()
        await hand("text")
        await hand("text")
        self.openai.sees = True
        await ears.close()
        object.__setattr__(chat, "reader", reader)

    async def limits(self, ada: Person) -> None:
        spending = self.home.house._spending
        boss = self.person()
        await self.home.decide(boss, AccessState.OWNER)
        await self.tell(boss, "/status")
        for limits in (Limits(1, 1e-9, 0, 0), Limits(0, 0, 1, 0)):
            object.__setattr__(spending, "limits", limits)
            await self.tell(ada, "1?", "/status")
        object.__setattr__(spending, "limits", Limits())

    async def group(self, ada: Person) -> None:
        group = self.home.telegram.supergroup("…")
        for command in ("/memory", "/review", "/status", "/start", "/persona", "/help", "/zzz"):
            await self.home.ask(group, ada, f"{command}@tutor_bot")
        await self.home.ask(group, ada, "/help@tutor_bot")
        await self.home.ask(group, ada, "@tutor_bot")
        await self.home.press_forged(ada, group.from_bot[-1], "review:")

    async def stopping(self, ada: Person) -> None:
        await self.tell(ada, "/stop")
        topic = self.home.telegram.forum("…").topic("…", by=ada)
        other = self.person()
        reply, gate = hanging()
        self.openai.script(reply)
        topic.say(ada, "@tutor_bot 1?")
        await gate.wait_reached()
        for who, what in ((other, "/stop"), (ada, "/status"), (ada, "/stop")):
            before = len(topic.messages)
            topic.say(who, f"{what}@tutor_bot")
            await self.home.telegram.wait_for(partial(_grown, topic, before + 2))
        gate.drop()
        await self.home.quiet()

    async def again(self) -> None:
        ada, eve = self.person(), self.person()
        await self.tell(ada, "/regenerate", "1?")
        for words in ("persona=zzz", "zzz", "model=zzz", "capability=zzz"):
            await self.tell(ada, f"/regenerate {words}")
        reply, gate = hanging()
        self.openai.script(self.go_on, reply)
        first = await self.tell(ada, "1?")
        ada.say("2?")
        await gate.wait_reached()
        ada.say("/regenerate")
        await ada.private.wait_message(after=first)
        gate.drop()
        await self.home.quiet()
        await self.home.press_forged(ada, first, "anew:7")
        self.openai.default = Reply.failing(401, "no")
        await self.tell(ada, "/retry")
        self.openai.default = Reply(f"{self.go_on.text} " * 1_500)
        await self.home.ask(ada.private, ada, "3?")
        self.openai.default = self.go_on
        await self.home.ask(ada.private, ada, "/regenerate")
        topic = self.home.telegram.forum("…").topic("…", by=ada)
        await self.home.ask(topic.chat, ada, "@tutor_bot 1?", thread=topic)
        await self.home.ask(topic.chat, eve, "/regenerate@tutor_bot", thread=topic)

    async def solving(self) -> None:
        ada = self.person()
        await self.tell(ada, "/solve")
        await self.tell(ada, "/persona handy")
        await self.tell(ada, "/solve 1")

    async def choosing(self) -> None:
        ada, eve = self.person(), self.person()
        choices = {"question": self.go_on.text, "choices": ["1", "2"]}
        asks = Reply.calls(ToolCall("ask_learner", choices))
        topic = self.home.telegram.forum("…").topic("…", by=ada)
        self.openai.script(asks)
        [asked] = await self.home.ask(topic.chat, ada, "@tutor_bot 1?", thread=topic)
        topic.chat.kick_bot(ada)
        topic.chat.add_bot(ada)
        await self.home.quiet()
        await self.home.press(asked, "1", eve)
        await self.home.press(asked, "1", ada)
        await self.home.press_forged(ada, asked, asked.buttons[1]["callback_data"])

    async def deciding(self) -> None:
        ada, eve = self.person(), self.person()
        await self.tell(ada, "/persona handy")
        ring = Reply.calls(ToolCall("ring"))
        for label in (0, 1):
            self.openai.script(ring)
            asked = await self.tell(ada, "1?")
            await self.home.press(asked, asked.labels[label])
            await self.home.press_forged(ada, asked, asked.buttons[label]["callback_data"])
        self.openai.script(ring)
        asked = await self.tell(ada, "1?")
        self.home.clock.advance(hours=2)
        await self.home.house.sweep()
        await self.home.quiet()
        await self.home.press_forged(ada, asked, asked.buttons[0]["callback_data"])
        topic = self.home.telegram.forum("…").topic("…", by=ada)
        await self.home.ask(topic.chat, ada, "/persona@tutor_bot handy", thread=topic)
        self.openai.script(ring)
        [asked] = await self.home.ask(topic.chat, ada, "@tutor_bot 1?", thread=topic)
        await self.home.press(asked, asked.labels[0], eve)

    async def trouble(self, ada: Person) -> None:
        gates = []
        for persona in ("socrates", "euler", "plain"):
            await self.tell(ada, f"/persona {persona}")
            self.openai.default = Reply.failing(401, "no")
            failed = await self.tell(ada, "1?")
            self.openai.default = self.go_on
            await self.home.press(failed, failed.labels[0])
            await self.home.press(failed, failed.labels[0])
            for nonsense in (
                Reply.empty(),
                Reply.calls(ToolCall("current_time", "{")),
                Reply.failing(400, "too long", code="context_length_exceeded"),
            ):
                self.openai.default = nonsense
                await self.tell(ada, "1?")
            self.openai.default = _calls_for_ever
            await self.tell(ada, "1?")
            dear = Price(self.home.model, 1, 1)
            for budget in (Budget(max_tool_calls=1), Budget(cost_limit=1e-9, prices=(dear,))):
                self.home.tune(budget)
                await self.tell(ada, "1?")
            for _ in range(2):
                reply, gate = hanging()
                gates.append(gate)
                self.openai.script(reply)
            self.home.tune(Budget(deadline_seconds=0.2))
            await self.tell(ada, "1?")
            self.home.tune(self.home.budget)
            self.openai.default = self.go_on
        for gate in gates:
            gate.drop()

    async def delivery(self, ada: Person) -> None:
        telegram = self.home.telegram
        telegram.drop("sendMessage")
        ada.say("1?")
        await self.home.quiet()
        await self.home.press(ada.private.from_bot[-1], ada.private.from_bot[-1].labels[0])
        telegram.refuse("sendMessage", 400, "Bad Request: DOCUMENT_INVALID")
        await self.tell(ada, "1?")

    async def reminders(self) -> None:
        learner, faithful = self.person(), self.person()
        for each in (learner, faithful):
            await self.tell(each, "/add 7×8 :: 56", "/add 7×7 :: 49")
        await self.tell(learner, "/remind off", "/remind on", "/remind mon tue wed thu fri sat")
        await self.tell(learner, "/remind sunday", "/remind daily", "/snooze 1h")
        lazy = self.person()
        await self.tell(lazy, "/remind")
        for hours in (1, 2):
            at = self.home.clock.now() + timedelta(hours=hours)
            await Desk(self.home, await self.home.learner(faithful)).keep("7", at.isoformat())
        self.home.clock.advance(hours=1)
        await self.home.house.sweep()
        for _ in OPENINGS:
            self.home.clock.advance(days=1)
            await self.home.house.sweep()
            await self.home.ask(faithful.private, faithful, "/status")
        for _ in range(80):
            self.home.clock.advance(days=1)
            await self.home.house.sweep()
        await self.home.quiet()

    async def closed(self) -> None:
        away, group = self.person(), self.home.telegram.supergroup("…")
        await self.tell(away, "1?")
        at = self.home.clock.now() + timedelta(hours=1)
        await Desk(self.home, await self.home.learner(away)).keep("7", at.isoformat())
        await self.home.ask(group, away, "@tutor_bot 1?")
        away.block()
        self.home.clock.advance(hours=1)
        await self.home.house.sweep()
        await self.home.quiet()

    async def collapse(self, ada: Person) -> None:
        """What nobody foresaw: a table is gone."""
        await self.home.store.write(lambda s: s.exec(sql("DROP TABLE review")))  # type: ignore[call-overload]
        await self.home.store.write(lambda s: s.exec(sql("DROP TABLE card")))  # type: ignore[call-overload]
        await self.tell(ada, "/due")


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return language_from(str(request.param), "en")


async def test_every_door_speaks_the_learners_language_only(
    tmp_path: Path,
    make_home: MakeHome,
    telegram: TelegramServer,
    openai: OpenAIServer,
    language: str,
) -> None:
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas" / "plain.md").write_text(PLAIN, encoding="utf-8")
    with_handy(tmp_path)
    home = await make_home(language=language, tools=(Bells().ring(),), offers_anew=True)
    walk = Walk(home, language, openai)
    openai.default = walk.go_on
    since = len(telegram.requests)
    await walk.all()
    said = list(_said(telegram, since))
    assert len(said) > 100
    for one in said:
        spoken = " ".join((one.prose, *(_NAMES.sub(" ", label) for label in one.labels)))
        if language == "zh":
            assert _CHINESE.search(spoken), f"nothing Chinese: {one}"
            assert not _ENGLISH.search(one.prose), f"an English sentence: {one}"
            for label in one.labels:
                assert not _ENGLISH.search(_NAMES.sub(" ", label)), one
        else:
            assert not _CHINESE.search(spoken), f"something Chinese: {one}"
    if language == "zh":
        missed = _not_met(said)
        assert not (left := missed - set(NOT_MET)), f"walk these doors too: {left}"
        assert not (met := set(NOT_MET) - missed), f"these are met after all: {met}"


async def test_the_menus_are_in_the_language_of_the_app(
    home: Home, telegram: TelegramServer
) -> None:
    for request in telegram.requests_of("setMyCommands"):
        chinese = request.json.get("language_code") == "zh"
        for command in request.json["commands"]:
            assert bool(_CHINESE.search(command["description"])) is chinese, command


def _not_met(said: list[Said]) -> set[str]:
    """Sentences of the rooms that were in nothing that was said, by their English keys."""
    whole = "\n".join("\n".join((one.text, *one.labels)) for one in said)
    with (LOCALES / "zh" / "LC_MESSAGES" / "partners.po").open("rb") as file:
        catalog = read_po(file, locale="zh")
    missed = set()
    for message in catalog:
        if not message.id or not any(at.startswith(ROOMS) for at, _ in message.locations):
            continue
        key = message.id if isinstance(message.id, str) else message.id[0]
        shown = message.string if isinstance(message.string, str) else (message.string or [""])[0]
        plain = shown.replace("**", "").replace("`", "")
        pattern = "".join(
            re.escape(literal) + (".*?" if name else "")
            for literal, name, _, _ in string.Formatter().parse(plain)
        )
        if not re.search(pattern, whole):
            missed.add(key)
    return missed
