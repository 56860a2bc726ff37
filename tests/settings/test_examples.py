"""The two example files explain every setting there is, and hold nothing else."""

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.environment import EnvSettings, variable
from core.limits import Limits
from core.settings import Settings
from core.tuning import Tuning, load_tuning

ROOT = Path(__file__).parents[2]
ENV = (ROOT / ".env.example").read_text(encoding="utf-8")


def groups() -> list[type[EnvSettings]]:
    """The house's settings and those that each channel's folder declares."""
    found: list[type[EnvSettings]] = [Settings]
    for path in sorted((ROOT / "bots").glob("*/settings.py")):
        module = importlib.import_module(f"bots.{path.parent.name}.settings")
        found += (
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, EnvSettings)
            and value is not EnvSettings
        )
    return found


def test_every_variable_is_in_the_example_and_no_other() -> None:
    declared = {variable(group, field) for group in groups() for field in group.model_fields}
    assert set(re.findall(r"^#?([A-Z_]+)=", ENV, re.MULTILINE)) == declared


def test_every_variable_is_explained_in_both_languages_right_above_it() -> None:
    for block in ENV.split("\n\n"):
        for name in re.findall(r"^#?([A-Z_]+)=", block, re.MULTILINE):
            above = block.split(f"#{name}=")[0]
            assert re.search(r"[a-z]{3}", above), name
            assert re.search(r"[一-鿿]", above), name


def test_an_untouched_copy_sets_nothing(tmp_path: Path) -> None:
    copy = tmp_path / ".env"
    copy.write_text(ENV, encoding="utf-8")
    for group in groups():
        assert group.load(copy) == group.load(None)


def test_a_copy_with_every_line_switched_on_is_accepted(tmp_path: Path) -> None:
    copy = tmp_path / ".env"
    copy.write_text(re.sub(r"^#(?=[A-Z_]+=)", "", ENV, flags=re.MULTILINE), encoding="utf-8")
    for group in groups():
        group.load(copy)
    assert Settings.load(copy).owners == ("telegram:123456789",)


@pytest.mark.parametrize("uncomment", [False, True])
def test_the_example_of_tuning_is_the_defaults(tmp_path: Path, uncomment: bool) -> None:
    copy = tmp_path / "partners.toml"
    text = (ROOT / "partners.toml.example").read_text(encoding="utf-8")
    if uncomment:
        text = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    copy.write_text(text, encoding="utf-8")
    tuning = load_tuning(copy)
    assert tuning.warnings == ()
    # Of prices there are none by default, only a way to write them.
    unpriced = {name: replace(tuned, prices=()) for name, tuned in tuning.capabilities.items()}
    assert (unpriced, tuning.allow) == (Tuning().capabilities, ())
    assert tuning.limits == Limits()
    assert bool(tuning.channels) is bool(tuning.partners) is uncomment
