"""Results too long for the model to get at once: it gets the first page and reads on by a tool.

The pages live in memory, as long as their turn. After a restart the model has to call the tool
that gave the result again.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.tools.registry import RESULT_LIMIT, Tool, ToolContext, ToolError, declare

READ_MORE: Final = "read_more"
_NOTE: Final = 200
"""Characters kept on a page for the note that names the next one."""


class ReadMoreArguments(BaseModel):
    """Which page of which result."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(description="The id that the result named.")
    page: int = Field(default=2, ge=1, description="Number of the page, from 1.")


class Pages:
    """The long results of one turn. ``limit`` is in characters, for a page with its note."""

    def __init__(self, limit: int = RESULT_LIMIT) -> None:
        self._limit = limit
        self._kept: dict[str, list[str]] = {}
        self._tool: Tool | None = None

    def fit(self, text: str) -> str:
        """Return a result as the model gets it: whole, or its first page."""
        if len(text) <= self._limit:
            return text
        name = f"r{len(self._kept) + 1}"
        self._kept[name] = _split(text, self._limit - _NOTE)
        self._tool = self._tool or declare(
            READ_MORE,
            "The next page of a result that was too long to show at once.",
            ReadMoreArguments,
            self._read,
        )
        return self._page(name, 1)

    def tool(self) -> Tool | None:
        """Return the tool that reads on; None while every result was short."""
        return self._tool

    async def _read(self, given: ReadMoreArguments, _: ToolContext) -> str:
        if given.id not in self._kept:
            known = ", ".join(self._kept)
            raise ToolError(
                f"There is no long result {given.id!r} here. Ids: {known}. For a result of before "
                "call its tool again."
            )
        last = len(self._kept[given.id])
        if given.page > last:
            raise ToolError(f"Result {given.id} ends with page {last}.")
        return self._page(given.id, given.page)

    def _page(self, name: str, number: int) -> str:
        pages = self._kept[name]
        if number == len(pages):
            note = f"[page {number} of {number}, the last]"
        else:
            note = (
                f"[page {number} of {len(pages)}; to go on call {READ_MORE} with "
                f'{{"id": "{name}", "page": {number + 1}}}]'
            )
        return f"{pages[number - 1]}\n{note}"


def _split(text: str, size: int) -> list[str]:
    """Cut into pages of at most ``size`` characters, at the end of a line where one is near."""
    pages: list[str] = []
    at = 0
    while at < len(text):
        end = at + size
        if end < len(text):
            line = text.rfind("\n", at + size * 3 // 4, end)
            end = end if line < 0 else line + 1
        pages.append(text[at:end])
        at = end
    return pages
