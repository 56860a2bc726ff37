"""What each command says, and says when it cannot."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer.main

from bots.app import user_name
from bots.cli import app
from core.access import pairing_code
from core.context import AccountId, ReplyTarget
from core.i18n import words_for
from core.store.session import Store
from core.store.tables import Account, Card, Learner
from tests.command_line.inside import Run, runner
from tests.process import Installation

ME = f"terminal:{user_name()}"
NOW = datetime.now(UTC)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.fixture
def run(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(installation, monkeypatch)


@pytest.fixture
def store(installation: Installation) -> Iterator[Store]:
    installation.data.mkdir()
    opened = Store.open(f"sqlite:///{installation.data / 'partners.db'}", words_for("en"))
    yield opened
    opened.close()


def wait_with_code(store: Store, account: str, name: str) -> str:
    """Let a stranger have written; return the code they were given."""

    def work(session: Any) -> str:
        session.add(Account(id=account, name=name, created_at=NOW))
        session.flush()
        target = ReplyTarget(channel="telegram", account="42", chat=account.partition(":")[2])
        request, _ = pairing_code(session, AccountId(account), target, "en", NOW)
        return request.code

    return store.submit(work).result()


# --- every command ------------------------------------------------------------------------------


def _paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path
    else:
        for name, child in children.items():
            yield from _paths(child, (*path, name))


COMMANDS = list(_paths(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example(
    run: Run, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = run(*path, "--help")
    assert shown.status == 0
    assert re.search(rf"Example: .*\bpartners {' '.join(path)}\b", shown.out)


def test_the_commands_are_those_that_people_and_scripts_rely_on() -> None:
    assert {" ".join(path) for path in COMMANDS} >= {
        "chat", "serve", "init", "doctor", "nudge", "learners", "export", "forget",
        "memory show", "memory edit", "memory log", "memory undo", "memory consolidate",
        "persona list", "persona check", "access list", "access approve", "access deny",
        "access owner",
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["tell", "access", "access let", "chat --loud", "access approve", "memory show", "nudge --as"],
)
def test_a_line_nobody_understands_is_refused_with_a_hint(run: Run, line: str) -> None:
    refused = run(*line.split())
    assert refused.status == 2
    assert "--help" in refused.out + refused.err


def test_the_version_is_told(run: Run) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", run("--version").out)


@pytest.mark.parametrize("line", ["learners", "access list", "persona check", "nudge"])
def test_commands_work_on_an_empty_folder_and_create_it(
    run: Run, installation: Installation, line: str
) -> None:
    assert run(*line.split()).status == 0
    assert (installation.data / "partners.db").exists()


# --- access -------------------------------------------------------------------------------------


def test_a_stranger_is_listed_let_in_and_kept_out(run: Run, store: Store) -> None:
    code = wait_with_code(store, "telegram:7", "Ada")
    assert f"telegram:7  Ada  waiting with code {code}" in run("access", "list").out

    wrong = run("access", "approve", "ZZZZ-99")
    assert wrong.status == 1
    assert "partners access list" in wrong.err
    typed = code.replace("-", " ").lower()
    assert run("access", "approve", typed).out == "Ada (telegram:7) is in.\n"
    assert run("access", "approve", code).status == 1  # used up
    assert "telegram:7  Ada  may learn" in run("access", "list").out

    assert run("access", "deny", "telegram:7").out == "telegram:7 is kept out now.\n"
    assert "telegram:7  Ada  kept out" in run("access", "list").out
    other = wait_with_code(store, "telegram:8", "Bob")
    assert run("access", "owner", other).out == "telegram:8 is an owner now.\n"
    assert "telegram:8  Bob  owner" in run("access", "list").out


@pytest.mark.parametrize("command", ["deny", "owner"])
@pytest.mark.parametrize("who", ["ada", "ZZZZ-99", "telegram:", ":7", "telegram:a b", ""])
def test_who_is_neither_an_account_nor_a_code_is_not_found(
    run: Run, command: str, who: str
) -> None:
    refused = run("access", command, who)
    assert (refused.status, refused.out) == (1, "")
    assert "neither an account (like telegram:123) nor a valid code" in refused.err


def test_an_owner_by_the_settings_is_not_said_to_be_kept_out(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.settings["PARTNERS_OWNERS"] = "telegram:1"
    run = runner(installation, monkeypatch)
    for owner in ("telegram:1", ME):
        refused = run("access", "deny", owner)
        assert (refused.status, refused.out) == (1, "")
        assert f"{owner} stays an owner" in refused.err


# --- learners -----------------------------------------------------------------------------------


def test_learners_are_listed_with_their_cards_and_nothing_private(
    run: Run, installation: Installation
) -> None:
    installation.say("chat", stdin="/add zebra :: back")
    listed = run("learners").out
    learner, account, name, zone, _, cards = listed.strip().split("  ")
    assert (account, name, zone, cards) == (ME, user_name(), "Europe/Berlin", "1 card")
    assert (installation.data / "memory" / learner).is_dir()
    assert "zebra" not in listed


# --- personas -----------------------------------------------------------------------------------


def test_a_broken_persona_is_named_with_file_line_and_key_and_left_out(
    run: Run, installation: Installation
) -> None:
    assert run("persona", "check").out == "4 personas are fine.\n"
    own = installation.data / "personas"
    own.mkdir()
    (own / "ada.md").write_text("---\nid: ada\nnme: Ada\n---\nTeach.\n", encoding="utf-8")
    for line in (["persona", "check"], ["persona", "check", str(own)]):
        broken = run(*line)
        assert broken.status == 1
        assert re.search(r"ada\.md:3: nme is not a known key\. Did you mean `name`\?", broken.err)
    listed = run("persona", "list")
    assert listed.status == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        "socrates",
        "euler",
        "hopper",
        "humboldt",
    ]
    assert "ada.md:3" in listed.err
    missing = run("persona", "check", "nowhere.md")
    assert missing.status == 1
    assert "nowhere.md" in missing.err


def test_a_persona_is_shown_with_what_it_may_use_and_what_the_model_is_told(run: Run) -> None:
    shown = run("persona", "show", "euler")
    assert shown.status == 0
    assert shown.out.startswith("euler  Euler: Mathematics.")
    assert "calculate" in shown.out and "capabilities: chat, solve" in shown.out
    assert "solve: 12 rounds" in shown.out and "## The hint ladder" in shown.out
    assert "欧拉" in run("persona", "show", "euler", "--language", "zh").out
    unknown = run("persona", "show", "eular")
    assert unknown.status == 1 and "There is no" in unknown.err


def test_a_new_persona_is_a_whole_file_to_change_and_can_be_chosen(
    run: Run, installation: Installation
) -> None:
    made = run("persona", "new", "ada", "--name", 'Ada "L": x', "--like", "hopper")
    file = installation.data / "personas" / "ada.md"
    assert made.status == 0 and str(file) in made.out
    assert run("persona", "check", str(file)).out == "1 persona is fine.\n"
    assert 'ada  Ada "L": x: Programming' in run("persona", "list").out
    before = file.read_bytes()
    again = run("persona", "new", "ada", "--name", "Other")
    assert again.status == 1 and "is there already" in again.err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("A B", "--name", "x"), "is no id"),
        (("../ada", "--name", "x"), "is no id"),
        (("ada", "--name", "x", "--like", "plato"), "no packaged persona “plato”"),
        (("ada", "--name", "x" * 41), "at most 40 characters"),
    ],
)
def test_a_persona_that_cannot_be_made_is_not_made(
    run: Run, installation: Installation, arguments: tuple[str, ...], advice: str
) -> None:
    refused = run("persona", "new", *arguments)
    assert refused.status == 1 and advice in refused.err
    assert not list((installation.data / "personas").glob("*.md"))


# --- nudges -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "advice"),
    [
        ("tomorrow", "Write it like 2026-12-02T09:00:00+01:00"),
        ("", "Write it like"),
        ("2026-02-30T09:00:00Z", "Write it like"),
        ("2026-12-02T09:00:00+99:00", "Write it like"),
        ("2026-12-02", "2026-12-02T00:00:00Z"),
        ("2026-12-02T09:00", "2026-12-02T09:00:00+01:00"),
        ("0001-01-01T00:00:00+14:00", "within 100 years"),
        ("9999-12-31T23:59:59-12:00", "within 100 years"),
    ],
)
def test_a_moment_nobody_understands_is_refused_with_an_example(
    run: Run, moment: str, advice: str
) -> None:
    refused = run("nudge", "--as-of", moment)
    assert (refused.status, refused.out) == (1, "")
    assert advice in refused.err


def test_a_nudge_is_planned_once_and_waits_for_serve(run: Run, store: Store) -> None:
    day = (NOW + timedelta(days=1)).date()

    def work(session: Any) -> None:
        home = ReplyTarget(channel="telegram", account="42", chat="7").model_dump_json()
        session.add(
            Learner(
                id="01M8QT34FX9R7QKHT6NCGVQA3R",
                zone="UTC",
                reminders_from=NOW,
                home=home,
                seen_at=NOW,
                created_at=NOW,
            )
        )
        session.flush()
        session.add(
            Card(
                id="01M8QT34FX9R7QKHT6NCGVQA3S",
                learner_id="01M8QT34FX9R7QKHT6NCGVQA3R",
                front="0!",
                back="1",
                normal="0!",
                created_day=NOW.date(),
                due_day=day,
                created_at=NOW,
            )
        )

    store.submit(work).result()
    due = f"{day.isoformat()}T09:30:00Z"
    assert run("nudge", "--as-of", f" {day.isoformat()}T08:30:00Z ").out == "0 reminders planned.\n"
    first = run("nudge", "--as-of", due)
    assert first.out == (
        "1 reminder planned.\nThey wait in the outbox until `partners serve` runs.\n"
    )
    assert run("nudge", "--as-of", due).out == "0 reminders planned.\n"


# --- what stands in the way of every command ----------------------------------------------------


@pytest.mark.parametrize("line", ["learners", "serve", "nudge"])
def test_a_data_folder_that_cannot_be_written_to_is_named(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (installation.folder / "file").write_bytes(b"")
    installation.settings["PARTNERS_DATA"] = "file/data"
    refused = runner(installation, monkeypatch)(line)
    assert (refused.status, refused.out) == (1, "")
    assert f"The data folder {installation.folder / 'file' / 'data'} cannot be written" in (
        refused.err
    )
    assert "PARTNERS_DATA" in refused.err


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("mysql://u:hunter2@host/x", "PARTNERS_DATABASE_URL cannot be used"),
        ("postgres://u:hunter2@127.0.0.1:1/x", "u:***@127.0.0.1:1/x cannot be opened"),
        ("sqlite:///nowhere/x.db", "unable to open database file"),
    ],
)
def test_a_database_out_of_reach_is_told_without_its_password(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, address: str, sentence: str
) -> None:
    installation.settings["PARTNERS_DATABASE_URL"] = address
    refused = runner(installation, monkeypatch)("learners")
    assert (refused.status, refused.out) == (1, "")
    assert sentence in refused.err
    assert "hunter2" not in refused.err


def test_a_broken_tuning_file_refuses_and_a_bad_value_only_warns(
    run: Run, installation: Installation
) -> None:
    tuning = installation.folder / "partners.toml"
    tuning.write_text("[capabilities.chat\nmax_rounds = 3\n", encoding="utf-8")
    refused = run("learners")
    assert (refused.status, refused.out) == (1, "")
    assert "partners.toml, line 1" in refused.err

    tuning.write_text('[capabilities.chat]\nmax_rounds = "many"\n', encoding="utf-8")
    warned = run("learners")
    assert (warned.status, warned.out) == (0, "Nobody yet.\n")
    assert "capabilities.chat.max_rounds" in warned.err


def test_a_database_that_fails_in_the_middle_of_a_command_is_told_in_a_sentence(
    run: Run, installation: Installation
) -> None:
    assert run("learners").status == 0
    with closing(sqlite3.connect(installation.data / "partners.db")) as connection, connection:
        connection.execute("DROP TABLE learner")
    refused = run("learners")
    assert (refused.status, refused.out) == (1, "")
    assert "no such table: learner" in refused.err
    assert "PARTNERS_DATA" in refused.err
