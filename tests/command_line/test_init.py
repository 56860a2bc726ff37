"""``partners init``: the questions, what is tried, and what stands in ``.env`` afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.command_line.setup import set_up
from core.i18n import words_for
from core.settings import Settings
from tests.command_line.inside import runner
from tests.process import Installation
from tests.servers.feishu import FeishuServer
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

KEY = "sk-test-0123456789abcdef"


class Scripted:
    """Answers by parts of the questions; each answer is used once, in order."""

    def __init__(self, *answers: tuple[str, str | bool]) -> None:
        self.answers = list(answers)
        self.hidden: list[str] = []
        self.told: list[str] = []

    def line(self, question: str, default: str = "") -> str:
        return str(self._answer(question, default)) or default

    def secret(self, question: str) -> str:
        self.hidden.append(question)
        return str(self._answer(question, ""))

    def yes(self, question: str, *, default: bool) -> bool:
        return bool(self._answer(question, default))

    def say(self, *lines: str) -> None:
        self.told += lines

    def _answer(self, question: str, default: str | bool) -> str | bool:
        self.told.append(question)
        if self.answers and self.answers[0][0] in question:
            return self.answers.pop(0)[1]
        return default


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    runner(Installation(tmp_path), monkeypatch)  # the environment of an installation
    monkeypatch.delenv("PARTNERS_LANGUAGE")
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    return tmp_path


@pytest.fixture
def here(telegram: TelegramServer, monkeypatch: pytest.MonkeyPatch) -> TelegramServer:
    monkeypatch.setenv("TELEGRAM_API_BASE", telegram.url)
    return telegram


def run(*answers: tuple[str, str | bool]) -> Scripted:
    """Answer the questions; all else gets its default. Every answer has to be used."""
    person = Scripted(*answers)
    set_up(Path(".env"), person, words_for("en"))
    assert person.answers == [], person.told
    return person


def env(folder: Path) -> str:
    return (folder / ".env").read_text(encoding="utf-8")


def model(openai: OpenAIServer, key: str = KEY) -> list[tuple[str, str | bool]]:
    return [("Number", "1"), ("Address", openai.base_url), ("Key", key), ("Name of", "m")]


def test_everything_is_asked_tried_and_written(
    folder: Path, here: TelegramServer, openai: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai.default = Reply("ready")
    person = run(
        ("Language", "zh"),
        ("编号", "1"),
        ("地址", openai.base_url),
        ("密钥", KEY),
        ("名称", "m"),
        ("Telegram", True),
        ("TELEGRAM_BOT_TOKEN", here.token),
        ("你的账号", "telegram:7"),
        ("时区", "asia/shanghai"),
    )
    assert env(folder) == (
        f"PARTNERS_LANGUAGE=zh\nOPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={openai.base_url}\n"
        f"PARTNERS_MODEL=m\nTELEGRAM_BOT_TOKEN={here.token}\nPARTNERS_OWNERS=telegram:7\n"
        "PARTNERS_TIMEZONE=Asia/Shanghai\n"
    )
    assert len(openai.chats) == 1 and len(here.requests_of("getMe")) == 1
    assert person.hidden == ["密钥", "TELEGRAM_BOT_TOKEN"]
    shown = "\n".join(person.told) + capsys.readouterr().out
    assert KEY not in shown and here.token not in shown
    assert "@tutor_bot 有回应" in shown
    assert Settings.load().owners == ("telegram:7",)


def test_what_fails_is_entered_again_kept_or_dropped(
    folder: Path, here: TelegramServer, openai: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai.script(Reply.failing(401, "no", code="invalid_api_key"), Reply("ready"))
    run(
        *model(openai, "wrong-key"),
        ("again", True),
        *model(openai),
        ("Telegram", True),
        ("TELEGRAM_BOT_TOKEN", "not a token"),
        ("again", True),
        ("TELEGRAM_BOT_TOKEN", "42:WRONG"),
        ("again", False),
        ("all the same", True),
        ("Discord", True),
        ("DISCORD_BOT_TOKEN", "no token"),
        ("again", False),
    )
    shown = capsys.readouterr().out
    assert "does not accept the key" in shown
    assert "TELEGRAM_BOT_TOKEN cannot be used" in shown
    written = env(folder)
    assert f"OPENAI_API_KEY={KEY}\n" in written
    assert "TELEGRAM_BOT_TOKEN=42:WRONG\n" in written
    assert "DISCORD" not in written


def test_what_is_there_stays_unless_they_say_so(
    folder: Path, here: TelegramServer, openai: OpenAIServer
) -> None:
    before = (
        f"# mine\nOPENAI_API_KEY=old\nOPENAI_BASE_URL=https://old.example/v1\nPARTNERS_MODEL=old\n"
        f"TELEGRAM_BOT_TOKEN={here.token}  # the bot\nMINE=1\nPARTNERS_OWNERS=telegram:7\n"
    )
    (folder / ".env").write_text(before, encoding="utf-8")
    person = run()
    assert env(folder) == before
    assert "Nothing was changed" in person.told[-1]

    run(("Set already: OPENAI_API_KEY", True), ("Number", "4"))
    # A key never stays beside a model that it does not belong to.
    assert env(folder) == (
        "# mine\nOPENAI_API_KEY=\nOPENAI_BASE_URL=\nPARTNERS_MODEL=local\n"
        f"TELEGRAM_BOT_TOKEN={here.token}  # the bot\nMINE=1\nPARTNERS_OWNERS=telegram:7\n"
    )


def test_nothing_is_written_without_a_yes(folder: Path) -> None:
    run(("Language", "zh"), ("编号", "4"), ("写入", False))
    assert not (folder / ".env").exists()


def test_the_values_of_the_environment_are_said_to_win(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNERS_MODEL", "elsewhere")
    person = run(("Number", "4"))
    assert any("another value for PARTNERS_MODEL" in line for line in person.told)


def test_a_feishu_app_is_asked_for_with_its_platform(folder: Path) -> None:
    with FeishuServer(rates=None) as server:
        person = run(
            ("Number", "4"),
            ("Feishu", True),
            ("FEISHU_APP_ID", server.app_id),
            ("FEISHU_APP_SECRET", server.app_secret),
            ("FEISHU_DOMAIN", server.url),
        )
        assert server.requests_of("bot.v3.info")
    assert person.hidden == ["FEISHU_APP_SECRET"]
    assert f"FEISHU_APP_SECRET={server.app_secret}\n" in env(folder)


def test_wrong_owners_and_zones_are_asked_for_again(folder: Path, here: TelegramServer) -> None:
    person = run(
        ("Number", "4"),
        ("Telegram", True),
        ("TELEGRAM_BOT_TOKEN", here.token),
        ("Your accounts", "me"),
        ("Your accounts", "telegram:7"),
        ("Time zone", "Europe/Berln"),
        ("Time zone", "Europe/Paris"),
    )
    assert any("PARTNERS_OWNERS is “me”" in line for line in person.told)
    assert any("Europe/Berlin" in line for line in person.told)
    assert env(folder).endswith("PARTNERS_OWNERS=telegram:7\nPARTNERS_TIMEZONE=Europe/Paris\n")


def test_without_a_keyboard_it_says_what_to_do(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("init", stdin="1\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert ".env.example" in done.stderr and "partners doctor" in done.stderr
    assert list(tmp_path.iterdir()) == []
