"""The channels, and houses behind them.

A new channel joins the contract with its stage and one line in ``STAGES``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from shutil import copyfile

import pytest

from tests.contract.discord import DiscordStage
from tests.contract.feishu import FeishuStage
from tests.contract.home import StageHome
from tests.contract.stage import AnyStage
from tests.contract.telegram import TelegramStage
from tests.contract.terminal import TerminalStage
from tests.servers.openai import OpenAIServer, Reply

STAGES: tuple[type[AnyStage], ...] = (
    TelegramStage,
    DiscordStage,
    FeishuStage,
    TerminalStage,
)

MakeHome = Callable[..., Awaitable[StageHome]]


def _name(stage: type[AnyStage]) -> str:
    return stage.__name__.removesuffix("Stage").lower()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each case on every channel; one that asks for ``remote`` on those with a platform."""
    for wanted in ("stage", "remote"):
        if wanted in metafunc.fixturenames:
            stages = [one for one in STAGES if one.remote or "remote" not in metafunc.fixturenames]
            metafunc.parametrize("kind", stages, ids=_name)
            return


@pytest.fixture
def stage(kind: type[AnyStage]) -> Iterator[AnyStage]:
    """The world of one channel."""
    world = kind()
    world.open()
    yield world
    world.close()


@pytest.fixture
def remote(stage: AnyStage) -> AnyStage:
    """The same, where there is a platform behind the channel."""
    return stage


@pytest.fixture
async def make_home(
    tmp_path: Path, fresh_database: Path, stage: AnyStage, openai: OpenAIServer
) -> AsyncIterator[MakeHome]:
    """Opens a house with the settings that are passed on; the model says "Go on." by default."""
    copyfile(fresh_database, tmp_path / "partners.db")
    opened: list[StageHome] = []
    openai.default = Reply("Go on.")

    async def make(**settings: object) -> StageHome:
        home = await StageHome(tmp_path, stage, openai, **settings).open()
        opened.append(home)
        return home

    yield make
    for home in opened:
        await home.close()


@pytest.fixture
async def home(make_home: MakeHome) -> StageHome:
    """A house that is open to everybody."""
    return await make_home()
