"""The wheel: everything the program needs and nothing that belongs to its making."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.process import PATIENCE, ROOT, Installation

PACKAGES = ("bots", "core", "memory", "personas")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [found] = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_program_whole_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
        for file in (ROOT / package).rglob("*"):
            name = file.relative_to(ROOT).as_posix()
            if file.suffix in {".py", ".md", ".po", ".mo"}:
                assert name in names
    assert {"personas/socrates.md", "personas/euler.md"} <= set(names)
    assert "core/i18n/locales/zh/LC_MESSAGES/partners.mo" in names
    assert "core/store/migrations/versions/0001_first_tables.py" in names
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    tops = {name.partition("/")[0] for name in names}
    assert tops - {top for top in tops if top.endswith(".dist-info")} == set(PACKAGES)


def test_the_installed_program_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
         "--no-deps", "--no-index", "--no-compile", "--target", str(site), str(wheel)],
        timeout=PATIENCE * 2,
        check=True,
    )  # fmt: skip
    installation = Installation(tmp_path, PYTHONPATH=str(site), PARTNERS_LANGUAGE="zh")
    program = shutil.which("partners", path=site / "bin")
    assert program is not None

    def run(*command: str, stdin: str = "") -> str:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=installation.environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        ).stdout

    where = run(sys.executable, "-c", "import bots, core; print(bots.__file__, core.__file__)")
    assert where.count(str(site) + os.sep) == 2
    assert "/new 开始新的对话" in run(program, "chat", stdin="/help")
