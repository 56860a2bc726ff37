"""Tables in cards: the component, and those written in markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.servers.feishu import card_schema as schema
from tests.servers.feishu.errors import CardRefusal
from tests.servers.feishu.limits import TABLE_COLUMNS

_DELIMITER = re.compile(r"^\s{0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")


def markdown_tables(text: str) -> int:
    """Count the tables of a markdown text; what stands in a code block is none."""
    count = 0
    fence = ""
    previous = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            previous = ""
            continue
        if mark:
            fence = mark[1]
            previous = ""
            continue
        if "|" in previous and "|" in line and _DELIMITER.match(line):
            count += 1
            previous = ""
            continue
        previous = line
    return count


def check_table(table: dict[str, Any], path: str, broken: Callable[[str], CardRefusal]) -> None:
    """Refuse a table component with bad columns or rows."""
    size = table.get("page_size", 5)
    if not isinstance(size, int) or not 1 <= size <= 10:
        raise broken(f"page_size is 1 to 10, path: [{path}]")
    columns, rows = table["columns"], table["rows"]
    if not isinstance(columns, list) or not columns:
        raise broken(f"a table without columns, path: [{path}]")
    if len(columns) > TABLE_COLUMNS:
        raise broken(f"more than {TABLE_COLUMNS} columns, path: [{path}]")
    kinds: dict[str, str] = {}
    for column in columns:
        if not isinstance(column, dict) or not isinstance(column.get("name"), str):
            raise broken(f"a column without name, path: [{path}]")
        for name in column:
            if name not in schema.TABLE_COLUMN:
                raise broken(f"unknown property: {name}, path: [{path} -> columns]")
        kind = str(column.get("data_type", "text"))
        if kind not in schema.CELL_TYPES:
            raise broken(f"unknown data_type: {kind}, path: [{path} -> columns]")
        kinds[column["name"]] = kind
    if not isinstance(rows, list):
        raise CardRefusal(200914, "table rows is invalid", path=path)
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise CardRefusal(200914, "table rows is invalid", f"row {number}", path)
        for name, cell in row.items():
            if name not in kinds:
                raise CardRefusal(200915, "table rows name is invalid", name, path)
            if not _fits(kinds[name], cell):
                raise CardRefusal(200914, "table rows is invalid", f"row {number}, {name}", path)


def _fits(kind: str, cell: object) -> bool:
    match kind:
        case "number" | "date":
            return isinstance(cell, (int, float)) and not isinstance(cell, bool)
        case "options":
            return isinstance(cell, (str, list))
        case "persons":
            return isinstance(cell, (str, list))
        case _:
            return isinstance(cell, str)
