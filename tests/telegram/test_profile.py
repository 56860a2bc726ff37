"""What people see of the bot before they write is told at the start, and only when it changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.commands.declare import Menu
from tests.servers.telegram import TelegramServer
from tests.telegram.door import door

MENUS = (
    Menu("en", (("start", "begin"),), about="A tutor.", motto="It asks."),
    Menu("zh", (("start", "开始"),), about="导师。", motto="会提问。"),
)
WRITES = ("setMyCommands", "setMyDescription", "setMyShortDescription")


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        yield server


async def start(server: TelegramServer, menus: tuple[Menu, ...] = MENUS) -> dict[str, int]:
    """Start and stop once; return how often each text was written."""
    before = {name: len(server.requests_of(name)) for name in WRITES}
    channel = door(server)

    async def nothing(_: object) -> None:
        return None

    await channel.start(nothing, menus)
    await channel.stop()
    return {name: len(server.requests_of(name)) - before[name] for name in WRITES}


async def test_every_language_has_its_texts_and_a_second_start_changes_nothing(
    server: TelegramServer,
) -> None:
    assert await start(server) == dict.fromkeys(WRITES, 3)
    assert server.commands("zh") == ["start"]
    assert server.state.profile["description", ""] == "A tutor."
    assert server.state.profile["short_description", "zh"] == "会提问。"
    assert await start(server) == dict.fromkeys(WRITES, 0)


async def test_only_what_changed_is_written(server: TelegramServer) -> None:
    await start(server)
    changed = (MENUS[0], Menu("zh", (("start", "开始"),), about="一位导师。", motto="会提问。"))
    assert await start(server, changed) == {
        "setMyCommands": 0,
        "setMyDescription": 1,
        "setMyShortDescription": 0,
    }


@pytest.mark.parametrize("method", ["getMyCommands", "setMyDescription"])
async def test_a_refusal_keeps_nobody_from_starting(server: TelegramServer, method: str) -> None:
    server.refuse(method, 429, "Too Many Requests: retry after 3000", retry_after=3000)
    written = await start(server)
    assert written["setMyShortDescription"] == 2, "the other languages have theirs"
