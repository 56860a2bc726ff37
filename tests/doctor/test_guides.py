"""The guides to the platforms ask for what the doctor looks for, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bots.discord.check import FOR_THREADS
from bots.discord.check import NEEDED as PERMISSIONS
from bots.feishu.check import NEEDED as SCOPES
from bots.feishu.check import WELCOME
from bots.feishu.receive import EDITED, MESSAGE, PRESS

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["README.md", "README.zh.md"])
def named(request: pytest.FixtureRequest) -> frozenset[str]:
    """What a guide names letter for letter."""
    text = (ROOT / request.param).read_text(encoding="utf-8")
    return frozenset(re.findall(r"`([^`\n]+)`", text))


def test_each_permission_on_discord_is_asked_for(named: frozenset[str]) -> None:
    assert {*PERMISSIONS.values(), *FOR_THREADS.values()} <= named
    assert {"bot", "applications.commands", "MESSAGE CONTENT INTENT"} <= named


def test_each_permission_and_subscription_on_feishu_is_asked_for(named: frozenset[str]) -> None:
    assert {*SCOPES, *WELCOME, MESSAGE, PRESS, EDITED} <= named


def test_the_settings_of_telegram_are_named(named: frozenset[str]) -> None:
    assert {"/newbot", "/setprivacy", "Disable"} <= named
