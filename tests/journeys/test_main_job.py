"""The main job, end to end, as its people live it: a real process, a real client, two servers."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.process import Installation
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

BERLIN = ZoneInfo("Europe/Berlin")


def test_a_stranger_becomes_a_learner_is_taught_and_reminded_once(
    installation: Installation, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = Reply("**Try it** with `x = 2` first.", chunks=4)
    with installation.serving(telegram):
        ada.say("hello")
        code = ada.private.wait_message_blocking(lambda m: m.from_bot).text
        found = re.search(r"\b[0-9A-Z]{4}-[0-9A-Z]{2}\b", code)
        assert found, code
        assert openai.chats == []
        assert not [r for r in telegram.requests if r.name == "sendChatAction"]

        installation.say("access", "approve", found[0])
        ada.private.wait_message_blocking(lambda m: m.from_bot and "You're in" in m.text)

        ada.say("why is a derivative zero at a maximum?")
        answer = ada.private.wait_message_blocking(lambda m: "Try it" in m.text)
        assert answer.text == "Try it with x = 2 first."
        assert answer.covered("bold") == ["Try it"]
        assert answer.covered("code") == ["x = 2"]

        forum = telegram.forum()
        topic = forum.topic("Calculus", by=ada)
        topic.say(ada, "@tutor_bot and at a minimum?")
        there = forum.wait_message_blocking(lambda m: m.from_bot)
        assert there.thread == topic.id

        ada.say("/add Derivative of x²? :: 2x")
        saved = ada.private.wait_message_blocking(lambda m: "Saved" in m.text)
        assert "09:00" in saved.text
        assert saved.labels == ["Change time", "No reminders", "Edit"]

        day = datetime.now(BERLIN) + timedelta(days=1)
        if day.hour < 4:
            day -= timedelta(days=1)
        early = day.replace(hour=8, minute=30)
        due = day.replace(hour=9, minute=5)
        assert "0 reminders" in installation.say("nudge", "--as-of", early.isoformat())
        assert "1 reminder" in installation.say("nudge", "--as-of", due.isoformat())
        nudge = ada.private.wait_message_blocking(lambda m: "Derivative of x²?" in m.text)
        assert "0 reminders" in installation.say("nudge", "--as-of", due.isoformat())
        later = due.astimezone(UTC) + timedelta(hours=3)
        assert "0 reminders" in installation.say("nudge", "--as-of", later.isoformat())

        press = ada.private.press(nudge, "Show answer")
        press.wait_answered_blocking()
        shown = ada.private.wait_message_blocking(lambda m: "2x" in m.text and m.from_bot)
        assert shown.message_id == nudge.message_id
        ada.private.press(shown, shown.labels[2])
        ada.private.wait_message_blocking(lambda m: "Done for today" in m.text)
    nudges = [m for m in ada.private.messages if "Derivative of x²?" in m.text and m.from_bot]
    assert len(nudges) == 1
