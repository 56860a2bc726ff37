"""A model that is down or talks nonsense: one clear sentence or a closing answer, nothing lost."""

from __future__ import annotations

import json
from functools import partial

from sqlmodel import select

from core.loop.gates import Budget
from core.store.tables import Turn
from tests.house.conftest import MakeHome
from tests.house.home import Home, hanging, reference_in, spoken
from tests.house.indoors import KEY
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply, ToolCall, Trouble
from tests.servers.telegram import Person, Shown, TelegramServer

DOWN = Reply.failing(503, "zebra9 the upstream fell over")
OUR_SENTENCE = "I can't reach my thoughts just now"
"""The default persona's own."""


def _loops(request: RecordedRequest) -> Reply:
    """Never stops calling tools, as long as there are any."""
    if request.json.get("tools"):
        return Reply.calls(ToolCall("current_time"))
    return Reply("The closing answer.")


async def _reasons(home: Home, person: Person) -> list[str]:
    """How the person's turns ended, oldest first."""
    learner = await home.learner(person)
    chosen = select(Turn).where(Turn.learner_id == learner).order_by(Turn.id)
    return [turn.reason for turn in await home.read(lambda s: s.exec(chosen).all())]


def _nothing_internal(home: Home, answer: Shown) -> None:
    for internal in ("zebra9", "Traceback", "Error", "http", "scripted", "{", KEY, "503", "null"):
        assert internal not in answer.text, answer.text
    assert KEY not in home.log


