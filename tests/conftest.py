"""Fixtures that more than one room uses: the local servers and an installation."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from core.i18n import words_for
from core.store.session import Store
from tests.process import Installation
from tests.servers.openai import OpenAIServer
from tests.servers.telegram import TelegramServer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what no encoding holds in the logs and outputs of a test.

    A test may well log half a character; a report of it must still pass between processes.
    """
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        for name, text in report.sections
    ]
    return report


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    """A Bot API server that never throttles; tests of flood control set rates themselves."""
    with TelegramServer(rates=None) as server:
        yield server


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    """A model server; what it answers is scripted by the test."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def installation(tmp_path: Path, telegram: TelegramServer, openai: OpenAIServer) -> Installation:
    """An installation wired to both servers, with pairing on."""
    return Installation(tmp_path, telegram, openai)


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the present revision: bringing one there takes longer than a test."""
    path = tmp_path_factory.mktemp("fresh") / "partners.db"
    Store.open(f"sqlite:///{path}", words_for("en")).close()
    return path
