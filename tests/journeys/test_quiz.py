"""``kill -9`` in the middle of a quiz: no question is lost, none is counted twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.journeys.scene import Scene, scene
from tests.servers.openai import Reply

NUMBER = {"kind": "number", "question": "How fast is 36 km/h?", "value": "10", "unit": "m/s"}
FREE = {"kind": "free", "question": "What does osmosis do?", "reference": "It moves water."}
LAST = {"kind": "number", "question": "What is 7 × 8?", "value": "56"}
JUDGED = {
    "criteria": [{"id": "answer", "met": "yes", "quote": "moves water"}],
    "score": 1,
    "confidence": 1,
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as one:
        yield one


def _rows(house: Scene, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(house.installation.data / "partners.db")) as database:
        return database.execute(statement).fetchall()


def test_killed_while_it_is_written_graded_and_answered(house: Scene) -> None:
    ada = house.learner()
    chat = ada.private
    writing = house.kept_gate()
    items = json.dumps({"items": [NUMBER, FREE, LAST]})
    house.openai.script(Reply.hanging(writing, "unsaid"), Reply(items))
    ada.say("/quiz cells 3")
    writing.wait_reached_blocking()
    house.restart()
    chat.wait_message_blocking(lambda m: m.text.startswith("1/3"))
    house.settled(ada)

    # The answer is committed, and killed before it could be said.
    send = house.hold_send(chat)
    ada.say("36 km/h")
    send.wait_reached_blocking()
    house.restart()
    house.settled(ada)
    assert _rows(house, "SELECT position FROM quiz") == [(1,)]

    grading = house.kept_gate()
    house.openai.script(Reply.hanging(grading, "unsaid"), Reply(json.dumps(JUDGED)))
    ada.say("it moves water")
    grading.wait_reached_blocking()
    house.restart()
    chat.wait_message_blocking(lambda m: "3/3" in m.text)
    ada.say("56")
    chat.wait_message_blocking(lambda m: "Done. All 3 right." in m.text)
    house.settled(ada)
    assert _rows(house, "SELECT correct FROM evidence") == [(1,), (1,), (1,)]
    assert _rows(house, "SELECT state FROM quiz") == [("done",)]
    assert sum("3/3" in m.text for m in chat.from_bot) == 1
