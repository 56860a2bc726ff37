"""The variables of the door, and whether it is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.discord import door
from bots.discord.settings import API_BASE, GATEWAY_URL, DiscordSettings
from core.i18n import words_for
from core.settings import SettingsError

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_BOT_TOKEN", "DISCORD_API_BASE", "DISCORD_GATEWAY_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PARTNERS_LANGUAGE", "en")


def load(folder: Path, *lines: str) -> DiscordSettings:
    file = folder / ".env"
    file.write_text("\n".join(lines), encoding="utf-8")
    return DiscordSettings.load(file)


def test_without_a_token_the_door_stays_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(tmp_path)
    assert (settings.bot_token, settings.api_base) == (None, API_BASE)
    assert settings.gateway_url == GATEWAY_URL
    monkeypatch.chdir(tmp_path)
    assert door.identity(DiscordSettings.load(), words_for("en")) is None
    monkeypatch.setenv("DISCORD_BOT_TOKEN", TOKEN)
    opened = door.channel(DiscordSettings.load(), words_for("en"), {})
    assert opened is not None and opened.name == "discord"


def test_token_and_addresses_are_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        f"DISCORD_BOT_TOKEN={TOKEN}",
        "DISCORD_API_BASE=http://127.0.0.1:8082/api/v10/",
        "DISCORD_GATEWAY_URL=ws://127.0.0.1:8082/gateway",
    )
    assert settings.bot_token is not None
    assert settings.bot_token.get_secret_value() == TOKEN
    assert settings.api_base == "http://127.0.0.1:8082/api/v10"
    assert settings.gateway_url == "ws://127.0.0.1:8082/gateway"
    assert "ZnCjm1" not in repr(settings)


@pytest.mark.parametrize(
    "token", ["short", "Bot abc.def.ghi", "a b c", "token/with/slashes", "ÄÖÜ.x.y"]
)
def test_a_token_of_another_form_is_told_without_showing_it(tmp_path: Path, token: str) -> None:
    with pytest.raises(SettingsError) as told:
        load(tmp_path, f'DISCORD_BOT_TOKEN="{token}"')
    (sentence,) = told.value.problems
    assert sentence.startswith("DISCORD_BOT_TOKEN")
    assert "Reset Token" in sentence
    assert token not in sentence


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DISCORD_API_BASE", "discord.com"),
        ("DISCORD_API_BASE", "http://{host}"),
        ("DISCORD_GATEWAY_URL", "https://gateway.discord.gg"),
        ("DISCORD_GATEWAY_URL", "ws://:80"),
        ("DISCORD_GATEWAY_URL", "ws://host:0"),
    ],
)
def test_an_address_of_no_use_is_told(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(tmp_path, f"{name}={value}")
