"""The tutor offers a card; it is saved when the learner says yes, and then comes back."""

from __future__ import annotations

from tests.house.home import Home
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer

OFFER = ToolCall("cards_add", {"question": "7 × 8?", "answer": "56"})


async def test_an_offered_card_is_saved_by_a_yes_and_tells_of_reminders(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply.calls(OFFER))
    asked = await home.tell(ada, "I never know 7 times 8")
    assert asked.labels == ["Yes", "No"]
    assert "7 × 8?" in asked.text and "56" in asked.text
    assert "no cards yet" in (await home.tell(ada, "/due")).text
    openai.script(Reply("It will come back."))
    _, said = await home.press(asked, "Yes")
    told = {m.text for m in said}
    assert "It will come back." in told
    [consent] = [m for m in said if "No reminders" in m.labels]
    assert "09:00" in consent.text
    assert "1 question is waiting" in (await home.tell(ada, "/due")).text


async def test_a_refused_card_is_not_saved(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply.calls(OFFER), Reply("As you like."))
    asked = await home.tell(ada, "I never know 7 times 8")
    await home.press(asked, "No")
    assert "no cards yet" in (await home.tell(ada, "/due")).text


async def test_a_group_is_offered_no_tool_of_ones_own(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await home.ask(group, ada, "@tutor_bot why?")
    offered = {tool["function"]["name"] for tool in home.prompts[-1].json["tools"]}
    assert offered == {"ask_learner", "current_time", "start_quiz"}
