"""``kill -9`` around a learner's yes: what they allowed happens once, and is told once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.journeys.scene import NOTICE, Scene, scene
from tests.servers.openai import Reply, ToolCall

SAVE = ToolCall("cards_add", {"question": "7×8?", "answer": "56"})
DONE = "The card is saved."


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as one:
        yield one


def _cards(house: Scene) -> int:
    with closing(sqlite3.connect(house.installation.data / "partners.db")) as database:
        [(count,)] = database.execute("SELECT count(*) FROM card").fetchall()
        return int(count)


def test_a_yes_after_a_kill_is_done_once_however_often_the_process_is_killed_after_it(
    house: Scene,
) -> None:
    ada = house.learner()
    after_the_call = house.kept_gate()
    house.openai.script(Reply.calls(SAVE), Reply.hanging(after_the_call, "unsaid"), Reply(DONE))
    ada.say("make a card of it?")
    question = ada.private.wait_message_blocking(lambda m: m.labels[:1] == ["Yes"])
    house.restart()
    assert _cards(house) == 0
    ada.private.press(question, "Yes")
    after_the_call.wait_reached_blocking()
    assert _cards(house) == 1
    house.restart()
    ada.private.wait_message_blocking(lambda m: m.text == DONE)
    ada.private.press(question, "No")
    house.settled(ada)
    assert _cards(house) == 1
    assert [m.text for m in ada.private.from_bot].count(DONE) == 1
    assert any("You have said yes to that already." in m.text for m in ada.private.from_bot)


def test_a_yes_is_carried_out_once_whenever_the_process_is_killed_after_it(house: Scene) -> None:
    for number, pause in enumerate((0.0, 0.005, 0.02, 0.06), 1):
        ada = house.learner()
        house.openai.script(Reply.calls(SAVE))
        house.openai.default = Reply(DONE)
        ada.say("make a card of it?")
        question = ada.private.wait_message_blocking(lambda m: m.labels[:1] == ["Yes"])
        ada.private.press(question, "Yes")
        time.sleep(pause)  # any moment will do: whichever it is, the outcome is the same
        house.restart()
        house.settled(ada)
        told = [m.text for m in ada.private.from_bot]
        assert told.count(DONE) == 1 or (DONE not in told and NOTICE in told), told
        assert _cards(house) == number
