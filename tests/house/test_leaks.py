"""Nothing of one learner reaches another, and nothing internal leaves (invariants 9, 11, 12).

Four learners each carry canaries, words that stand nowhere else. They do everything there is, in
private and in groups; then every byte that left is searched, each canary allowed only at its place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from memory.layers import Profile
from tests.house.home import Home, spoken, system, tools_of
from tests.house.indoors import KEY
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import Chat, Person, TelegramServer

KINDS = ("note", "front", "back", "private", "machine", "shareable", "answer", "quiz")
"""What a canary is written into; ``answer`` is what the model says in private."""


@dataclass
class Canary:
    """One learner and the words that are theirs alone."""

    person: Person
    words: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = {kind: f"canary{kind}{self.person.id}x" for kind in KINDS}

    @property
    def name(self) -> str:
        return self.person.first_name


def _people(telegram: TelegramServer) -> list[Canary]:
    return [
        Canary(telegram.user(n, f"Name{n}q", "zh-hans" if n == 4 else "en")) for n in range(1, 5)
    ]


def _answer(request: RecordedRequest) -> Reply:
    """Looks at cards and memory where it may; in private says a word only its learner may see."""
    last = request.json["messages"][-1]
    if topic := re.search(r"\[topic \w+\]\ncanaryquiz(\d+)x", last["content"] or ""):
        word = f"canaryquiz{topic[1]}x"
        item = {"kind": "free", "reference": word, "rubric": [word]}
        texts = (f"1 {word}?", f"2 {word}?")
        return Reply(json.dumps({"items": [{**item, "question": text} for text in texts]}))
    if last["role"] == "user" and "cards_due" in tools_of(request):
        everything = {"query": "asked answered noted quiz", "limit": 20}  # as events begin
        return Reply.calls(ToolCall("cards_due"), ToolCall("memory_search", everything))
    owner = re.search(r"canaryprivate(\d+)x", json.dumps(request.json))
    return Reply(f"canaryanswer{owner[1]}x" if owner else "Go on.")


async def _prepare(home: Home, one: Canary) -> None:
    person, words = one.person, one.words
    await home.tell(person, f"/remember {words['note']}")
    await home.tell(person, f"/add {words['front']}? :: {words['back']}")
    await home.tell(person, f"{words['private']}?")
    await home.tell(person, f"/quiz {words['quiz']} 2")
    await home.tell(person, f"it is {words['quiz']} of {words['private']}")
    await home.tell(person, "skip")
    folder = await home.memory_of(person)
    ulid = f"01JD000000000000000000000{person.id}"
    folder.profile(Profile.KNOWLEDGE).write_text(
        f"- {words['machine']} <!--m_{ulid} 2026-11-30 private-->\n"
        f"- {words['shareable']} <!--m_{ulid[:-1]}Z 2026-11-30 shareable-->\n",
        encoding="utf-8",
    )


async def _live(home: Home, one: Canary, forum: Chat, group: Chat, topic: int) -> None:
    """Everything a learner does, in private and before others."""
    person = one.person
    for text in ("/memory", "/due", "/status", "/help", "/persona euler", "/language", "/timezone"):
        await home.tell(person, text)
    await home.tell(person, "and then?")
    message = await home.tell(person, "/review")
    while message.labels:
        message, _ = await home.press(message, message.labels[0])
    for chat, where in ((forum, {"thread": topic}), (group, {})):
        for command in ("memory", "review", "due", "status", "start", "add a :: b", "remember c"):
            name, _, rest = command.partition(" ")
            await home.ask(chat, person, f"/{name}@tutor_bot {rest}".strip(), **where)
        await home.ask(chat, person, "@tutor_bot what am I good at?", **where)
    with_buttons = next(m for m in person.private.from_bot if m.labels)
    for shown in group.from_bot[-1:]:
        for button in with_buttons.buttons:
            await home.press_forged(person, shown, button["callback_data"])


async def test_a_canary_is_found_only_where_its_owner_is(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = _answer
    people = _people(telegram)
    forum, group = telegram.forum(), telegram.supergroup()
    topic = forum.topic("Limits", by=people[0].person)
    for one in people:
        await _prepare(home, one)
    home.clock.advance(days=1)
    await home.house.sweep()
    await home.quiet()
    for one in people:
        await _live(home, one, forum, group, topic.id)
    openai.default = Reply.failing(400, "refused: canaryprivate1x? is no question")
    [failed] = await home.ask(people[0].person.private, people[0].person, "canaryprivate1x?")
    assert "canary" not in failed.text

    learners = [await home.learner(one.person) for one in people]
    for one, learner in zip(people, learners, strict=True):
        own, others = one.words, [p for p in people if p is not one]
        _in_model_requests(home, one, own)
        for request in telegram.requests:
            text = json.dumps(request.json, ensure_ascii=False)
            for word in own.values():
                if word in text and request.name != "getUpdates":
                    assert str(request.json["chat_id"]) == str(one.person.id), request.json
        for word in own.values():
            assert word not in home.log
        for path in home.memory.rglob("*"):
            if path.is_file() and learner not in path.parts:
                text = path.read_bytes().decode("utf-8", "replace")
                for word in (*own.values(), one.name):
                    assert word not in text, path
        for other in others:
            for message in other.person.private.messages:
                assert not any(word in message.text for word in (*own.values(), one.name))
    for one in people:
        assert one.words["note"] in str([r.json for r in home.prompts]), "the canaries did live"
        found = [r for r in home.prompts if f"): asked: {one.words['private']}" in str(r.json)]
        assert found, "a search found what its own learner said"


def _in_model_requests(home: Home, one: Canary, own: dict[str, str]) -> None:
    """A learner's words are in their own prompts, private ones only."""
    for request in home.prompts:
        text = json.dumps(request.json, ensure_ascii=False)
        for kind, word in own.items():
            if word not in text:
                continue
            if kind == "shareable" and f"You are answering {one.name}" in text:
                continue
            assert "Several people speak" not in text, (kind, "in a group")
            foreign = set(re.findall(r"canary[a-z]+(\d+)x", text)) - {str(one.person.id)}
            assert not foreign, foreign
            assert kind != "back", "the answer of a card never leaves for the model"


