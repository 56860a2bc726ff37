"""``.env`` and the environment: what is accepted, what is said about the rest."""

import os
import subprocess
import sys
from pathlib import Path
from zoneinfo import available_timezones

import pytest
from pydantic import Field, SecretStr

from core.i18n import N_, words_for
from core.logs import redact
from core.settings import (
    EnvSettings,
    Settings,
    SettingsError,
    Token,
    account_id,
    host_zone,
)


def load(text: str = "") -> Settings:
    Path(".env").write_text(text, encoding="utf-8")
    return Settings.load()


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(text)
    return tuple(caught.value.problems)


# --- where values come from ---------------------------------------------------------------------


def test_nothing_set_gives_the_defaults(clean: Path) -> None:
    settings = Settings.load()
    assert settings.data == clean / "data"
    assert settings.database.get_secret_value().endswith("/data/partners.db")
    assert (settings.access, settings.owners, settings.health_port) == ("pairing", (), None)
    assert (settings.timezone, settings.language) == (host_zone(), "en")


def test_the_language_of_the_host_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert Settings.load().language == "zh"
    assert Settings.load().words is words_for("zh")


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTNERS_ACCESS", "open")
    assert load("PARTNERS_ACCESS=allowlist\nPARTNERS_LANGUAGE=zh\n").access == "open"
    assert Settings.load().language == "zh"
    assert Settings.load(None).language == "en"


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("Asia/Tokyo", {"Asia/Tokyo"}),
        ("Etc/UTC", {"UTC"}),
        ("No/Such_Zone", available_timezones()),
        (":?", available_timezones()),
    ],
)
def test_the_zone_of_the_host_is_one_that_exists(setting: str, allowed: set[str]) -> None:
    # In a process of its own: the library reads the host once.
    done = subprocess.run(
        [sys.executable, "-c", "from core.settings import host_zone; print(host_zone())"],
        env={**os.environ, "TZ": setting},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() in allowed


@pytest.mark.parametrize("blank", ["", "  ", "''", '"  "'])
def test_a_blank_value_means_unset(blank: str) -> None:
    settings = load("".join(f"{name}={blank}\n" for name in variables()))
    assert settings == Settings.load(None)


def test_a_blank_environment_variable_leaves_the_file_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PARTNERS_ACCESS", "")
    assert load("PARTNERS_ACCESS=open\n").access == "open"


def test_only_the_whole_name_of_a_variable_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("access", "ACCESS", "partners_access", "data", "language"):
        if os.name != "nt":
            monkeypatch.setenv(name, "open")
    assert load("access=open\nOTHER=1\n").access == "pairing"


def test_spaces_quotes_comments_and_a_byte_order_mark_are_no_trouble() -> None:
    text = "\ufeffPARTNERS_ACCESS = 'open'  # for now\r\nexport PARTNERS_MODEL=\" a b \"\r\n"
    settings = load(text)
    assert (settings.access, settings.model) == ("open", "a b")


def test_a_file_that_is_no_utf8_text_is_named() -> None:
    Path(".env").write_bytes("PARTNERS_MODEL=x".encode("utf-16"))
    with pytest.raises(SettingsError, match=r"^\.env is not a UTF-8 text\. Save it"):
        Settings.load()


@pytest.mark.parametrize("name", ["nothing-here.env", "."])
def test_a_missing_file_is_fine(name: str) -> None:
    assert Settings.load(Path(name)).access == "pairing"


# --- values -------------------------------------------------------------------------------------


def variables() -> list[str]:
    return [str(info.validation_alias) for info in Settings.model_fields.values()]


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("PARTNERS_ACCESS=OPEN", "access", "open"),
        ("PARTNERS_OWNERS=post:1", "owners", ("post:1",)),
        ("PARTNERS_OWNERS=Post:1 ,mail:a/B，post:3,, ", "owners", ("post:1", "mail:a/B", "post:3")),
        ("PARTNERS_TIMEZONE=asia/shanghai", "timezone", "Asia/Shanghai"),
        ("PARTNERS_TIMEZONE=America/New York", "timezone", "America/New_York"),
        ("PARTNERS_TIMEZONE=Etc/UTC", "timezone", "Etc/UTC"),
        ("PARTNERS_TIMEZONE=berlin", "timezone", "Europe/Berlin"),
        ("PARTNERS_LANGUAGE=zh_CN", "language", "zh"),
        ("PARTNERS_LANGUAGE=EN", "language", "en"),
        ("PARTNERS_LANGUAGE=en-GB", "language", "en"),
        ("PARTNERS_HEALTH_PORT=8080", "health_port", 8080),
        ("OPENAI_BASE_URL=http://127.0.0.1:11434/v1/", "openai_base_url", "http://127.0.0.1:11434/v1"),
        ("PARTNERS_MODEL=qwen3:8b", "model", "qwen3:8b"),
    ],
)  # fmt: skip
def test_a_good_value_is_taken(line: str, field: str, value: object) -> None:
    assert getattr(load(line), field) == value


