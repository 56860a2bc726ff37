"""``/settings`` says what holds: for the learner, the model, and each stage of an answer."""

from __future__ import annotations

from core.loop.gates import Budget
from tests.house.conftest import MakeHome
from tests.house.home import Home
from tests.servers.telegram import TelegramServer


async def test_settings_are_those_that_take_effect(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    budget = Budget(max_rounds=5, responding_max_tokens=4_000, context_tokens=20_000)
    home = await make_home(budget=budget)
    ada = telegram.user(7, "Ada")
    shown = (await home.tell(ada, "/settings")).text
    for expected in (
        "I speak English, like your app.",
        "Your time zone is Europe/Berlin.",
        "You learn with Socrates.",
        "Reminders begin with your first card.",
        "Model: scripted.",
        "Temperature: 0.6.",
        "At most 5 rounds, 24 tool calls and 120 seconds.",
        "Exploring: 1,600 tokens.",
        "Responding: 4,000 tokens.",
        "Answering now: 8,000 tokens.",
        "A conversation of 20,000 tokens, 5,000 of them kept for the answer.",
        "Money for one answer: no limit.",
        "Tools are called as the model can.",
    ):
        assert expected in shown
    await home.tell(ada, "/persona euler")
    await home.tell(ada, "/language en")
    await home.tell(ada, "/add one :: two")
    shown = (await home.tell(ada, "/settings")).text
    for expected in ("Euler", "which you chose", "Reminders come at 09:00."):
        assert expected in shown


async def test_in_a_group_nothing_of_it_is_shown(home: Home, telegram: TelegramServer) -> None:
    group = telegram.supergroup()
    [told] = await home.ask(group, telegram.user(7, "Ada"), "/settings@tutor_bot")
    assert "write to me privately" in told.text
