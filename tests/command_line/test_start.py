"""What a start loads: a command pays for nothing it does not need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process import PATIENCE, ROOT, Installation
from tests.servers.openai import OpenAIServer, Reply

PLATFORMS = {"aiogram", "discord", "lark_oapi"}
HEAVY = {"alembic", "aiohttp", "apscheduler", "openai", "xllamacpp", "babel"}


def loaded(installation: Installation, *arguments: str, stdin: str = "") -> set[str]:
    """Return the top-level packages a command imported until its end."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bots.cli", *arguments],
        cwd=installation.folder,
        env=installation.environment,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    names = re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+([\w.]+)$", done.stderr, re.MULTILINE)
    assert "bots.cli" in names or "bots" in names
    return {name.partition(".")[0] for name in names}


def test_help_loads_no_platform_no_model_and_no_database(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    packages = loaded(installation, "chat", "--help")
    assert (
        packages & (PLATFORMS | HEAVY | {"sqlalchemy", "sqlmodel", "pydantic_settings", "yaml"})
        == set()
    )
    assert not installation.data.exists()


def test_a_chat_loads_only_what_answers_it(tmp_path: Path, openai: OpenAIServer) -> None:
    local = Installation(tmp_path)
    first = loaded(local, "chat", stdin="/status")
    assert "alembic" in first  # the tables were made
    again = loaded(local, "chat", stdin="/start")
    assert again & (PLATFORMS | HEAVY) == set()

    openai.default = Reply("Yes.")
    remote = Installation(tmp_path, openai=openai)
    asked = loaded(remote, "chat", stdin="why?")
    assert "openai" in asked
    assert asked & (PLATFORMS | {"alembic", "xllamacpp"}) == set()


# --- the script that sets everything up ---------------------------------------------------------


@pytest.mark.parametrize(("argument", "status"), [("help", 0), ("--help", 0), ("dance", 2)])
def test_the_setup_script_explains_itself(argument: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "dev.py", argument],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == status
    for command in ("setup", "run", "test"):
        assert re.search(rf"^  {command} ", done.stderr, re.MULTILINE)
