"""An environment without any of our variables, in an empty folder, with an English host."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in list(os.environ):
        if name.startswith(("PARTNERS_", "OPENAI_", "POST_", "LC_", "LANG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