@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("postgres://u:p@h/d", "postgresql://u:p@h/d"),
        ("postgresql://u:p@h/d?ssl=require", "postgresql://u:p@h/d?ssl=require"),
        ("postgresql+asyncpg://h/d", "postgresql://h/d"),
        ("sqlite:///x.db", "sqlite:///x.db"),
        ("sqlite+aiosqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
    ],
)
def test_an_address_of_a_database_gets_its_driver(given: str, opened: str) -> None:
    assert load(f"PARTNERS_DATABASE_URL={given}").database.get_secret_value() == opened


def test_paths_are_absolute_and_know_the_home_folder(clean: Path) -> None:
    settings = load("PARTNERS_DATA=~/tutor\nPARTNERS_LOCAL_MODEL=models/a.gguf")
    assert settings.data == Path.home() / "tutor"
    assert settings.local_model == clean / "models" / "a.gguf"


BAD = [
    ("PARTNERS_ACCESS=oepn", "oepn", "pairing, allowlist or open"),
    ("PARTNERS_OWNERS=12345", "12345", "channel:id"),
    ("PARTNERS_OWNERS=post:1,:2", "post:1,:2", "channel:id"),
    ("PARTNERS_OWNERS=post:a b", "post:a b", "channel:id"),
    ("PARTNERS_TIMEZONE=Asia/Shangai", "Asia/Shangai", "Did you mean one of these: Asia/Shanghai?"),
    ("PARTNERS_TIMEZONE=usa", "usa", "America/Chicago, "),
    ("PARTNERS_TIMEZONE=GMT+25xyz", "GMT+25xyz", "Write a zone such as"),
    ("PARTNERS_TIMEZONE=../../etc/passwd", "../../etc/passwd", "Write a zone such as"),
    ("PARTNERS_LANGUAGE=fr", "fr", "Write en or zh."),
    ("PARTNERS_HEALTH_PORT=http", "http", "from 1 to 65535"),
    ("PARTNERS_HEALTH_PORT=0", "0", "from 1 to 65535"),
    ("PARTNERS_HEALTH_PORT=65536", "65536", "from 1 to 65535"),
    ("OPENAI_BASE_URL=localhost:11434", "localhost:11434", "http://127.0.0.1:11434/v1"),
    ("OPENAI_BASE_URL=http://h:port/v1", "http://h:port/v1", "http://127.0.0.1:11434/v1"),
    ("OPENAI_BASE_URL=ftp://h/v1", "ftp://h/v1", "http://127.0.0.1:11434/v1"),
    ("PARTNERS_DATA=~nobody-of-this-name/x", "~nobody-of-this-name/x", "path of a folder"),
]


@pytest.mark.parametrize(("line", "value", "advice"), BAD)
def test_a_bad_value_is_one_sentence_with_the_variable_and_the_way_out(
    line: str, value: str, advice: str
) -> None:
    (said,) = problems(line)
    assert said.startswith(f"{line.partition('=')[0]} is “{value}”, which cannot be used. ")
    assert advice in said


@pytest.mark.parametrize(
    "line",
    [
        "OPENAI_API_KEY=sk canary",
        "OPENAI_API_KEY=sk-canary…",
        "PARTNERS_DATABASE_URL=mysql://u:canary@h/d",
        "PARTNERS_DATABASE_URL=canary",
        "PARTNERS_DATABASE_URL=postgresql://u:canary@[h/d",
    ],
)
def test_a_bad_secret_is_named_but_not_shown(line: str) -> None:
    (said,) = problems(line)
    assert said.startswith(f"{line.partition('=')[0]} cannot be used. ")
    assert "canary" not in said


