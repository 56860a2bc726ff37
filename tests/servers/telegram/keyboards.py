"""Rules of ``reply_markup``: what the platform takes under a message and what it refuses."""

from __future__ import annotations

from typing import Any

from tests.servers.telegram.entities import checked_link
from tests.servers.telegram.errors import bad
from tests.servers.telegram.limits import BUTTONS, CALLBACK_BYTES

_OTHER_ACTIONS = (
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "callback_game",
    "pay",
)
_STYLES = ("danger", "success", "primary")


def checked_markup(raw: object) -> dict[str, Any] | None:
    """Return a legal reply markup, None for none; raises Refusal."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise bad("object expected as reply markup")
    if "inline_keyboard" in raw:
        rows = raw["inline_keyboard"]
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise bad('field "inline_keyboard" must be of type Array of Arrays')
        if sum(map(len, rows)) > BUTTONS:
            raise bad("REPLY_MARKUP_TOO_LONG")
        kept = [[_inline_button(button) for button in row] for row in rows if row]
        return {"inline_keyboard": kept} if kept else None
    if raw.keys() & {"keyboard", "remove_keyboard", "force_reply"}:
        return raw
    raise bad("object expected as reply markup")


def inline_only(markup: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the markup when it may stand under an edited message; raises Refusal."""
    if markup is not None and "inline_keyboard" not in markup:
        raise bad("inline keyboard expected")
    return markup


def _inline_button(raw: object) -> dict[str, Any]:
    prefix = "can't parse inline keyboard button: "
    if not isinstance(raw, dict):
        raise bad(prefix + "InlineKeyboardButton must be an Object")
    text = raw.get("text")
    if not isinstance(text, str):
        raise bad(prefix + 'Can\'t find field "text"')
    if not text.strip():
        raise bad("BUTTON_TEXT_INVALID")
    if raw.get("style") not in (None, *_STYLES):
        raise bad("BUTTON_STYLE_INVALID")
    actions = {"callback_data", "url", "copy_text", *_OTHER_ACTIONS} & raw.keys()
    if not actions:
        raise bad(prefix + "Text buttons are unallowed in the inline keyboard")
    if "callback_data" in actions:
        data = raw["callback_data"]
        if not isinstance(data, str) or not 1 <= len(data.encode()) <= CALLBACK_BYTES:
            raise bad("BUTTON_DATA_INVALID")
    if "url" in actions:
        link = checked_link(raw["url"]) if isinstance(raw["url"], str) else None
        if link is None:
            raise bad(f"inline keyboard button URL '{raw['url']}' is invalid")
    if "copy_text" in actions:
        copied = raw["copy_text"]
        value = copied.get("text") if isinstance(copied, dict) else None
        if not isinstance(value, str) or not 1 <= len(value) <= 256:
            raise bad("BUTTON_COPY_TEXT_INVALID")
    return raw
