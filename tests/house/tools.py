"""Tools of a test's own, and a persona that may use them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from pydantic import BaseModel

from core.i18n import Words
from core.tools.registry import Tool, ToolContext, declare

HANDY = """---
id: handy
languages: [en, zh]
name:
  en: Handy
  zh: 巧手
description:
  en: Uses the tools of a test.
  zh: 使用测试的工具。
greeting:
  en: Good day.
  zh: 你好。
brief:
  en: You are Handy.
  zh: 你是巧手。
tools: [current_time, ring, wait, block]
capabilities: [chat]
---

# en

You are Handy.

# zh

你是巧手。
"""


def with_handy(folder: Path) -> None:
    """Let the personas of a house that is not opened yet include Handy."""
    (folder / "personas").mkdir(exist_ok=True)
    (folder / "personas" / "handy.md").write_text(HANDY, encoding="utf-8")


class Bell(BaseModel):
    """How to ring."""

    times: int = 1


class Nothing(BaseModel):
    """No arguments."""


class Bells:
    """Counts how often the tool ``ring`` ran, which needs consent unless told otherwise."""

    def __init__(self) -> None:
        self.rung: list[int] = []
        self.began = asyncio.Event()
        self.hangs = False
        """It rings and does not come back."""

    def ring(self, *, needs_consent: bool = True) -> Tool:
        async def run(given: Bell, context: ToolContext) -> str:
            self.rung.append(given.times)
            self.began.set()
            if self.hangs:
                await asyncio.Event().wait()
            return f"rung {given.times} times"

        def asked(given: Bell, words: Words) -> str:
            return f"ring {given.times} times"

        consent = asked if needs_consent else None
        return declare("ring", "Ring the bell.", Bell, run, repeatable=False, consent=consent)


class Stuck:
    """Tools that do not come back: one that waits, one that blocks a thread."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.free = threading.Event()

    def tools(self) -> tuple[Tool, Tool]:
        async def wait(given: Nothing, context: ToolContext) -> str:
            self.began.set()
            await asyncio.Event().wait()
            return "never"

        async def block(given: Nothing, context: ToolContext) -> str:
            self.began.set()
            await asyncio.to_thread(self.free.wait, 60)
            return "late"

        return (
            declare("wait", "Wait.", Nothing, wait, deadline_seconds=60),
            declare("block", "Block.", Nothing, block, deadline_seconds=60),
        )
