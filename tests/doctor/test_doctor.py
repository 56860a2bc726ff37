"""``partners doctor`` as a person runs it: the whole report, its end, its status."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command_line.inside import Run, runner
from tests.process import Installation
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer


@pytest.fixture
def run(installation: Installation, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    openai.default = Reply("ready")
    return runner(installation, monkeypatch)


def env(folder: Path, text: str) -> None:
    path = folder / ".env"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def test_a_house_in_order_is_said_to_be_well(run: Run, installation: Installation) -> None:
    env(installation.folder, "PARTNERS_ACCESS=pairing\n")
    done = run("doctor")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith("\nAll is well.\n")
    for line in (
        ".env is in order",
        "The database opens",
        "scripted answers",
        "@tutor_bot answers",
    ):
        assert f"[ok] {line}" in done.out


def test_the_report_is_in_the_language_of_the_env_file(
    installation: Installation, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai.default = Reply("ready")
    del installation.settings["PARTNERS_LANGUAGE"]
    env(installation.folder, "PARTNERS_LANGUAGE=zh\nTELEGRAM_BOT_TOKEN=x\n")
    del installation.settings["TELEGRAM_BOT_TOKEN"]
    done = runner(installation, monkeypatch)("doctor")
    assert done.status == 1
    assert "[正常]" in done.out and "[错误]" in done.out
    words = done.out.replace("Telegram", "").replace("BotFather", "")
    assert " the " not in words and " is " not in words


def test_a_fault_ends_with_status_1_and_hides_what_else_is_asked_for_nobody(
    run: Run, installation: Installation, telegram: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "42:WRONG-very-secret")
    monkeypatch.setenv("DISCORD_BOT_TOKEN", "no token at all")
    done = run("doctor")
    assert done.status == 1
    assert "[fault] Telegram does not know the token" in done.out
    assert "[fault] DISCORD_BOT_TOKEN cannot be used" in done.out
    assert "Found: 2 faults, 0 warnings." in done.out
    assert "very-secret" not in done.out and "no token at all" not in done.out


def test_odd_settings_are_warnings_with_what_was_perhaps_meant(
    run: Run, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    env(installation.folder, "TELEGRAM_TOKEN=1:a\nPARTNERS_MODEL=other\nUNRELATED=1\n")
    (installation.folder / "partners.toml").write_text(
        "[capabilities.chat]\nmax_round = 3\n[channels.telegran]\nper_chat = 1\n"
        '[[partner]]\nname = "Maths"\npersona = "newton"\ntelegram = "MATHS_TOKEN"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("PARTNERS_OWNERS", "telegrm:1")
    monkeypatch.setenv("PARTNERS_ACCESS", "open")
    done = run("doctor")
    assert done.status == 0
    for part in (
        "nobody reads TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN?",
        "another value for PARTNERS_MODEL",
        "capabilities.chat.max_round", "channels.telegran",
        "telegrm:1; there is no such channel",
        "PARTNERS_ACCESS=open",
        "there is no persona newton",
        "telegram of partner “Maths” stays off: MATHS_TOKEN is not set",
    ):  # fmt: skip
        assert part in done.out
    assert "UNRELATED" not in done.out


@pytest.mark.skipif(os.name != "posix", reason="there, who may read a file is kept elsewhere")
def test_an_env_file_that_others_can_read_is_a_warning(
    run: Run, installation: Installation
) -> None:
    env(installation.folder, "PARTNERS_ACCESS=pairing\n")
    (installation.folder / ".env").chmod(0o644)
    assert "chmod 600 .env" in run("doctor").out


def test_settings_that_refuse_to_start_are_all_told_at_once(
    run: Run, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installation.folder / "partners.toml").write_text("[limits\n", encoding="utf-8")
    monkeypatch.setenv("PARTNERS_HEALTH_PORT", "many")
    done = run("doctor")
    assert done.status == 1
    assert "partners.toml, line 1" in done.out
    assert "PARTNERS_HEALTH_PORT is “many”" in done.out
    assert "[ok] @tutor_bot answers" in done.out


def test_a_data_folder_and_a_database_out_of_reach_are_faults(
    run: Run, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNERS_DATABASE_URL", "postgres://u:hunter2@127.0.0.1:1/x")
    done = run("doctor")
    assert done.status == 1
    assert "@127.0.0.1:1/x cannot be opened" in done.out
    assert "hunter2" not in done.out
    (installation.folder / "file").write_bytes(b"")
    monkeypatch.setenv("PARTNERS_DATA", "file/data")
    assert "cannot be written to" in run("doctor").out


def test_a_broken_tutor_and_no_chat_app_are_warnings(
    run: Run, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELEGRAM_BOT_TOKEN")
    own = installation.data / "personas"
    own.mkdir(parents=True)
    (own / "ada.md").write_text("---\nid: ada\nnme: Ada\n---\nTeach.\n", encoding="utf-8")
    done = run("doctor")
    assert done.status == 0
    assert "ada.md:3" in done.out
    assert "No chat app is set up" in done.out


def test_a_fallback_model_is_asked_too(
    run: Run, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNERS_FALLBACK_MODEL", "second")
    done = run("doctor")
    assert "[ok] second answers" in done.out
    assert [request.json["model"] for request in openai.chats] == ["scripted", "second"]
