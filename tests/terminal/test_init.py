"""``partners init`` in a real terminal: what is typed as a secret is never shown."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from tests.process import Installation
from tests.servers.openai import OpenAIServer, Reply
from tests.terminal.pty_process import CTRL_C, Terminal

INIT = (sys.executable, "-m", "bots.cli", "init")
KEY = "sk-test-0123456789abcdef"


def test_a_key_is_tried_and_written_and_never_shown(tmp_path: Path, openai: OpenAIServer) -> None:
    openai.default = Reply("ready")
    with Terminal(Installation(tmp_path), *INIT, columns=120) as window:
        for question, answer in (
            ("Language", ""),
            ("Number", "1"),
            ("Address of the provider", openai.base_url),
            ("Key", KEY),
            ("Name of the model", ""),
            ("bot for Telegram?", "n"),
            ("bot for Discord?", ""),
            ("bot for Feishu / Lark?", ""),
            ("Time zone", ""),
            ("Write it?", "y"),
        ):
            window.wait_text(question)
            window.enter(answer)
        assert window.wait_end() == 0
        assert "test-model answers" in window.text
        assert "OPENAI_API_KEY=(hidden)" in window.text
        assert KEY not in window.raw
    path = tmp_path / ".env"
    assert f"OPENAI_API_KEY={KEY}\n" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_ctrl_c_ends_it_and_writes_nothing(tmp_path: Path) -> None:
    with Terminal(Installation(tmp_path), *INIT) as window:
        window.wait_text("Language")
        window.enter("")
        window.wait_text("Number")
        window.type(CTRL_C)
        assert window.wait_end() == 1
        assert "Nothing was written" in window.text
        assert "Traceback" not in window.text
    assert list(tmp_path.iterdir()) == []
