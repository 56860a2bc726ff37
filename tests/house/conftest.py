"""Houses to test in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from shutil import copyfile

import pytest

from tests.house.home import Home
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

MakeHome = Callable[..., Awaitable[Home]]


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
