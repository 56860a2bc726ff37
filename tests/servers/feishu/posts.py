"""Rich text (``post``): what the bot may send, and what a post says in words."""

from __future__ import annotations

from typing import Any

from tests.servers.feishu.errors import invalid

LOCALES = frozenset({"zh_cn", "zh_hk", "zh_tw", "en_us", "ja_jp"})
_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "a": ("text", "href"),
    "at": ("user_id",),
    "img": ("image_key",),
    "media": ("file_key",),
    "emotion": ("emoji_type",),
    "hr": (),
    "code_block": ("text",),
    "md": ("text",),
}
"""Required fields by tag."""


def check_post(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Refuse a post that is not ``{locale: {title, content: [[element]]}}``; return its elements.

    The body must not be wrapped in another ``post``; a ``md`` element stands alone in its row.
    """
    if not content or set(content) - LOCALES:
        raise invalid("invalid message content, post locale is expected")
    elements: list[dict[str, Any]] = []
    for document in content.values():
        if not isinstance(document, dict) or not isinstance(document.get("content"), list):
            raise invalid("invalid message content, post content is expected")
        if not isinstance(document.get("title", ""), str):
            raise invalid("invalid message content, post title")
        for row in document["content"]:
            if not isinstance(row, list):
                raise invalid("invalid message content, a row of a post is a list")
            for element in row:
                elements.append(_checked(element))
            if len(row) > 1 and any(element["tag"] == "md" for element in row):
                raise invalid("invalid message content, md must be alone in its row")
    if not elements:
        raise invalid("message content is empty")
    return elements


def rows(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the rows of a post, sent (with locale) or received (without)."""
    document = content if "content" in content else next(iter(content.values()), {})
    found = document.get("content", [])
    return found if isinstance(found, list) else []


def title(content: dict[str, Any]) -> str:
    """Return the title of a post, sent or received."""
    document = content if "content" in content else next(iter(content.values()), {})
    return str(document.get("title", ""))


def words(content: dict[str, Any]) -> str:
    """Return what a post says, row by row, its title first."""
    lines = [title(content)] if title(content) else []
    lines += ["".join(_word(element) for element in row) for row in rows(content)]
    return "\n".join(lines)


def _checked(element: object) -> dict[str, Any]:
    tag = str(element.get("tag")) if isinstance(element, dict) else str(element)
    if not isinstance(element, dict) or tag not in _FIELDS:
        raise invalid(f"invalid message content, unknown tag {tag}")
    for name in _FIELDS[tag]:
        if not isinstance(element.get(name), str):
            raise invalid(f"invalid message content, {tag} without {name}")
    return element


def _word(element: dict[str, Any]) -> str:
    match element.get("tag"):
        case "at":
            return str(element.get("user_id", ""))
        case "img" | "media" | "emotion":
            return f"[{element['tag']}]"
        case "hr":
            return "---"
        case _:
            return str(element.get("text", ""))
