"""A long result is read on page by page, without a gap."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from core.loop.pages import Pages, ReadMoreArguments
from core.tools.registry import run_tool
from tests.loop.stage import CONTEXT


async def _read(pages: Pages, name: str, page: int) -> str:
    tool = pages.tool()
    assert tool is not None
    given = ReadMoreArguments(id=name, page=page)
    return (await run_tool(tool, given, CONTEXT, seconds=5)).text


def test_a_short_result_stays_as_it_is_and_offers_nothing() -> None:
    pages = Pages(300)
    assert pages.fit("x" * 300) == "x" * 300
    assert pages.tool() is None


@given(st.text(alphabet="ab\n", min_size=301, max_size=2_000))
async def test_all_pages_together_are_the_result(text: str) -> None:
    pages = Pages(300)
    first = pages.fit(text)
    count = int(re.search(r"\[page 1 of (\d+);", first)[1])  # type: ignore[index]
    read = [first, *[await _read(pages, "r1", number) for number in range(2, count + 1)]]
    assert all(len(page) <= 300 for page in read)
    assert "".join(page.rpartition("\n[page ")[0] for page in read) == text


async def test_each_long_result_has_its_own_pages() -> None:
    pages = Pages(300)
    pages.fit("a" * 400)
    pages.fit("b" * 400)
    assert (await _read(pages, "r1", 1)).startswith("aaa")
    assert (await _read(pages, "r2", 2)).startswith("bbb")
    assert "ends with page" in await _read(pages, "r2", 99)
    assert "Ids: r1, r2" in await _read(pages, "r3", 1)
