"""The main job with Discord as the only channel, in a real process."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.process import PATIENCE, Installation
from tests.servers.discord import Chat, DiscordServer
from tests.servers.faults import Stage
from tests.servers.openai import OpenAIServer, Reply

BERLIN = ZoneInfo("Europe/Berlin")


def installed(
    folder: Path, discord: DiscordServer, openai: OpenAIServer, **more: str
) -> Installation:
    """An installation whose only channel is Discord."""
    return Installation(
        folder,
        None,
        openai,
        DISCORD_BOT_TOKEN=discord.token,
        DISCORD_API_BASE=discord.api_url,
        DISCORD_GATEWAY_URL=discord.gateway_url,
        **more,
    )


def test_a_stranger_is_let_in_taught_in_a_thread_and_reminded_once(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    with DiscordServer(rates=None) as discord:
        installation = installed(tmp_path, discord, openai)
        ada = discord.user(7, "Ada")
        room = discord.guild("Study group", ada).channel("general")
        openai.default = Reply("**Try it** with `x = 2` first.", chunks=4)
        process = installation.serve()
        try:
            discord.wait_ready_blocking(PATIENCE)
            journey(installation, discord, openai)
            assert process.terminate() == 0
        finally:
            process.kill()
        assert room.threads[0].from_bot
        assert "Traceback" not in process.log
        assert discord.token not in process.log


def journey(installation: Installation, discord: DiscordServer, openai: OpenAIServer) -> None:
    """From a first hello to the reminder of the next day."""
    ada = discord.state.people[7]
    (guild,) = discord.state.guilds.values()
    room = guild.channels[0]
    chat = ada.private

    ada.say("hello")
    code = chat.wait_message_blocking().text
    found = re.search(r"\b[0-9A-Z]{4}-[0-9A-Z]{2}\b", code)
    assert found, code
    assert openai.chats == []
    assert chat.actions == []
    installation.say("access", "approve", found[0])
    chat.wait_message_blocking(lambda m: "You're in" in m.text)

    asked = ada.say("why is a derivative zero at a maximum?")
    answer = chat.wait_message_blocking(lambda m: "Try it" in m.text)
    assert answer.text == "**Try it** with `x = 2` first."
    assert answer.reply_to == asked.message_id

    thread = room.thread("Calculus", by=ada)
    thread.say(ada, f"{discord.mention} and at a minimum?")
    assert "Try it" in thread.wait_message_blocking().text

    press = chat.slash(ada, "add", {"text": "Derivative of x²? :: 2x"})
    saved = press.wait_reply_blocking()
    assert "Saved" in saved.text and "09:00" in saved.text
    assert saved.labels == ["Change time", "No reminders", "Edit"]

    day = datetime.now(BERLIN) + timedelta(days=1)
    if day.hour < 4:
        day -= timedelta(days=1)
    due = day.replace(hour=9, minute=5)
    assert "0 reminders" in installation.say(
        "nudge", "--as-of", day.replace(hour=8, minute=30).isoformat()
    )
    assert "1 reminder" in installation.say("nudge", "--as-of", due.isoformat())
    nudge = chat.wait_message_blocking(lambda m: "Derivative of x²?" in m.text, after=saved)
    later = due.astimezone(UTC) + timedelta(hours=3)
    assert "0 reminders" in installation.say("nudge", "--as-of", later.isoformat())

    later_ones = [m for m in chat.from_bot if m.message_id > saved.message_id]
    assert [m.message_id for m in later_ones] == [nudge.message_id]

    chat.press(nudge, "Show answer").wait_answered_blocking()
    shown = chat.wait_message_blocking(lambda m: "2x" in m.text, after=saved)
    assert shown.message_id == nudge.message_id
    chat.press(shown, shown.labels[2])
    chat.wait_message_blocking(lambda m: "Done for today" in m.text)
    assert room.from_bot == []


@pytest.mark.parametrize("stage", list(Stage))
def test_a_process_killed_while_it_answers_answers_once_after_all(
    tmp_path: Path, openai: OpenAIServer, stage: Stage
) -> None:
    openai.default = Reply("Go on.")
    with DiscordServer(rates=None) as discord:
        installation = installed(tmp_path, discord, openai, PARTNERS_ACCESS="open")
        ada = discord.user(7, "Ada")
        discord.guild("Study group", ada)
        process = installation.serve()
        try:
            discord.wait_ready_blocking(PATIENCE)
            command = discord.hold("editAnswer", stage=stage)
            message = discord.hold("createMessage", stage=stage)
            ada.private.slash(ada, "due")
            ada.say("why?")
            # A chat is answered in order: the message waits behind the command.
            command.wait_reached_blocking(PATIENCE)
            process.kill()
            command.drop()
            process = installation.serve()
            message.wait_reached_blocking(PATIENCE)
            process.kill()
            message.drop()
            sent = len(discord.requests_of("createMessage"))
            process = installation.serve()
            discord.wait_request_blocking("createMessage", count=sent + 1, within=PATIENCE)
            ada.private.wait_message_blocking(lambda m: "Go on." in m.text, within=PATIENCE)
            assert process.terminate() == 0
        finally:
            process.kill()
        texts = [m.text for m in ada.private.from_bot]
        assert len(texts) == 2, texts
        assert texts[-1] == "Go on."


def test_questions_get_threads_and_what_came_during_a_kill_is_answered(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    openai.default = Reply("Go on.")
    toml = "[channels.discord]\nthread_per_question = true\n"
    (tmp_path / "partners.toml").write_text(toml, encoding="utf-8")
    with DiscordServer(rates=None) as discord:
        installation = installed(tmp_path, discord, openai, PARTNERS_ACCESS="open")
        ada = discord.user(7, "Ada")
        room = discord.guild("Study group", ada).channel("general")
        process = installation.serve()
        try:
            discord.wait_ready_blocking(PATIENCE)
            ada.say("hello")
            ada.private.wait_message_blocking(within=PATIENCE)
            room.say(ada, f"{discord.mention} why is 0! = 1?")
            discord.wait_for_blocking(lambda: room.threads, PATIENCE)
            [first] = room.threads
            assert first.name == "why is 0! = 1?"
            first.wait_message_blocking(lambda m: m.text == "Go on.", within=PATIENCE)
            # Answered in order: what came before it is settled, not only shown.
            first.slash(ada, "persona", {"text": "euler"}).wait_reply_blocking(PATIENCE)
            process.kill()
            missed = ada.say("are you there?")
            first.say(ada, "and 1!?")
            room.say(ada, f"{discord.mention} and what is e?")
            process = installation.serve()
            ada.private.wait_message_blocking(lambda m: m.reply_to == missed.message_id)
            discord.wait_for_blocking(lambda: len(room.threads) == 2, PATIENCE)
            second = room.threads[1]
            second.wait_message_blocking(lambda m: m.text == "Go on.", within=PATIENCE)
            discord.wait_for_blocking(lambda: len(said(first)) == 3, PATIENCE)
            assert process.terminate() == 0
        finally:
            process.kill()
        assert second.name == "and what is e?"
        assert [len(said(place)) for place in (ada.private, first, second, room)] == [2, 3, 1, 0]


def said(chat: Chat) -> list[str]:
    """What a chat shows of the tutor, without what the platform itself tells in its name."""
    return [message.text for message in chat.from_bot if message.text]
