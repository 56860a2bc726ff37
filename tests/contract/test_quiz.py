"""What every channel promises to those who take a quiz."""

from __future__ import annotations

import json

from tests.contract.home import StageHome
from tests.contract.stage import AnyRemote, AnyStage, Seen
from tests.servers.openai import OpenAIServer, Reply

CHOICE = {
    "kind": "choice",
    "question": "Where is ATP made?",
    "right": "mitochondria",
    "wrong": ["ribosomes", "vacuoles", "chloroplasts", "the nucleus", "the wall"],
    "hint": "Think of respiration.",
}
NUMBER = {"kind": "number", "question": "How fast is 36 km/h?", "value": "10", "unit": "m/s"}


def letter(seen: Seen[object], option: str) -> str:
    """The letter before an option, as the chat shows it."""
    [line] = [line for line in seen.text.split("\n") if line.strip().endswith(option)]
    return line.strip().strip("*")[0]


async def test_a_quiz_is_answered_by_button_and_in_words(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    place = stage.private(ada)
    openai.script(Reply(json.dumps({"items": [CHOICE, NUMBER]})))
    first = (await home.ask(place, ada, "/quiz cells 2"))[-1]
    assert "Where is ATP made?" in first.text
    assert first.labels == ("A", "B", "C", "D", "E", "F", "Hint", "Skip", "Stop the quiz")
    shown, new = await home.press(place, ada, first, letter(first, "mitochondria"))
    second = new[-1] if new else shown
    assert "✓ Right." in second.text
    assert "How fast is 36 km/h?" in second.text
    end = (await home.ask(place, ada, "36 km/h"))[-1]
    assert "Done. All 2 right." in end.text
    assert "More of these" in end.labels


async def test_a_group_answers_one_question_and_sees_numbers_only(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada, bea = remote.person("Ada"), remote.person("Bea")
    group = remote.group(ada, bea)
    openai.script(Reply(json.dumps({"items": [{**CHOICE, "hint": ""}]})))
    first = (await home.ask(group, ada, "/quiz cells 1", mention=True))[-1]
    assert first.labels == ("A", "B", "C", "D", "E", "F", "Close and go on")
    right = letter(first, "mitochondria")
    shown, new = await home.press(group, bea, first, right)
    assert new == []
    assert "1 has answered." in shown.text
    assert "Bea" not in shown.text
    shown, new = await home.press(group, ada, first, "A" if right != "A" else "B")
    assert new == []
    assert "2 have answered." in shown.text
    shown, new = await home.press(group, ada, shown, "Close and go on")
    assert new == []
    assert "1 of 2 had it." in shown.text
    assert shown.labels == ()
