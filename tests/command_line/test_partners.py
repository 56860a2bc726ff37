"""Several partners in one ``partners serve``: two accounts of one platform beside each other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.command_line.test_serve import free_port, health, wait_log
from tests.process import PATIENCE, Installation
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

TABLES = """
[[partner]]
name = "Maths"
persona = "euler"
language = "zh"
access = "open"
telegram = { token = "MATHS_TOKEN", api_base = "MATHS_SERVER" }

[[partner]]
name = "Forgotten"
discord = "FORGOTTEN_TOKEN"

[channels.telegram]
limits = false
"""


def test_two_accounts_of_a_platform_answer_side_by_side_as_themselves(
    telegram: TelegramServer, openai: OpenAIServer, tmp_path: Path
) -> None:
    def who(request: RecordedRequest) -> Reply:
        return Reply("Euler here." if "欧拉" in str(request.json["messages"]) else "Not Euler.")

    openai.default = who
    (tmp_path / "partners.toml").write_text(TABLES, encoding="utf-8")
    port = free_port()
    with TelegramServer(rates=None, token="43:SECOND", username="maths_bot") as second:
        installation = Installation(
            tmp_path,
            telegram,
            openai,
            PARTNERS_HEALTH_PORT=str(port),
            MATHS_TOKEN=second.token,
            MATHS_SERVER=second.url,
        )
        with installation.serving(telegram) as process:
            second.wait_polling_blocking(PATIENCE)
            wait_log(process, "telegram (Maths) ready")
            wait_log(process, "telegram ready")
            assert health(port) == (200, {"telegram": "ok", "telegram (Maths)": "ok"})
            assert "discord of partner “Forgotten” stays off: FORGOTTEN_TOKEN" in process.log
            there, here = second.user(7, "Ada"), telegram.user(7, "Ada")
            there.say("why?")
            there.private.wait_message_blocking(lambda m: m.text == "Euler here.")
            here.say("why?")
            here.private.wait_message_blocking(lambda m: "give them this code" in m.text.lower())
            if sys.platform != "win32":
                assert process.terminate() == 0
    lines = [json.loads(line) for line in process.log.splitlines()]
    ended = [line for line in lines if line["message"].startswith("turn ended")]
    assert {line.get("door") for line in ended} == {"telegram (Maths)"}
    assert second.token not in process.log


def test_a_token_in_the_file_ends_it_and_is_not_shown(tmp_path: Path) -> None:
    text = '[[partner]]\nname = "Maths"\ntelegram = "123456:AAE-very-secret"\n'
    (tmp_path / "partners.toml").write_text(text, encoding="utf-8")
    done = Installation(tmp_path).run("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "MATHS_TELEGRAM_TOKEN" in done.stderr and ".env" in done.stderr
    assert "very-secret" not in done.stderr
    assert "Traceback" not in done.stderr