def test_all_problems_are_told_at_once() -> None:
    said = problems("PARTNERS_ACCESS=x\nPARTNERS_LANGUAGE=y\nOPENAI_API_KEY=a b\nPARTNERS_MODEL=z")
    assert [sentence.split()[0] for sentence in said] == [
        "OPENAI_API_KEY",
        "PARTNERS_ACCESS",
        "PARTNERS_LANGUAGE",
    ]


def test_problems_are_told_in_the_language_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    (said,) = problems("PARTNERS_ACCESS=x")
    assert "PARTNERS_ACCESS" in said
    assert "cannot" not in said
    monkeypatch.setenv("PARTNERS_LANGUAGE", "en")
    (said,) = problems("PARTNERS_ACCESS=x")
    assert "cannot be used" in said


@pytest.mark.parametrize("text", ["post:1", " POST : 1 ", "post:1:2"])
def test_an_account_is_channel_and_id(text: str) -> None:
    assert account_id(text) in {"post:1", "post:1:2"}


# --- secrets ------------------------------------------------------------------------------------


def test_a_loaded_secret_is_shown_nowhere() -> None:
    settings = load(
        "OPENAI_API_KEY=canary-key-1\nPARTNERS_DATABASE_URL=postgresql://u:canary%2Dpass@h/d\n"
    )
    assert "canary" not in repr(settings) + str(settings) + repr(settings.database)
    said = redact("canary-key-1 and canary%2Dpass and canary-pass")
    assert said == "[removed] and [removed] and [removed]"


# --- a channel's own variables ------------------------------------------------------------------


class PostSettings(EnvSettings):
    token: Token = Field(validation_alias="POST_TOKEN", description=N_("tomorrow"))
    stamps: int = Field(default=1, validation_alias="POST_STAMPS")


def test_a_channel_declares_its_variables_in_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("POST_TOKEN=canary-token-2\nPARTNERS_ACCESS=nonsense\n", "utf-8")
    monkeypatch.setenv("POST_STAMPS", "3")
    settings = PostSettings.load()
    assert (settings.token, settings.stamps) == (SecretStr("canary-token-2"), 3)
    assert redact("canary-token-2") == "[removed]"


def test_a_variable_that_is_needed_and_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POST_STAMPS", "many")
    with pytest.raises(SettingsError) as caught:
        PostSettings.load()
    assert list(caught.value.problems) == [
        "POST_TOKEN is not set. tomorrow",
        "POST_STAMPS is “many”, which cannot be used.",
    ]
    assert str(caught.value) == "\n".join(caught.value.problems)


# --- the data folder ----------------------------------------------------------------------------


def test_the_data_folder_is_made_and_left_clean() -> None:
    folder = load("PARTNERS_DATA=a/b").prepare_data()
    assert list(folder.iterdir()) == []
    assert load("PARTNERS_DATA=a/b").prepare_data() == folder


def test_a_data_folder_that_cannot_be_written_to_is_one_sentence() -> None:
    Path("taken").write_text("a file", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"^The data folder .*taken cannot be written to \(.*"):
        load("PARTNERS_DATA=taken").prepare_data()


# --- models beside the first --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("OPENAI_API_KEY=a", ("a", None)),
        ("OPENAI_API_KEY=a\nOPENAI_BASE_URL=http://a/v1", ("a", "http://a/v1")),
        ("OPENAI_API_KEY=a\nPARTNERS_FALLBACK_KEY=b", ("b", None)),
        ("OPENAI_BASE_URL=http://a/v1\nPARTNERS_FALLBACK_KEY=b", ("b", "http://a/v1")),
        (
            "OPENAI_API_KEY=a\nOPENAI_BASE_URL=http://a/v1\nPARTNERS_FALLBACK_KEY=b\n"
            "PARTNERS_FALLBACK_BASE_URL=http://b/v1",
            ("b", "http://b/v1"),
        ),
        ("OPENAI_API_KEY=a\nPARTNERS_FALLBACK_BASE_URL=http://b/v1", (None, "http://b/v1")),
        ("OPENAI_BASE_URL=http://a/v1", (None, "http://a/v1")),
    ],
)
def test_another_model_is_the_same_providers_but_no_key_goes_to_another_address(
    text: str, access: tuple[str | None, str | None]
) -> None:
    assert load(text).fallback_access == access
    assert load(text.replace("FALLBACK", "TRANSCRIPTION")).transcription_access == access
