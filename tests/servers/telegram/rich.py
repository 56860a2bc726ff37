"""Rich messages (Bot API 10.2): which blocks the server takes, and how they come back.

What the documentation leaves open is judged strictly: unknown fields and empty texts are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.servers.telegram.errors import bad

MOST_CHARACTERS = 32_768
MOST_BLOCKS = 500

_TEXT, _BLOCKS = "text", "blocks"
_FIELDS: Mapping[str, tuple[set[str], set[str]]] = {
    "paragraph": ({_TEXT}, set()),
    "heading": ({_TEXT, "size"}, set()),
    "pre": ({_TEXT}, {"language"}),
    "divider": (set(), set()),
    "mathematical_expression": ({"expression"}, set()),
    "list": ({"items"}, set()),
    "blockquote": ({_BLOCKS}, {"credit"}),
    "expandable_blockquote": ({_TEXT}, {"credit"}),
    "table": ({"cells"}, {"is_bordered", "is_striped", "caption", "is_compact"}),
}
"""Type of a block to the fields it must have and may have."""
_SPANS = ("bold", "italic", "strikethrough", "code")


def checked_rich(given: Any) -> tuple[list[dict[str, Any]], str]:
    """Return the blocks as messages show them, and their words. Raises Refusal."""
    if not isinstance(given, dict):
        raise bad("object expected as rich message")
    content = [name for name in ("html", "markdown", "blocks") if given.get(name)]
    if content != ["blocks"]:
        raise bad("rich message must have exactly one content")
    if given.get("skip_entity_detection") is not True:
        raise bad("RICH_MESSAGE_TEST: entities would be detected, and names would ring")
    words: list[str] = []
    blocks = _blocks(given["blocks"], words)
    text = "\n".join(words)
    if not text.strip():
        raise bad("rich message is empty")
    if len(text) > MOST_CHARACTERS:
        raise bad("RICH_MESSAGE_TOO_LONG")
    return blocks, text


def _blocks(given: Any, words: list[str]) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given or len(given) > MOST_BLOCKS:
        raise bad("RICH_MESSAGE_BLOCKS_INVALID")
    return [_block(each, words) for each in given]


def _block(given: Any, words: list[str]) -> dict[str, Any]:
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise bad(f"RICH_BLOCK_TYPE_INVALID: {kind}")
    required, optional = _FIELDS[kind]
    fields = {name for name, value in given.items() if value is not None} - {"type"}
    if not required <= fields or not fields <= required | optional:
        raise bad(f"RICH_BLOCK_FIELDS_INVALID: {kind} with {sorted(fields)}")
    shown = dict(given)
    if _TEXT in required:
        words.append(_text(given[_TEXT]))
    if kind == "heading" and given["size"] not in range(1, 7):
        raise bad("RICH_BLOCK_HEADING_SIZE_INVALID")
    if kind == "mathematical_expression":
        words.append(_formula(given["expression"]))
    if kind == "blockquote":
        shown[_BLOCKS] = _blocks(given[_BLOCKS], words)
    if kind == "list":
        shown["items"] = [_item(item, words) for item in _some(given["items"])]
    if kind == "table":
        widths = {len(_some(row)) for row in _some(given["cells"])}
        if len(widths) != 1:
            raise bad("RICH_BLOCK_TABLE_INVALID")
        for row in given["cells"]:
            words.append(" | ".join(map(_cell, row)))
    return shown


def _some(given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise bad("RICH_BLOCK_EMPTY")
    return given


def _item(given: Any, words: list[str]) -> dict[str, Any]:
    inside: list[str] = []
    shown = {**given, _BLOCKS: _blocks(given.get(_BLOCKS), inside)}
    label = f"{given['value']}." if given.get("value") is not None else "•"
    words.append(f"{label} " + "\n".join(inside))
    return {**shown, "label": label}


def _cell(given: Any) -> str:
    if given.get("align") not in ("left", "center", "right"):
        raise bad("RICH_BLOCK_TABLE_CELL_INVALID")
    if given.get("valign") not in ("top", "middle", "bottom"):
        raise bad("RICH_BLOCK_TABLE_CELL_INVALID")
    return _text(given[_TEXT]) if given.get(_TEXT) is not None else ""


def _formula(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise bad("RICH_TEXT_MATH_INVALID")
    return given


def _text(given: Any) -> str:
    if isinstance(given, str):
        text = given
    elif isinstance(given, list):
        text = "".join(map(_text, given))
    elif isinstance(given, dict) and given.get("type") in _SPANS:
        text = _text(given[_TEXT])
    elif isinstance(given, dict) and given.get("type") == "url":
        if not str(given.get("url")).startswith(("http://", "https://", "mailto:")):
            raise bad("RICH_TEXT_URL_INVALID")
        text = _text(given[_TEXT])
    elif isinstance(given, dict) and given.get("type") == "mathematical_expression":
        text = _formula(given.get("expression"))
    else:
        raise bad("RICH_TEXT_TYPE_INVALID")
    if not text:
        raise bad("RICH_TEXT_EMPTY")
    return text
