from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from memory import Audience
from memory.document import parse
from memory.journal import parse_day

PAGE = (Path(__file__).parents[2] / "docs" / "memory-format.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_day_on_the_format_page_is_read_as_two_events() -> None:
    (block,) = [block for block in BLOCKS if block.startswith("# 2026")]
    first, second = parse_day(block, date(2026, 11, 30)).events
    assert first.text == "asked: why is 0! = 1?"
    assert second.text.split("\n")[-1] == "- there is one way to arrange nothing"


def test_the_profile_on_the_format_page_has_one_private_and_one_shareable_fact() -> None:
    (block,) = [block for block in BLOCKS if block.startswith("# Profile")]
    entries = [line.entry for line in parse(block.encode()).lines if line.entry]
    assert [entry.audience for entry in entries] == [Audience.PRIVATE, Audience.GROUP]
    assert [entry.citations for entry in entries] == [("1",), ("2",)]