async def test_in_a_group_the_prompt_holds_shareable_notes_only_and_no_cards(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    [one, *_] = _people(telegram)
    await _prepare(home, one)
    home.clock.advance(days=1)
    groups = (telegram.forum(), telegram.supergroup(), telegram.group())
    for chat in groups:
        openai.script(Reply.calls(ToolCall("cards_due")), Reply("Go on."))
        await home.ask(chat, one.person, "@tutor_bot why?")
        asked, again = home.prompts[-2:]
        assert one.words["shareable"] in system(asked)
        for kind in ("note", "machine", "front", "back", "private"):
            assert one.words[kind] not in str(again.json)
        assert "Cards due" not in system(asked)
        assert tools_of(asked) == {"current_time", "ask_learner", "start_quiz"}
    await home.tell(one.person, "why?")
    assert one.words["machine"] in system(home.prompts[-1])
    assert "Cards due for review today: 1" in system(home.prompts[-1])
    assert {"current_time", "cards_due", "memory_search"} <= tools_of(home.prompts[-1])


async def test_the_text_of_a_message_is_never_in_the_log(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, group = telegram.user(7, "Zebraname"), telegram.supergroup()
    openai.default = Reply("zebra1 says the tutor")
    await home.tell(ada, "zebra2 why?")
    for text in ("/add zebra3 :: zebra3", "/remember zebra4", "/zebra5 x", "/timezone zebra6"):
        await home.tell(ada, text)
    await home.ask(group, ada, "@tutor_bot zebra7?", reply_to=group.say(ada, "zebra8"))
    for trouble in (
        Reply.failing(400, "cannot process: zebra9 and why?"),
        Reply.failing(503, "cannot process: zebra9 and why?"),
        Reply.failing(401, f"Incorrect API key provided: {KEY}"),
    ):
        openai.default = trouble
        await home.tell(ada, "zebra9 and why?")
    telegram.refuse("sendMessage", 400, "Bad Request: can't parse zebra")
    telegram.push_raw({"message": {"text": "zebra10", "chat": "broken"}})
    await home.tell(ada, "zebra11?")
    await home.quiet()
    assert re.findall(r"[Zz]ebra\w+", home.log) == []
    assert KEY not in home.log
    assert telegram.token not in home.log


async def test_nothing_internal_leaves_whatever_the_model_says(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/remember I like cats")
    await home.tell(ada, "why?")
    nonce = re.search(r"\[notes (\w+)\]", system(home.prompts[-1]))
    assert nonce
    openai.script(Reply.calls(ToolCall("current_time")))

    def echo(request: RecordedRequest) -> Reply:
        """Repeats a tool's result as it was framed, and the frame of the notes."""
        return Reply(spoken(request)[-1][1] + "\nThat is all.")

    openai.default = echo
    answer = (await home.tell(ada, "what time is it?")).text
    frames = re.findall(r"\[\w+ [0-9a-f]{8}\]|\[end [0-9a-f]{8}\]", answer)
    assert frames == [], answer
    for markup in ("<tool_call>", "<|", "</think>"):
        assert markup not in answer
