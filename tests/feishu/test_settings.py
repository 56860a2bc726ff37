"""The variables of this door."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.feishu.adapter import FeishuChannel
from bots.feishu.door import channel, full_account, identity
from bots.feishu.settings import FeishuSettings
from core.environment import SettingsError
from core.i18n import words_for

WORDS = words_for("en")
APP = "cli_a1b2c3d4e5f6a7b8"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No .env, no variable of this door."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARTNERS_LANGUAGE", "en")
    for name in ("FEISHU_APP_ID", "FEISHU_APP_SECRET", "FEISHU_DOMAIN"):
        monkeypatch.delenv(name, raising=False)


def test_without_an_app_the_door_stays_closed() -> None:
    assert identity(FeishuSettings.load(), WORDS) is None


def test_with_an_app_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEISHU_APP_ID", APP)
    monkeypatch.setenv("FEISHU_APP_SECRET", "secret")
    settings = FeishuSettings.load()
    assert identity(settings, WORDS) == APP
    opened = channel(settings, WORDS, {})
    assert isinstance(opened, FeishuChannel)
    assert (opened.name, opened.account) == ("feishu", APP)


@pytest.mark.parametrize("wished", ["yes", 1, None])
def test_a_wish_to_answer_all_that_is_neither_yes_nor_no_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, wished: object
) -> None:
    monkeypatch.setenv("FEISHU_APP_ID", APP)
    monkeypatch.setenv("FEISHU_APP_SECRET", "secret")
    channel(FeishuSettings.load(), WORDS, {"answer_all": True})
    assert caplog.text == ""
    channel(FeishuSettings.load(), WORDS, {"answer_all": wished})
    assert "answer_all must be true or false" in caplog.text


@pytest.mark.parametrize(("name", "value"), [("FEISHU_APP_ID", APP), ("FEISHU_APP_SECRET", "s")])
def test_half_an_app_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match="FEISHU_APP_ID and FEISHU_APP_SECRET belong"):
        identity(FeishuSettings.load(), WORDS)


@pytest.mark.parametrize(
    ("domain", "origin"),
    [
        (None, "https://open.feishu.cn"),
        ("feishu", "https://open.feishu.cn"),
        ("Lark", "https://open.larksuite.com"),
        ("https://open.example.org/", "https://open.example.org"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_domain_is_a_name_or_an_origin(
    monkeypatch: pytest.MonkeyPatch, domain: str | None, origin: str
) -> None:
    if domain is not None:
        monkeypatch.setenv("FEISHU_DOMAIN", domain)
    assert FeishuSettings.load().domain == origin


@pytest.mark.parametrize(
    "domain",
    [
        "wechat",
        "http://open.feishu.cn",
        "https://x.y/path",
        "https://x.y?q=1",
        "https://x.y:0",
        "https://",
    ],
)
def test_a_domain_that_would_lose_the_secret_or_lead_nowhere_is_refused(
    monkeypatch: pytest.MonkeyPatch, domain: str
) -> None:
    monkeypatch.setenv("FEISHU_DOMAIN", domain)
    with pytest.raises(SettingsError, match="FEISHU_DOMAIN"):
        FeishuSettings.load()


def test_an_id_of_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEISHU_APP_ID", "ou_123")
    with pytest.raises(SettingsError, match="cli_"):
        FeishuSettings.load()


def test_the_short_name_of_an_account_gets_the_one_app_there_is() -> None:
    assert full_account("feishu:ou_1", []) == "feishu:ou_1"
    assert full_account("feishu:ou_1", [APP, APP]) == f"feishu:{APP}/ou_1"
    assert full_account(f"feishu:{APP}/ou_1", [APP]) == f"feishu:{APP}/ou_1"
    assert full_account("telegram:1", [APP]) == "telegram:1"
    assert full_account("feishu:ou_1", [APP, "cli_other"]) == "feishu:ou_1"
