"""``/healthz`` over a real socket."""

import asyncio
import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator

import pytest

from bots.health import HealthServer
from core.i18n import words_for
from core.settings import SettingsError

State = dict[str, str | None]


@pytest.fixture
def state() -> State:
    return {"terminal": None, "post": None}


@pytest.fixture
async def server(state: State) -> AsyncIterator[HealthServer]:
    server = HealthServer(0, lambda: state)
    await server.start()
    yield server
    await server.stop()


async def get(server: HealthServer, path: str = "/healthz") -> tuple[int, str]:
    def call() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    return await asyncio.to_thread(call)


async def test_all_is_well_while_every_channel_works(server: HealthServer) -> None:
    status, body = await get(server)
    assert status == 200
    assert json.loads(body) == {"status": "ok", "channels": {"terminal": "ok", "post": "ok"}}


async def test_a_channel_in_trouble_is_said_and_recovers(
    server: HealthServer, state: State
) -> None:
    state["post"] = "http://h/bot123:ABC/x timed out"
    status, body = await get(server)
    assert status == 503
    assert json.loads(body) == {
        "status": "trouble",
        "channels": {"terminal": "ok", "post": "http://h/bot[removed]/x timed out"},
    }
    state["post"] = None
    assert (await get(server))[0] == 200


async def test_other_paths_tell_nothing(server: HealthServer) -> None:
    assert (await get(server, "/"))[0] == 404


async def test_only_this_machine_is_answered(server: HealthServer) -> None:
    assert server._runner is not None
    assert {address[0] for address in server._runner.addresses} == {"127.0.0.1"}


async def test_a_taken_port_is_one_sentence_with_the_way_out(server: HealthServer) -> None:
    second = HealthServer(server.port, dict)
    with pytest.raises(SettingsError, match=rf"^Port {server.port} is taken .*HEALTH_PORT"):
        await second.start()
    await second.stop()
    assert (await get(server))[0] == 200
    third = HealthServer(server.port, dict, words=words_for("zh"))
    with pytest.raises(SettingsError) as caught:
        await third.start()
    assert "taken" not in str(caught.value)


async def test_the_port_is_free_again_after_stop(server: HealthServer) -> None:
    await server.stop()
    await server.stop()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", server.port))


def test_the_web_server_is_loaded_only_when_it_is_started() -> None:
    program = "import sys, bots.health; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
