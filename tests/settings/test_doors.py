"""Which accounts are set up, by plain variables and by tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bots.doors import configured, full_account
from core.environment import SettingsError
from core.i18n import words_for
from core.tuning import load_tuning

WORDS = words_for("en")
VARIABLES = ("TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN", "FEISHU_APP_ID", "FEISHU_APP_SECRET")


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARTNERS_LANGUAGE", "en")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def doors(text: str = "") -> Sequence[tuple[str, str]]:
    """Channel and partner of each account; ``text`` is ``partners.toml``."""
    Path("partners.toml").write_text(text, encoding="utf-8")
    tuning = load_tuning()
    assert tuning.warnings == ()
    return [
        (door.channel, door.table.name if door.table else "") for door in configured(tuning, WORDS)
    ]


def env(**variables: str) -> None:
    lines = (f"{name}={value}" for name, value in variables.items())
    Path(".env").write_text("\n".join(lines), encoding="utf-8")


TWO = """
[[partner]]
name = "Maths"
telegram = "MATHS_TELEGRAM"
feishu = { app_id = "MATHS_APP", app_secret = "MATHS_SECRET" }
[[partner]]
name = "Reading"
telegram = { token = "READING_TELEGRAM" }
discord = "READING_DISCORD"
"""


def test_tables_and_plain_variables_stand_side_by_side() -> None:
    env(
        TELEGRAM_BOT_TOKEN="1:a",
        MATHS_TELEGRAM="2:b",
        MATHS_APP="cli_1",
        MATHS_SECRET="s",
        READING_TELEGRAM="3:c",
        READING_DISCORD="a.b.c",
    )
    assert doors(TWO) == [
        ("telegram", ""),
        ("telegram", "Maths"),
        ("feishu", "Maths"),
        ("telegram", "Reading"),
        ("discord", "Reading"),
    ]
    assert doors() == [("telegram", "")]


def test_a_variable_that_is_missing_leaves_only_its_account_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    env(MATHS_TELEGRAM="2:b", MATHS_APP="cli_1", READING_DISCORD="a.b.c")
    assert doors(TWO) == [("telegram", "Maths"), ("discord", "Reading")]
    assert "feishu of partner “Maths” stays off" in caplog.text
    assert "MATHS_SECRET" in caplog.text
    assert "telegram of partner “Reading” stays off: READING_TELEGRAM is not set." in caplog.text


def test_a_variable_of_no_use_leaves_only_its_account_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    env(MATHS_TELEGRAM="nosecret", READING_TELEGRAM="3:c")
    assert doors(TWO) == [("telegram", "Reading")]
    assert "MATHS_TELEGRAM cannot be used" in caplog.text
    assert "nosecret" not in caplog.text


@pytest.mark.parametrize("other", ["1:a", "1:renewed"])
def test_one_account_in_two_tables_is_refused(other: str) -> None:
    env(MATHS_TELEGRAM="1:a", READING_TELEGRAM=other)
    with pytest.raises(SettingsError) as refused:
        doors(TWO)
    said = str(refused.value)
    assert "Maths" in said and "Reading" in said and "telegram" in said
    assert "1:" not in said


def test_a_plain_account_that_a_table_names_is_the_tables() -> None:
    env(TELEGRAM_BOT_TOKEN="2:b", MATHS_TELEGRAM="2:b")
    assert doors(TWO) == [("telegram", "Maths")]


def test_a_table_with_a_channel_nobody_knows_or_half_an_account_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    env(A="1:a")
    assert (
        doors('[[partner]]\nname = "A"\ntelegramm = "A"\nfeishu = "A"\ndiscord = {tok = "A"}') == []
    )
    assert "nobody knows telegramm" in caplog.text
    assert "app_id, app_secret" in caplog.text
    assert "Name a variable for each of these, and no more: token" in caplog.text
    assert "“A” has no account to answer on" in caplog.text


def test_a_short_account_gets_the_app_of_the_only_one_there_is() -> None:
    env(MATHS_APP="cli_1", MATHS_SECRET="s")
    Path("partners.toml").write_text(TWO, encoding="utf-8")
    assert full_account("feishu:ou_1", load_tuning()) == "feishu:cli_1/ou_1"
    env(MATHS_APP="cli_1", MATHS_SECRET="s", FEISHU_APP_ID="cli_2", FEISHU_APP_SECRET="s")
    assert full_account("feishu:ou_1", load_tuning()) == "feishu:ou_1"
    assert full_account("telegram:1", load_tuning()) == "telegram:1"
