"""The variables of the door."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.telegram.settings import API_BASE, TelegramSettings
from core.settings import SettingsError


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TELEGRAM_BOT_TOKEN", "TELEGRAM_API_BASE", "PARTNERS_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PARTNERS_LANGUAGE", "en")


def load(folder: Path, *lines: str) -> TelegramSettings:
    file = folder / ".env"
    file.write_text("\n".join(lines), encoding="utf-8")
    return TelegramSettings.load(file)


def test_without_a_token_the_door_stays_closed(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert (settings.bot_token, settings.api_base) == (None, API_BASE)


def test_token_and_address_are_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "TELEGRAM_BOT_TOKEN=110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw-_",
        "TELEGRAM_API_BASE=http://127.0.0.1:8081/",
    )
    assert settings.bot_token is not None
    assert settings.bot_token.get_secret_value().endswith("PALDsaw-_")
    assert settings.api_base == "http://127.0.0.1:8081"
    assert "PALDsaw" not in repr(settings)


@pytest.mark.parametrize("token", ["AAHdqTcv", "bot42:AA", "42:", ":AA", "42:AA BB", "42:Ä"])
def test_a_token_of_another_form_is_told_without_showing_it(tmp_path: Path, token: str) -> None:
    with pytest.raises(SettingsError) as told:
        load(tmp_path, f'TELEGRAM_BOT_TOKEN="{token}"')
    (sentence,) = told.value.problems
    assert sentence.startswith("TELEGRAM_BOT_TOKEN")
    assert "@BotFather" in sentence
    assert token not in sentence


@pytest.mark.parametrize("base", ["telegram.org", "ftp://x", "http://{host}"])
def test_an_address_of_no_use_is_told(tmp_path: Path, base: str) -> None:
    with pytest.raises(SettingsError, match="TELEGRAM_API_BASE"):
        load(tmp_path, f"TELEGRAM_API_BASE={base}")
