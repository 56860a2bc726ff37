"""A ``partners serve`` that is killed and started again, and what its learners see of it.

Every question gets a mark of its own (``Q7``); the model's answer repeats it, the journal keeps it,
so that each can be counted wherever it turns up.
"""

from __future__ import annotations

import itertools
import re
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.process import Installation, Serving
from tests.servers.faults import Gate, Matcher, RecordedRequest, Stage
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer
from tests.servers.telegram.chats import Chat
from tests.servers.telegram.people import Person
from tests.servers.telegram.shown import Shown

CHAT = "chat.completions"
NOTICE = "I'm not sure my last message reached you."
SHOW_AGAIN = "Show again"
STOPPING = '"message": "stopping"'
_MARK = re.compile(r"\bQ\d+\b")


class Scene:
    """One installation, open to everybody, with both servers; ``with`` starts ``serve`` in it."""

    def __init__(
        self, folder: Path, telegram: TelegramServer, openai: OpenAIServer, **settings: str
    ) -> None:
        self.telegram = telegram
        self.openai = openai
        self.openai.default = answer_of_the_model
        self.installation = Installation(
            folder, telegram, openai, PARTNERS_ACCESS="open", **settings
        )
        self._serving: Serving | None = None
        self._gates: list[Gate] = []
        self._numbers = itertools.count(1)

    def __enter__(self) -> Scene:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    # The process

    @property
    def serving(self) -> Serving:
        """The process under test."""
        assert self._serving is not None
        return self._serving

    def start(self) -> None:
        """Start ``serve``, which polls once it is ready."""
        asked = len(self.telegram.requests_of("getUpdates"))
        self.begin_to_start()
        self.telegram.wait_request_blocking("getUpdates", count=asked + 1, within=30)

    def begin_to_start(self) -> None:
        """Start ``serve`` and do not wait."""
        self._serving = self.installation.serve()

    def kill(self) -> None:
        """``kill -9``, then let go of every request that was held: nobody hears the answer."""
        if self._serving is not None:
            self._serving.kill()
            self._serving = None
        self._let_go()

    def _let_go(self) -> None:
        for gate in self._gates:
            gate.drop()
        self._gates.clear()

    def restart(self) -> None:
        """Kill, and start again."""
        self.kill()
        self.start()

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within: float = 30) -> None:
        """Stop in good order within some seconds, with status 0."""
        self.serving.signal(number)
        self.ended(within)

    def begin_to_stop(self) -> None:
        """Send SIGTERM and wait until the process has heard it."""
        heard = self.serving.log.count(STOPPING)
        self.serving.signal(signal.SIGTERM)
        wait_until(lambda: self.serving.log.count(STOPPING) > heard, "it does not stop")

    def ended(self, within: float) -> None:
        """Wait for the end of a process that has been told to stop."""
        assert self.serving.wait(within) == 0
        self._serving = None
        self._let_go()

    def ready(self) -> None:
        """See to it that a process runs."""
        if self._serving is None or not self._serving.alive:
            self.start()

    def tidy(self) -> None:
        """Leave no fault behind for the next test."""
        self.telegram.clear_faults()
        self.openai.clear_faults()
        for gate in self._gates:
            gate.release()
        self._gates.clear()

    # Steering

    def hold(self, matches: Matcher, *, stage: Stage = Stage.ANSWER) -> Gate:
        """Hold the next such call of the bot; cut by the kill that follows."""
        return self._kept(self.telegram.hold(matches, stage=stage))

    def hold_send(self, chat: Chat, *, stage: Stage = Stage.ANSWER, part: str = "") -> Gate:
        """Hold the next message to a chat: after it is shown, or (REQUEST) before."""
        return self.hold(lambda request: _is_send(request, chat, part), stage=stage)

    def hold_edit(self, chat: Chat, *, stage: Stage = Stage.ANSWER) -> Gate:
        """Hold the next edit in a chat."""

        def matches(request: RecordedRequest) -> bool:
            here = str(request.json.get("chat_id")) == str(chat.id)
            return request.name == "editMessageText" and here

        return self.hold(matches, stage=stage)

    def hold_model(self) -> Gate:
        """Hold the next request to the model before it says anything."""
        return self._kept(self.openai.hold(CHAT, stage=Stage.REQUEST))

    @contextmanager
    def database_held(self) -> Iterator[None]:
        """Keep every commit waiting meanwhile, as another program that writes could."""
        database = sqlite3.connect(self.installation.data / "partners.db", isolation_level=None)
        with closing(database):
            database.execute("BEGIN IMMEDIATE")
            yield
            database.execute("ROLLBACK")

    def kept_gate(self) -> Gate:
        """A gate for a scripted reply."""
        return self._kept(Gate())

    def _kept(self, gate: Gate) -> Gate:
        self._gates.append(gate)
        return gate

    # People

    def learner(self, name: str = "Ada") -> Person:
        """A person nobody has met."""
        return self.telegram.user(1000 + next(self._numbers), name)

    def question(self) -> str:
        """A question with a mark of its own."""
        return f"Q{next(self._numbers)}: why is that so?"

    # Looking

    def settled(self, person: Person) -> None:
        """Wait until everything this person is owed has come.

        A command waits in the same lane and its reply in the same queue as all that went before.
        """
        word = f"nonsense{next(self._numbers)}"
        person.say(f"/{word}")
        person.private.wait_message_blocking(lambda m: f"/{word}" in m.text)

    def journal(self, words: str) -> int:
        """How many times the learners' day files hold these words."""
        days = (self.installation.data / "memory").glob("*/events/*.md")
        return sum(day.read_text(encoding="utf-8").count(words) for day in days)


