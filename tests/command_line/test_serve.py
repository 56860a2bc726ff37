"""``partners serve``: what it needs to start, what it survives, what it logs."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.process import PATIENCE, Installation, Serving
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

PRIVATE = "the words of a learner"


@contextmanager
def serving(installation: Installation) -> Iterator[Serving]:
    process = installation.serve()
    try:
        yield process
    finally:
        process.kill()


def wait_log(process: Serving, text: str) -> None:
    """Wait until a line of the log has this in it."""
    deadline = time.monotonic() + PATIENCE
    while text not in process.log:
        assert time.monotonic() < deadline, f"{text!r} is not in the log:\n{process.log}"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def health(port: int) -> tuple[int, dict[str, str]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status, json.load(answer)["channels"]
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["channels"]


def test_without_a_channel_it_says_how_to_set_one_up(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "TELEGRAM_BOT_TOKEN" in done.stderr
    assert "partners chat" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_token_at_all_ends_it_with_the_way_out(tmp_path: Path) -> None:
    token = "a-secret-that-is-no-token"
    done = Installation(tmp_path, TELEGRAM_BOT_TOKEN=token).run("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "TELEGRAM_BOT_TOKEN" in done.stderr
    assert "@BotFather" in done.stderr
    assert token not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_network_that_comes_up_later_needs_nobody_and_a_rival_is_refused(
    telegram: TelegramServer, openai: OpenAIServer, tmp_path: Path
) -> None:
    openai.default = Reply("Here I am.")
    port = free_port()
    installation = Installation(
        tmp_path, telegram, openai, PARTNERS_ACCESS="open", PARTNERS_HEALTH_PORT=str(port)
    )
    broken = telegram.drop("getMe", times=None)
    with serving(installation) as process:
        wait_log(process, "Trying again until it answers.")
        status, channels = health(port)
        assert status == 503
        assert "cannot be reached" in channels["telegram"]
        broken.cancel()
        telegram.wait_polling_blocking(PATIENCE)
        wait_log(process, "telegram ready")
        assert health(port) == (200, {"telegram": "ok"})
        ada = telegram.user(7, "Ada")
        ada.say("hello")
        ada.private.wait_message_blocking(lambda m: m.text == "Here I am.")

        second = installation.run("serve")
        assert (second.returncode, second.stdout) == (1, "")
        assert "Another `partners serve` uses the data folder" in second.stderr
        assert "PARTNERS_DATA" in second.stderr
        elsewhere = Installation(
            tmp_path, telegram, openai, PARTNERS_HEALTH_PORT=str(port), PARTNERS_DATA="other"
        ).run("serve")
        assert (elsewhere.returncode, elsewhere.stdout) == (1, "")
        assert f"Port {port} is taken by another program." in elsewhere.stderr
        assert "Traceback" not in elsewhere.stderr
        assert health(port) == (200, {"telegram": "ok"})
        assert sys.platform == "win32" or process.terminate() == 0
    assert process.log.count("Trying again until it answers.") == 1
    assert telegram.token not in process.log


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
def test_it_can_be_stopped_while_it_waits_for_a_network(
    telegram: TelegramServer, tmp_path: Path
) -> None:
    gate = telegram.hold("getMe")
    with serving(Installation(tmp_path, telegram, PARTNERS_MODEL="local")) as process:
        gate.wait_reached_blocking(PATIENCE)
        assert process.terminate() == 0
    gate.drop()
    assert "Traceback" not in process.log


def test_the_log_is_json_that_names_turn_and_learner_and_hides_words_and_secrets(
    telegram: TelegramServer, openai: OpenAIServer, tmp_path: Path
) -> None:
    openai.default = Reply(f"What is {PRIVATE}?")
    installation = Installation(tmp_path, telegram, openai, PARTNERS_ACCESS="open")
    telegram.drop("sendChatAction", times=None)
    telegram.drop("getUpdates", times=1)
    ada = telegram.user(7, "Ada")
    with installation.serving(telegram) as process:
        ada.say(f"tell me about {PRIVATE}")
        ada.private.wait_message_blocking(lambda m: m.from_bot and PRIVATE in m.text)
        ada.say(f"/add {PRIVATE} :: {PRIVATE}")
        ada.private.wait_message_blocking(lambda m: "Saved" in m.text)
        openai.default = Reply.failing(401, f"no key sk-test-0123456789abcdef: {PRIVATE[:3]}")
        ada.say("again")
        ada.private.wait_message_blocking(lambda m: "the fault is not yours" in m.text)
        # With the platform gone, the library's errors carry addresses with the token in them.
        telegram.drop("*", times=None)
        wait_log(process, "Telegram cannot be reached; trying again.")
        if sys.platform != "win32":
            assert process.terminate() == 0
    lines = [json.loads(line) for line in process.log.splitlines()]
    assert {"at", "level", "logger", "message"} <= set.intersection(*map(set, lines))
    ended = [line for line in lines if line["message"].startswith("turn ended")]
    assert [line["message"] for line in ended] == [
        "turn ended: answered",
        "turn ended: command",
        "turn ended: provider_error",
    ]
    assert all(re.fullmatch("[0-9A-Z]{26}", line["turn"]) for line in ended)
    assert len({line["turn"] for line in ended}) == 3
    assert len({line["learner"] for line in ended}) == 1
    assert PRIVATE not in process.log
    for secret in (telegram.token, telegram.token.partition(":")[2], "sk-test-0123456789abcdef"):
        assert secret not in process.log
