"""The list of tools that persona files are checked against is that of the tools there are."""

from __future__ import annotations

from pathlib import Path

from core.clock import SystemClock
from core.i18n import words_for
from core.store.session import Store
from core.tools.own import NAMES, own_tools


def test_every_tool_is_known_by_its_name(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'partners.db'}", words_for("en"))
    try:
        tools = own_tools(store, tmp_path, SystemClock())
    finally:
        store.close()
    assert sorted(tool.spec.name for tool in tools) == sorted(NAMES)
