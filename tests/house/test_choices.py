"""The model asks the learner: answers to tap, or to write; each press counts once."""

from __future__ import annotations

from sqlmodel import col, select

from core.store.tables import Turn
from tests.house.home import Home, spoken
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import Person, Shown, TelegramServer

SLOPE, SIGNS = "Which sign has the slope?", ("plus", "minus")


def asks(question: str, *choices: str, text: str = "") -> Reply:
    call = ToolCall("ask_learner", {"question": question, "choices": list(choices)})
    return Reply.calls(call, text=text)


async def asked(home: Home, ada: Person, openai: OpenAIServer) -> Shown:
    openai.script(asks(SLOPE, *SIGNS, text="Look at the line."))
    return await home.tell(ada, "is it rising?")


async def test_a_press_is_what_the_learner_says_next(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    question = await asked(home, ada, openai)
    assert question.text == "Look at the line.\n\nWhich sign has the slope?"
    assert question.labels == ["plus", "minus"]
    openai.script(Reply("Are you sure?"))
    shown, [answer] = await home.press(question, "minus")
    assert answer.text == "Are you sure?"
    assert shown.labels == [] and shown.text.endswith("✓ minus")
    assert spoken(home.prompts[-1]) == [
        ("user", "is it rising?"),
        ("assistant", "Look at the line.\n\nWhich sign has the slope?\n\n- plus\n- minus"),
        ("user", "minus"),
    ]
    journal = await home.journal_of(ada)
    assert journal.count("asked: minus") == 1
    turn = await home.read(lambda s: s.exec(select(Turn).order_by(col(Turn.id))).first())
    assert turn is not None and turn.reason == "answered"


async def test_a_second_press_and_one_after_other_words_are_told_so(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    question = await asked(home, ada, openai)
    plus = question.buttons[0]["callback_data"]
    await home.press(question, "minus")
    [late] = await home.press_forged(ada, question, plus)
    assert late.text.startswith("We have gone on since.")
    question = await asked(home, ada, openai)
    await home.tell(ada, "neither, it is flat")
    _, [late] = await home.press(question, "plus")
    assert late.text.startswith("We have gone on since.")
    assert [text for _, text in spoken(home.prompts[-1])].count("plus") == 0
    question = await asked(home, ada, openai)
    await home.tell(ada, "/new")
    _, [late] = await home.press(question, "plus")
    assert late.text.startswith("We have gone on since."), "a new talk does not know the question"
    [gone] = await home.press_forged(ada, question, "pick:01JD0000000000000000000000:0")
    assert "out of date" in gone.text


async def test_the_buttons_work_after_a_restart(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    question = await asked(home, telegram.user(7, "Ada"), openai)
    await home.close()
    await home.open()
    openai.script(Reply("Right."))
    _, [answer] = await home.press(question, "plus")
    assert answer.text == "Right."


async def test_what_was_chosen_is_answered_anew_as_it_was_said(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    question = await asked(home, ada, openai)
    openai.script(Reply.failing(401, "no"), Reply("Right."), Reply("Yes."))
    _, [failed] = await home.press(question, "plus")
    await home.press(failed, failed.labels[0])
    assert spoken(home.prompts[-1])[-1] == ("user", "plus")
    ada.say("/regenerate")
    await home.quiet()
    assert spoken(home.prompts[-1])[-1] == ("user", "plus")
    assert [m.text for m in ada.private.from_bot][-1] == "Yes."


async def test_long_answers_get_letters(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    long = "because the derivative is *positive* there"
    openai.script(asks("Why?", long, "no idea"), Reply("Good."))
    question = await home.tell(telegram.user(7, "Ada"), "it rises")
    assert question.text == f"Why?\n\nA {long}\n\nB no idea"
    assert question.labels == ["A", "B"]
    await home.press(question, "A")
    assert spoken(home.prompts[-1])[-1] == ("user", "A")


async def test_an_open_question_has_no_buttons_and_one_choice_is_none(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    for choices in ((), ("yes",), ("yes", "yes ")):
        openai.script(asks("What next?", *choices))
        question = await home.tell(ada, "go on")
        assert (question.text, question.labels) == ("What next?", [])


async def test_in_a_group_only_the_one_who_was_asked_can_press(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, bob = telegram.user(7, "Ada"), telegram.user(8, "Bob")
    topic = telegram.forum().topic("Limits", by=ada)
    openai.script(asks(SLOPE, *SIGNS), Reply("Right."))
    [question] = await home.ask(topic.chat, ada, "@tutor_bot is it rising?", thread=topic)
    shown, [told] = await home.press(question, "plus", bob)
    assert "Only the person I asked" in told.text and shown.labels == ["plus", "minus"]
    shown, [answer] = await home.press(question, "plus", ada)
    assert answer.text == "Right." and shown.labels == []


async def test_a_question_beside_other_calls_is_put_when_their_results_are_there(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    both = [
        ToolCall("ask_learner", {"question": SLOPE, "choices": SIGNS}),
        ToolCall("current_time"),
    ]
    openai.script(Reply(tool_calls=both), asks(SLOPE, *SIGNS))
    question = await home.tell(telegram.user(7, "Ada"), "is it rising?")
    assert question.labels == ["plus", "minus"]
    results = [m["content"] for m in home.prompts[-1].json["messages"] if m["role"] == "tool"]
    assert "ask in a step of its own" in results[0] and "Europe/Berlin" in results[1]


async def test_the_model_may_ask_by_label_too(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.unsupported = {"tools"}
    openai.default = Reply(
        'THINK: I wonder.\nTOOL: ask_learner {"question": "Up?", "choices": ["yes", "no"]}'
    )
    question = await home.tell(telegram.user(7, "Ada"), "is it rising?")
    assert (question.text, question.labels) == ("Up?", ["yes", "no"])
