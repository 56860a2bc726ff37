"""Looking into the memory and writing a note there, as the model does it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.ids import new_id
from core.tools.memory import memory_remember, memory_search
from core.tools.registry import Tool, ToolResult, run_tool
from memory.document import Audience
from memory.journal import Event, append, read_events
from memory.layers import LearnerFolder, Profile, Surface
from memory.search import search
from tests.tools.test_registry import CONTEXT

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


async def run(tool: Tool, **values: object) -> ToolResult:
    return await run_tool(tool, tool.arguments.model_validate(values), CONTEXT, seconds=10)


def told(root: Path, *texts: str) -> LearnerFolder:
    folder = LearnerFolder(root, CONTEXT.learner_id)
    for n, text in enumerate(texts):
        at = NOON + timedelta(days=n)
        append(folder, Event(new_id(at), at, Surface.CHAT, f"asked: {text}"))
    return folder


async def test_what_was_said_is_found_with_its_day_and_source(tmp_path: Path) -> None:
    folder = told(tmp_path, "why is the sky blue?", "what is a limit?", "极限是什么？为什么重要")
    tool = memory_search(tmp_path)
    found = await run(tool, query="limit")
    assert found.text == f"- 2026-12-02 (event): asked: what is a limit? [e_{_ids(folder)[1]}]"
    assert "极限是什么" in (await run(tool, query="极限")).text
    assert "Nothing is remembered" in (await run(tool, query="integrals")).text


async def test_a_note_is_kept_once_and_found_again(tmp_path: Path) -> None:
    keep = memory_remember(tmp_path, lambda: NOON)
    assert (await run(keep, note="My exam is on 12 December")).text == "Kept."
    assert "before already" in (await run(keep, note="My exam is on 12 December")).text
    folder = LearnerFolder(tmp_path, CONTEXT.learner_id)
    assert folder.profile(Profile.PROFILE).read_text(encoding="utf-8").count("12 December") == 1
    assert [event.text for event in read_events(folder)] == ["noted: My exam is on 12 December"]
    assert "12 December" in (await run(memory_search(tmp_path), query="exam")).text
    assert not (await run(keep, note="\u200b \n")).ok


def test_a_group_finds_no_event_and_no_private_note(tmp_path: Path) -> None:
    folder = told(tmp_path, "my secret zebra")
    assert search(folder, "zebra", audience=Audience.GROUP) == ()
    assert len(search(folder, "zebra", audience=Audience.PRIVATE)) == 1


def _ids(folder: LearnerFolder) -> list[str]:
    return [event.id for event in reversed(read_events(folder))]
