"""The main job behind Feishu's door alone: a real process, the real library, two servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.process import PATIENCE, Installation, Serving
from tests.servers.faults import Stage
from tests.servers.feishu import FeishuServer
from tests.servers.openai import OpenAIServer, Reply

BERLIN = ZoneInfo("Europe/Berlin")
REPLY = "im.v1.message.reply"


@pytest.fixture
def home(tmp_path: Path, server: FeishuServer, openai: OpenAIServer) -> Installation:
    """An installation with Feishu as its only door, and pairing on."""
    return Installation(
        tmp_path,
        None,
        openai,
        FEISHU_APP_ID=server.app_id,
        FEISHU_APP_SECRET=server.app_secret,
        FEISHU_DOMAIN=server.url,
    )


@contextmanager
def serving(home: Installation, server: FeishuServer) -> Iterator[Serving]:
    """A ``partners serve`` whose long connection is open; ended with SIGKILL if still there."""
    process = home.serve()
    try:
        server.wait_connected_blocking(within=PATIENCE)
        yield process
    finally:
        process.kill()
        server.wait_for_blocking(lambda: not server.connections)


def test_a_stranger_becomes_a_learner_is_taught_and_reminded_once(
    home: Installation, server: FeishuServer, openai: OpenAIServer
) -> None:
    ada = server.user("Ada")
    chat = ada.private
    openai.default = Reply("**Try it** with `x = 2` first.", chunks=4)
    with serving(home, server) as process:
        ada.say("hello")
        code = chat.wait_message_blocking().text
        found = re.search(r"\b[0-9A-Z]{4}-[0-9A-Z]{2}\b", code)
        assert found, code
        assert openai.chats == []
        assert server.requests_of("im.v1.message_reaction.create") == []
        waiting = home.say("access", "list")
        assert f"feishu:{server.app_id}/{ada.open_id}  Ada  waiting" in waiting

        home.say("access", "owner", "feishu:ou_the_owner")
        assert f"feishu:{server.app_id}/ou_the_owner" in home.say("access", "list")
        home.say("access", "approve", found[0])
        chat.wait_message_blocking(lambda m: "You're in" in m.text)

        asked = ada.say("why is a derivative zero at a maximum?")
        answer = chat.wait_message_blocking(lambda m: "Try it" in m.text and not m.streaming)
        assert answer.text == "**Try it** with `x = 2` first.\n↻"
        assert answer.labels == ["↻"]
        assert answer.parent_id == asked.message_id
        assert answer.thread_id is None
        server.wait_for_blocking(lambda: not chat.now(asked).emojis)

        group = server.topic_group("Calculus", ada)
        topic = group.topic(ada, "@Tutor and at a minimum?")
        there = group.wait_message_blocking()
        assert there.thread_id == topic.id

        ada.say("/add Derivative of x²? :: 2x")
        saved = chat.wait_message_blocking(lambda m: "Saved" in m.text)
        assert "09:00" in saved.text
        assert saved.labels == ["Change time", "No reminders", "Edit"]

        day = datetime.now(BERLIN) + timedelta(days=1)
        if day.hour < 4:
            day -= timedelta(days=1)
        due = day.replace(hour=9, minute=5)
        assert "1 reminder" in home.say("nudge", "--as-of", due.isoformat())
        nudge = chat.wait_message_blocking(lambda m: "Derivative of x²?" in m.text)
        assert nudge.parent_id is None
        later = due.astimezone(UTC) + timedelta(hours=3)
        for again in (due, later):
            assert "0 reminders" in home.say("nudge", "--as-of", again.isoformat())

        press = chat.press(nudge, "Show answer").wait_answered_blocking()
        assert press.error is None
        server.wait_for_blocking(lambda: "2x" in chat.now(nudge).text)
        shown = chat.now(nudge)
        assert chat.press(shown, shown.labels[2]).wait_answered_blocking().error is None
        chat.wait_message_blocking(lambda m: "Done for today" in m.text)
        assert process.terminate() == 0
    nudges = [m for m in chat.from_bot if "Derivative of x²?" in m.text]
    assert len(nudges) == 1
    assert all(delivery.accepted for delivery in server.deliveries)
    assert server.app_secret not in process.log
    assert "derivative zero" not in process.log


def test_a_kill_in_a_send_shows_the_answer_exactly_once(
    home: Installation, server: FeishuServer, openai: OpenAIServer
) -> None:
    home.settings["PARTNERS_ACCESS"] = "open"
    ada = server.user("Ada")
    openai.default = Reply("Think of it step by step.", chunks=4)
    gate = server.hold(REPLY, stage=Stage.ANSWER)
    with serving(home, server):
        asked = ada.say("why?")
        gate.wait_reached_blocking()
    gate.drop()
    with serving(home, server):
        first, again = server.wait_request_blocking(REPLY, count=2, within=PATIENCE)
        ada.say("/nonsense")  # waits its turn behind whatever the first question still gets
        ada.private.wait_message_blocking(lambda m: "nonsense" in m.text)
    answers = [m for m in ada.private.from_bot if m.parent_id == asked.message_id]
    assert [m.text for m in answers] == ["Think of it step by step.\n↻"]
    assert first.json == again.json
    assert len(openai.chats) == 1
