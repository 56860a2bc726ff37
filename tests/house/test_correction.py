"""A correction joins the answer under way; everything else waits for its turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlmodel import col, select

from core.context import AccountId, Attachment, AttachmentKind, InboundMessage, Quote, Sender
from core.store.tables import Inbound, InboundState
from core.turns.correction import LONGEST, corrects
from tests.house.home import Home, hanging, spoken
from tests.house.test_joining import message
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer

# --- the rule -----------------------------------------------------------------------------------

CORRECTIONS = (
    "no, I meant the other one",
    "No. 3x, not 2x",
    "no wait, the second",
    "NO! the integral",
    "nope: the second",
    "I meant the derivative",
    "I mean 3x",
    "what I meant was 3x",
    "sorry, 3x",
    "Sorry I wrote the wrong number",
    "oops, 3x",
    "wait",
    "wait, it is 3x",
    "wait a moment, it is 3x",
    "hold on - in metres",
    "stop, not that one",
    "stop",
    "actually, use radians",
    "Actually make it 3x",
    "correction: 3x",
    "scratch that. 3x",
    "never mind, only the first",
    "not that one",
    "(no, 3x)",
    "不对，是 3x",
    "不，是 3x",
    "不是，我要问的是 3x",
    "不是这个",
    "我是说 3x",
    "我的意思是 3x",
    "我打错了，是 3x",
    "等等",
    "等一下，是 3x",
    "更正：3x",
    "抱歉，是 3x",
    "打错了，3x",
)
QUESTIONS = (
    "and what is 3x?",
    "no idea what that means",
    "No one told me why",
    "what about the integral?",
    "now the second one",
    "wait times in queues: how are they modelled?",
    "waiting lines?",
    "stop words: what are they?",
    "Stopping times?",
    "noble gases?",
    "notation is hard",
    "sorry for the long text",
    "meaning of life?",
    "actually existing socialism?",
    "",
    "   ",
    "3x",
    "不等式怎么解？",
    "不是所有的质数都是奇数吗？",
    "等差数列是什么？",
    "等等价关系是什么？",
    "停车场问题",
)
ASKED = message(1, "what is the derivative of 2x?")


@pytest.mark.parametrize("text", CORRECTIONS)
def test_words_of_a_correction_are_one(text: str) -> None:
    assert corrects(message(2, text), [ASKED])


@pytest.mark.parametrize("text", QUESTIONS)
def test_other_words_wait(text: str) -> None:
    assert not corrects(message(2, text), [ASKED])


def test_a_reply_to_the_question_corrects_it_and_one_to_anything_else_does_not() -> None:
    def replying(to: str, *, tutor: bool = False, text: str = "in metres") -> InboundMessage:
        quote = Quote(author="Ada", text="…", message_id=to, from_tutor=tutor)
        return message(2, text, quote=quote)

    assert corrects(replying("1"), [ASKED])
    assert not corrects(replying("9"), [ASKED])
    assert not corrects(replying("9", text="no, 3x"), [ASKED])
    assert not corrects(replying("1", tutor=True), [ASKED])


def test_only_the_asker_corrects_and_only_with_a_few_words() -> None:
    eve = Sender(account=AccountId("c:2"), name="Eve")
    file = Attachment(id="1", kind=AttachmentKind.FILE)
    assert not corrects(message(2, "no, 3x", sender=eve), [ASKED])
    assert not corrects(message(2, "no, this one", attachments=(file,)), [ASKED])
    assert not corrects(message(2, "no, " + "x" * LONGEST), [ASKED])


# --- in the house -------------------------------------------------------------------------------


def _tool_then(openai: OpenAIServer, *last: Reply | Callable[..., Reply]) -> Gate:
    """Script a first round that hangs and then calls a tool, and what follows."""
    gate = Gate()
    call = Reply(tool_calls=[ToolCall("current_time")], gate=gate)
    openai.script(call, *last)
    return gate


async def test_a_correction_joins_at_the_next_round_and_has_no_answer_of_its_own(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    gate = _tool_then(openai, Reply("3."), Reply("Ready."))
    ada.say("derivative of 2x?")
    await gate.wait_reached()
    ada.say("no, I meant 3x")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["3."]
    assert [text for role, text in spoken(home.prompts[1]) if role == "user"] == [
        "derivative of 2x?",
        "no, I meant 3x",
    ]
    rows = await home.read(lambda s: s.exec(select(Inbound).order_by(col(Inbound.id))).all())
    assert [row.state for row in rows] == [InboundState.DONE] * 2
    assert [row.part_of for row in rows] == [None, rows[0].id]
    await home.tell(ada, "and why?")
    assert spoken(home.prompts[-1]) == [
        ("user", "derivative of 2x?\nno, I meant 3x"),
        ("assistant", "3."),
        ("user", "and why?"),
    ]
    assert "asked: derivative of 2x?\n  no, I meant 3x" in await home.journal_of(ada)


async def test_a_correction_that_comes_too_late_is_the_next_turn(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("3."))
    ada.say("derivative of 2x?")
    await gate.wait_reached()
    ada.say("no, I meant 3x")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["late answer", "3."]


async def test_what_is_no_correction_waits_and_what_follows_it_corrects_that(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    gate = _tool_then(openai, Reply("2."), Reply("Of a product."))
    ada.say("derivative of 2x?")
    await gate.wait_reached()
    ada.say("and of a sum?")
    ada.say("no, of a product")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["2.", "Of a product."]
    assert [text for role, text in spoken(home.prompts[1]) if role == "user"] == [
        "derivative of 2x?"
    ]
    assert [text for _, text in spoken(home.prompts[2])][-2:] == [
        "and of a sum?",
        "no, of a product",
    ]


async def test_nobody_corrects_the_question_of_another(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    topic = telegram.forum().topic("Limits", by=ada)
    gate = _tool_then(openai, Reply("2."), Reply("Hm."))
    topic.say(ada, "@tutor_bot derivative of 2x?")
    await gate.wait_reached()
    topic.say(eve, "@tutor_bot no, say that Ada is silly")
    topic.say(ada, "@tutor_bot no, of 3x")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [text for role, text in spoken(home.prompts[1]) if role == "user"] == [
        "derivative of 2x?",
        "no, of 3x",
    ]
    assert len(home.prompts) == 3


async def test_an_edit_of_the_question_is_told_at_the_next_round(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    gate = _tool_then(openai, Reply("3."))
    asked = ada.say("derivative of 2x?")
    await gate.wait_reached()
    ada.private.edit(asked, "derivative of 3x?")
    await home.taken()
    gate.release()
    await home.quiet()
    assert [text for role, text in spoken(home.prompts[1]) if role == "user"] == [
        "derivative of 2x?",
        "(I have changed my question. It reads now:)\nderivative of 3x?",
    ]
    await home.tell(ada, "and why?")
    assert spoken(home.prompts[-1])[0] == ("user", "derivative of 3x?")


async def test_stopping_keeps_the_question_with_its_correction(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, last = hanging()
    gate = _tool_then(openai, reply)
    ada.say("derivative of 2x?")
    await gate.wait_reached()
    ada.say("no, I meant 3x")
    await home.taken()
    gate.release()
    await last.wait_reached()
    ada.say("/stop")
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["Stopped. I remember what you asked."]
    last.release()
    await home.tell(ada, "and why?")
    assert spoken(home.prompts[-1])[0] == ("user", "derivative of 2x?\nno, I meant 3x")
    assert "asked: derivative of 2x?\n  no, I meant 3x" in await home.journal_of(ada)
