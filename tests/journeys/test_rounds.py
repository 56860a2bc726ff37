"""``kill -9`` between the rounds of a turn that changes something: it goes on, and changes it once.

The last request to the model is the witness: it shows each call once, with its one result.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.journeys.scene import Scene, scene
from tests.servers.openai import Reply, ToolCall

PERSONA = """---
id: minder
languages: [en]
name:
  en: Minder
description:
  en: Keeps reminders.
greeting:
  en: Good day.
brief:
  en: You are Minder.
tools: [schedule_reminder, current_time]
capabilities: [chat]
---

# en

You are Minder.
"""
REMIND = ToolCall("schedule_reminder", {"text": "stretch", "at": "2027-12-24T18:00"})


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Scene]:
    personas = tmp_path / "data" / "personas"
    personas.mkdir(parents=True)
    (personas / "minder.md").write_text(PERSONA, encoding="utf-8")
    with scene(tmp_path) as one:
        yield one


def _kept(house: Scene) -> int:
    with closing(sqlite3.connect(house.installation.data / "partners.db")) as database:
        [(count,)] = database.execute("SELECT count(*) FROM reminder").fetchall()
        return int(count)


def test_a_killed_turn_goes_on_at_its_last_whole_round(house: Scene) -> None:
    ada = house.learner()
    ada.say("/persona minder")
    house.settled(ada)
    round_two, round_three = house.kept_gate(), house.kept_gate()
    house.openai.script(
        Reply.calls(REMIND),
        Reply.hanging(round_two, "unsaid"),
        Reply.calls(ToolCall("current_time")),
        Reply.hanging(round_three, "unsaid"),
        Reply("I'll remind you."),
    )
    ada.say("remind me to stretch?")
    round_two.wait_reached_blocking()
    house.restart()
    round_three.wait_reached_blocking()
    house.restart()
    ada.private.wait_message_blocking(lambda m: m.text == "I'll remind you.")
    house.settled(ada)
    assert _kept(house) == 1
    assert [m.text for m in ada.private.from_bot].count("I'll remind you.") == 1
    last = house.openai.chats[-1].json["messages"]
    assert [m["role"] for m in last if m["role"] != "system"] == [
        "user",
        *["assistant", "tool"] * 2,
    ]
    assert house.journal("asked: remind me to stretch?") == 1