@contextmanager
def scene(folder: Path, *, toml: str = "", **settings: str) -> Iterator[Scene]:
    """Both servers and a running ``serve``, with the rates of sending lifted unless ``toml``."""
    (folder / "partners.toml").write_text(
        toml or "[conversation]\njoin_seconds = 0\n[channels.telegram]\nlimits = false\n",
        encoding="utf-8",
    )
    with (
        TelegramServer(rates=None) as telegram,
        OpenAIServer() as openai,
        Scene(folder, telegram, openai, **settings) as one,
    ):
        yield one


def wait_until(look: Callable[[], object], what: str, within: float = 10) -> None:
    """Look again and again at what brings no news of itself: a file, another process."""
    deadline = time.monotonic() + within
    while not look():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def mark(question: str | Shown) -> str:
    """The mark of a question."""
    text = question if isinstance(question, str) else question.text
    found = _MARK.search(text)
    assert found, text
    return found[0]


def answer(question: str | Shown) -> str:
    """What the model answers to a question."""
    return f"Think of {mark(question)} step by step."


def answer_of_the_model(request: RecordedRequest) -> Reply:
    """Answer the last question of a prompt."""
    asked = [m["content"] for m in request.json["messages"] if m["role"] == "user"]
    return Reply(answer(str(asked[-1])), chunks=4)


def answers(question: Shown) -> list[Shown]:
    """The messages that answer a question, notices left out."""
    said = [m for m in question.chat.from_bot if m.text == answer(question)]
    assert all(m.reply_to == question.message_id for m in said)
    return said


def notices(question: Shown) -> list[Shown]:
    """The notices below a question."""
    return [
        m for m in question.chat.from_bot if m.text == NOTICE and m.reply_to == question.message_id
    ]


def all_notices(chat: Chat) -> list[Shown]:
    """Every notice a chat shows."""
    return [m for m in chat.from_bot if m.text == NOTICE]


def _is_send(request: RecordedRequest, chat: Chat, part: str) -> bool:
    here = str(request.json.get("chat_id")) == str(chat.id)
    return request.name == "sendMessage" and here and part in str(request.json.get("text"))
