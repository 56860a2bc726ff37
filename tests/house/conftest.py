"""Houses to test in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from shutil import copyfile

import pytest

from core.i18n import words_for
from core.store.session import Store
from tests.house.home import Home
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

MakeHome = Callable[..., Awaitable[Home]]


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the present revision: bringing one there takes longer than a test."""
    path = tmp_path_factory.mktemp("house") / "partners.db"
    Store.open(f"sqlite:///{path}", words_for("en")).close()
    return path


@pytest.fixture
async def make_home(
    tmp_path: Path, fresh_database: Path, telegram: TelegramServer, openai: OpenAIServer
) -> AsyncIterator[MakeHome]:
    """Opens a house with the settings that are passed on; the model says "Go on." by default."""
    copyfile(fresh_database, tmp_path / "partners.db")
    opened: list[Home] = []
    openai.default = Reply("Go on.")

    async def make(**settings: object) -> Home:
        home = await Home(tmp_path, telegram, openai, **settings).open()
        opened.append(home)
        return home

    yield make
    for home in opened:
        await home.close()


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """A house that is open to everybody."""
    return await make_home()
