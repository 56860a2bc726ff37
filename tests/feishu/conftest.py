"""The server that every test of this room talks to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.feishu import FeishuServer


@pytest.fixture
def server() -> Iterator[FeishuServer]:
    with FeishuServer(rates=None) as server:
        yield server
