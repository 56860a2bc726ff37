"""``[[partner]]`` tables: what they mean, and what is said about those of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.environment import SettingsError
from core.tuning import Tuning, load_tuning

WHOLE = """
[[partner]]
name = "Maths"
persona = "Euler"
language = "zh"
access = "allowlist"
allow = ["telegram:7"]
post = "MATHS_TOKEN"
mail = { id = "MATHS_ID", secret = "MATHS_SECRET" }

[[partner]]
name = "Reading"
"""


def read(folder: Path, text: str) -> Tuning:
    file = folder / "partners.toml"
    file.write_text(text, encoding="utf-8")
    return load_tuning(file)


def test_a_table_is_read_whole_and_what_it_leaves_out_is_the_houses(tmp_path: Path) -> None:
    tuning = read(tmp_path, WHOLE)
    maths, reading = tuning.partners
    assert (maths.name, maths.persona, maths.language) == ("Maths", "euler", "zh")
    assert (maths.access, maths.allow) == ("allowlist", ("telegram:7",))
    assert dict(maths.accounts) == {
        "post": {"": "MATHS_TOKEN"},
        "mail": {"id": "MATHS_ID", "secret": "MATHS_SECRET"},
    }
    assert (reading.persona, reading.language, reading.access, reading.allow) == (None,) * 4
    assert tuning.warnings == ()
    assert load_tuning(tmp_path / "none.toml").partners == ()


def test_one_table_without_the_second_brackets_is_one_partner(tmp_path: Path) -> None:
    [maths] = read(tmp_path, '[partner]\nname = "Maths"\npost = "TOKEN"').partners
    assert maths.name == "Maths"


@pytest.mark.parametrize(
    "written",
    [
        'post = "123456:AAE-secret_secret"',
        'post = "abcdefsecretABCDEF0123456789abcd"',
        'mail = { id = "MATHS_ID", secret = "abcdefsecretABCDEF0123456789abcd" }',
        "post = 123456",
        'post = ["123456:AAE-secret_secret"]',
        'post = { token = { value = "123456:AAE-secret_secret" } }',
        '"123456:AAE-secret_secret" = "post"',
        'post = ""',
    ],
)
def test_a_token_in_the_file_is_refused_and_not_shown(tmp_path: Path, written: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, f'[[partner]]\nname = "Maths"\n{written}')
    said = str(refused.value)
    assert "“Maths”" in said and "MATHS_" in said and ".env" in said
    assert "secret_" not in said and "abcdef" not in said and "123456" not in said


def test_a_wrong_access_is_no_open_door(tmp_path: Path) -> None:
    tuning = read(tmp_path, '[[partner]]\nname = "A"\naccess = "allow list"\nlanguage = "fr"')
    assert (tuning.partners[0].access, tuning.partners[0].language) == ("pairing", None)
    assert len(tuning.warnings) == 2
    assert "allow list" in str(tuning.warnings) and "en · zh" in str(tuning.warnings)


def test_a_list_with_a_wrong_account_lets_only_the_others_in(tmp_path: Path) -> None:
    tuning = read(tmp_path, '[[partner]]\nname = "A"\nallow = ["seven", "telegram:7"]')
    assert tuning.partners[0].allow == ("telegram:7",)
    assert "partner “A”: allow holds “seven”" in tuning.warnings[0]


def test_names_are_made_where_they_lack_and_told_apart(tmp_path: Path) -> None:
    tuning = read(tmp_path, '[[partner]]\n[[partner]]\nname = "A"\n[[partner]]\nname = "A"')
    assert [one.name for one in tuning.partners] == ["partner 1", "A", "partner 3"]
    assert len(tuning.warnings) == 2


def test_what_is_no_table_is_ignored_and_not_shown(tmp_path: Path) -> None:
    tuning = read(tmp_path, 'partner = "123456:AAE-secret"')
    assert tuning.partners == ()
    assert len(tuning.warnings) == 1
    assert "secret" not in tuning.warnings[0]