async def test_a_model_that_is_down_costs_a_sentence_with_a_reference_that_is_in_the_log(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = DOWN
    answer = await home.tell(ada, "why?")
    assert OUR_SENTENCE in answer.text
    assert answer.labels == ["Try again"]
    _nothing_internal(home, answer)
    ref = reference_in(answer.text)
    lines = [json.loads(line) for line in home.log.splitlines()]
    told = [line for line in lines if line.get("ref") == ref]
    assert any(
        line["level"] == "WARNING" and "model call failed" in line["message"] for line in told
    )
    assert "asked: why?" in await home.journal_of(ada)


async def test_try_again_answers_the_question_once(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = DOWN
    failed = await home.tell(ada, "why?")
    _, [still] = await home.press(failed, "Try again")
    assert OUR_SENTENCE in still.text
    openai.default = Reply("Because.")
    _, [answer] = await home.press(still, "Try again")
    assert answer.text == "Because."
    assert spoken(home.prompts[-1]) == [("user", "why?")]
    calls = len(home.prompts)
    for message in (failed, still):
        _, [again] = await home.press(message, "Try again")
        assert "answered that already" in again.text
    assert len(home.prompts) == calls
    await home.tell(ada, "and?")
    assert spoken(home.prompts[-1]) == [
        ("user", "why?"),
        ("assistant", "Because."),
        ("user", "and?"),
    ]
    assert (await home.journal_of(ada)).count("asked: why?") == 1


async def test_two_taps_on_try_again_give_one_answer(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = DOWN
    failed = await home.tell(ada, "why?")
    openai.default = Reply("Because.")
    ada.private.press(failed, "Try again")
    ada.private.press(failed, "Try again")
    await home.quiet()
    assert [m.text for m in ada.private.from_bot].count("Because.") == 1


async def test_a_chinese_learner_hears_of_it_in_chinese(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = DOWN
    answer = await home.tell(telegram.user(7, "小艾", language_code="zh-hans"), "为什么？")
    assert answer.labels == ["再试一次"]
    assert reference_in(answer.text)
    assert not any("a" <= c <= "z" for c in answer.text)


NONSENSE: list[tuple[str, Reply, str | None]] = [
    ("says nothing", Reply.empty(), "empty"),
    ("only thinks", Reply("<think>zebra9 hmm</think>"), "empty"),
    ("garbage", Reply(trouble=Trouble.GARBAGE), "provider_error"),
    ("torn", Reply("abc", trouble=Trouble.GARBAGE, trouble_after=1), "provider_error"),
    ("drops the line", Reply(trouble=Trouble.DROP), "provider_error"),
    ("error in the stream", Reply(trouble=Trouble.ERROR), "provider_error"),
    ("no end", Reply(trouble=Trouble.NO_END), "provider_error"),
    ("another content type", Reply("<html>zebra9</html>", content_type="text/html"), None),
    (
        "refuses the key",
        Reply.failing(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"),
        "provider_error",
    ),
    (
        "unknown model",
        Reply.failing(404, "The model `zebra9` does not exist", code="model_not_found"),
        "provider_error",
    ),
    (
        "no credit",
        Reply.failing(429, "You exceeded your current quota", code="insufficient_quota"),
        "provider_error",
    ),
    (
        "refuses the request",
        Reply.failing(400, "zebra9 content policy", kind="invalid_request_error"),
        "provider_error",
    ),
    ("filtered", Reply("", finish="content_filter"), "provider_error"),
    ("unreadable calls", Reply.calls(ToolCall("current_time", '{"a": ')), "malformed"),
    ("unknown tool", Reply.calls(ToolCall("zebra9")), None),
]
"""What the model does, and the reason that ends the turn; None where an answer is fine too."""


async def test_nonsense_ends_in_one_clear_sentence_and_no_other_chat_notices(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ben = telegram.user(8, "Ben")
    for number, (what, reply, reason) in enumerate(NONSENSE):
        ada = telegram.user(100 + number, "Ada")
        openai.default = partial(_nonsense_but_for_ben, reply)
        ada.say("why?")
        assert (await home.tell(ben, "ping")).text == "pong", what
        [answer] = ada.private.from_bot
        assert answer.text.strip(), what
        if reason is not None:
            assert await _reasons(home, ada) == [reason], what
            assert answer.labels == ["Try again"], what
            reference_in(answer.text)
            _nothing_internal(home, answer)


def _nonsense_but_for_ben(reply: Reply, request: RecordedRequest) -> Reply:
    return Reply("pong") if "ping" in json.dumps(request.json) else reply


async def test_a_rate_limit_is_waited_out(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.script(Reply.rate_limited(0.2), Reply("After a while."))
    assert (await home.tell(telegram.user(7, "Ada"), "why?")).text == "After a while."
    first, second = home.prompts
    assert first.ended is not None
    assert second.started - first.ended >= 0.2


async def test_a_rate_limit_longer_than_the_turn_is_told_at_once(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(budget=Budget(deadline_seconds=4))
    openai.default = Reply.rate_limited(3_600)
    answer = await home.tell(telegram.user(7, "Ada"), "why?")
    assert answer.labels == ["Try again"]


async def test_a_model_that_never_stops_calling_tools_gives_its_closing_answer(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = _loops
    ada = telegram.user(7, "Ada")
    answer = await home.tell(ada, "why?")
    assert answer.text == "The closing answer."
    assert len(home.prompts) <= 9
    assert await _reasons(home, ada) == ["rounds"]


async def test_a_model_that_hangs_gives_its_closing_answer_or_a_sentence_within_the_deadline(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(budget=Budget(deadline_seconds=0.8))
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("The closing answer."))
    assert (await home.tell(ada, "why?")).text == "The closing answer."
    assert await _reasons(home, ada) == ["deadline"]
    openai.script(Reply.hanging(gate), Reply.hanging(gate))
    answer = await home.tell(ada, "why again?")
    assert "pondered too long" in answer.text
    assert answer.labels == ["Try again"]
    gate.drop()


async def test_thinking_tool_markers_and_control_tokens_never_reach_the_chat(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    for said in (
        "<think>zebra9</think>Well done.",
        "zebra9</think>\nWell done.",
        "<|channel|>analysis<|message|>zebra9<|end|><|start|>assistant<|channel|>final<|message|>"
        "Well done.",
        "<tool_call>zebra9</tool_call>Well done.",
    ):
        openai.script(Reply(said, chunks=7, reasoning="zebra9"))
        assert (await home.tell(ada, "why?")).text == "Well done."
    assert "zebra9" not in await home.journal_of(ada)


async def test_an_answer_in_the_shape_of_nothing_is_not_sent_empty(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    """What Markdown shows as nothing would be an empty message."""
    ada = telegram.user(7, "Ada")
    for said in ("\u200b", "[](http://a.example)", "<!-- hidden -->", "&nbsp;", "#", "```\n```"):
        openai.default = Reply(said)
        assert (await home.tell(ada, "why?")).text.strip()
