"""The tutor says "I'll remember" and "I'll remind you" only with a receipt."""

from __future__ import annotations

import pytest

from core.i18n import words_for
from core.llm.port import ChatMessage, ToolCall
from core.turns.promises import Promise, promised, receipts, with_truth
from tests.house.home import Home, spoken
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.openai import ToolCall as Call
from tests.servers.telegram import TelegramServer

NOTHING_NOTED = "nothing was noted"
NO_REMINDER = "no reminder was set"


@pytest.mark.parametrize(
    "text",
    [
        "Sure, I'll remember that!",
        "I will keep that in mind for our next lesson.",
        "I’ll make a note of your exam date.",
        "**Noted!** Shall we go on?",
        "Got it, noted. What is 3 + 4?",
        "I've noted that you like short answers.",
        "I have saved your preference.",
        "I'm going to remember this.",
        "I won't mind. I will never forget it.",
        "好的，我会记住的。",
        "我记住了！下一题：",
        "没问题，记下了。",
        "我已经帮你记下来了。",
        "放心，我不会忘记的。",
        "我会一直记得你喜欢例子。",
    ],
)
def test_to_say_that_one_remembers_is_a_promise(text: str) -> None:
    assert promised(text) == {Promise.REMEMBER}


@pytest.mark.parametrize(
    "text",
    [
        "I'll remind you tomorrow at nine.",
        "Sure! I will remind you of the exam on Friday.",
        "I'll set a reminder for 7 pm.",
        "I've set a reminder.",
        "好，我明天早上会提醒你。",
        "到时候我会提醒你。",
        "已经帮你设好明早的提醒了。",
    ],
)
def test_to_say_that_one_will_remind_is_a_promise(text: str) -> None:
    assert promised(text) == {Promise.REMIND}


@pytest.mark.parametrize(
    "text",
    [
        "Remember that 2 + 2 = 4.",
        "I remember that you like short answers.",
        "Do you want me to remember that?",
        "Shall I remind you tomorrow?",
        "Should I note that? I will remember it, if you like?",
        "Let me remind you that the sum is 180°.",
        "I'll remind you that a prime has two divisors.",
        "I will remind you of the definition first.",
        "I will note that 2 + 2 = 4 holds in every ring.",
        "You will remember it if you practise.",
        "I cannot remember things without /remember.",
        "I will not remember that unless you send /remember.",
        "The sentence “I will remember you” is in the future tense.",
        '"I\'ll remind you" means: ich erinnere dich.',
        "```\nI will remember that.\n```",
        "> I will remember that.\n\nWho says this?",
        "I will remind you when your cards are due.",
        "As noted above, it holds.",
        "请记住 2 + 2 = 4。",
        "你要记住这个公式，我们都会记住它。",
        "我记得你喜欢例子。",
        "要我记住吗？",
        "提醒你一下，零不是正数。",
        "“我会记住你”是将来时。",
        "卡片到期时我会提醒你复习。",
        "我不会记住没有用 /remember 发来的内容。",
    ],
)
def test_what_only_sounds_like_one_is_none(text: str) -> None:
    assert promised(text) == frozenset()


def test_a_receipt_is_what_the_tool_said_in_this_turn() -> None:
    def turn(name: str, result: str) -> list[ChatMessage]:
        call = ToolCall("a", name, "{}")
        return [
            ChatMessage("assistant", "", (call,)),
            ChatMessage("tool", f"[result 7: data]\n{result}\n[end 7]", tool_call_id="a"),
        ]

    assert receipts(turn("memory_remember", "Kept.")) == {Promise.REMEMBER}
    assert receipts(turn("memory_remember", "That was kept before already.")) == {Promise.REMEMBER}
    assert receipts(turn("schedule_reminder", "Kept. [7] Monday")) == {Promise.REMIND}
    assert receipts(turn("memory_remember", "Not kept: nothing to remember.")) == frozenset()
    assert receipts(turn("calculate", "Kept.")) == frozenset()
    assert receipts([]) == frozenset()


def test_only_what_was_not_kept_is_told() -> None:
    words = words_for("en")
    both = "I'll remember that. I'll remind you tomorrow."
    assert with_truth(both, {Promise.REMEMBER, Promise.REMIND}, words) == both
    told = with_truth(both, {Promise.REMEMBER}, words)
    assert told.startswith(both + "\n\n*I wrote that I will remind you")
    assert NOTHING_NOTED not in told
    assert with_truth("Four.", (), words) == "Four."
    assert "/remember" in with_truth("我记住了。", (), words_for("zh"))


async def test_a_promise_without_a_receipt_gets_a_note(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("I'll remember that!"))
    told = await home.tell(ada, "I like short answers")
    assert told.text.startswith("I'll remember that!")
    assert NOTHING_NOTED in told.text
    await home.tell(ada, "and now?")
    # The model is shown that it did not, so it does not build on it.
    assert NOTHING_NOTED in dict(spoken(home.prompts[-1]))["assistant"]
    openai.script(Reply("I'll remind you tomorrow."))
    assert NO_REMINDER in (await home.tell(ada, "wake me")).text
    assert NOTHING_NOTED not in await home.journal_of(ada)


async def test_a_promise_with_a_receipt_stays_as_it_is(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(
        Reply.calls(Call("memory_remember", {"note": "likes short answers"})),
        Reply("I'll remember that!"),
    )
    assert (await home.tell(ada, "I like short answers")).text == "I'll remember that!"
    openai.script(Reply("I'll remember that too!"))
    assert NOTHING_NOTED in (await home.tell(ada, "and examples")).text
