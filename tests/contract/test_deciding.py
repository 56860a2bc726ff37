"""What every channel promises to those who are asked, who correct, and who stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.conftest import MakeHome
from tests.contract.home import StageHome
from tests.contract.stage import AnyStage
from tests.house.home import spoken
from tests.house.tools import Bells, with_handy
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, ToolCall


@pytest.mark.parametrize("label", ["Yes", "No"])
async def test_a_tool_asks_by_buttons_before_it_does_something(
    tmp_path: Path, make_home: MakeHome, stage: AnyStage, openai: OpenAIServer, label: str
) -> None:
    bells = Bells()
    with_handy(tmp_path)
    home = await make_home(tools=(bells.ring(),))
    ada = stage.person()
    place = stage.private(ada)
    await home.ask(place, ada, "/persona handy")
    openai.script(Reply.calls(ToolCall("ring", {"times": 3})), Reply("All right."))
    [question] = await home.ask(place, ada, "wake me?")
    assert "May I do this?" in question.text
    assert question.labels == ("Yes", "No")
    assert bells.rung == []
    shown, new = await home.press(place, ada, question, label)
    assert new[-1].text.strip() == "All right."
    assert bells.rung == ([3] if label == "Yes" else [])
    if stage.channel(home.clock).capabilities.can_edit:
        assert shown.labels == ()
        assert f"You said {label.lower()}." in shown.text


async def test_a_correction_joins_the_answer_under_way(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    place = stage.private(ada)
    before = stage.shown(place)
    gate = Gate()
    openai.script(Reply(tool_calls=[ToolCall("current_time")], gate=gate), Reply("Of 3x: 3."))
    await stage.say(place, ada, "derivative of 2x?")
    await gate.wait_reached()
    await stage.say(place, ada, "no, I meant 3x")
    await home.taken()
    gate.release()
    await home.quiet()
    [answer] = home.new(place, before)
    assert answer.text.strip() == "Of 3x: 3."
    assert [text for role, text in spoken(home.prompts[-1]) if role == "user"] == [
        "derivative of 2x?",
        "no, I meant 3x",
    ]


async def test_the_model_asks_with_answers_to_tap(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    place = stage.private(ada)
    asks = {"question": "Up or down?", "choices": ["up", "down"]}
    openai.script(Reply.calls(ToolCall("ask_learner", asks)), Reply("Right."))
    [question] = await home.ask(place, ada, "is it rising?")
    assert "Up or down?" in question.text
    assert question.labels == ("up", "down")
    shown, new = await home.press(place, ada, question, "up")
    assert new[-1].text.strip() == "Right."
    assert spoken(home.prompts[-1])[-1] == ("user", "up")
    if stage.channel(home.clock).capabilities.can_edit:
        assert shown.labels == ()
        assert "✓ up" in shown.text
