"""What a message says, in words: texts and posts read, placeholders turned into names.

Mentions stand in the text as ``@_user_1``; the entries beside the text tell whom each one means
(F059, F062). Pure: everything comes from the JSON of one message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bots.names import shown_name

_KEY: Final = re.compile(r"@_user_\d+|@_all")
_ALL: Final = "@_all"
_AFTER_MENTION: Final = " ,:，：、"


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a message: ours taken out of them, others' names put in."""

    text: str
    """Empty when there is nothing to read (a post that holds only pictures, say)."""
    mentioned: bool
    """The tutor is among those mentioned."""
    for_another: bool = False
    """It begins with the mention of somebody else."""


def said(
    kind: str, content: object, mentions: object, own_id: str, *, all_means_us: bool = False
) -> Said | None:
    """Return the words of a text, a post or a card; None for everything else.

    ``content`` is the JSON string of a message, ``mentions`` its list of entries, ``own_id`` the
    bot's open_id: nothing but that exact id is a mention of us (F064), and ``@all`` only where
    ``all_means_us`` (F065). That is listed among the mentions or stands in the text alone (F066).
    """
    try:
        value = json.loads(content) if isinstance(content, str) else None
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    names = _names(mentions, own_id)
    all_listed = _ALL in names
    names[_ALL] = None if all_means_us else "@all"
    match kind:
        case "text":
            text = str(value.get("text") or "")
        case "post":
            text = _post(_unwrapped(value), names, own_id)
        case "interactive":
            text = _post({**value, "content": value.get("elements")}, names, own_id)
        case _:
            return None
    text = text.replace("\x00", "").strip()
    first = _KEY.match(text)
    for_another = first is not None and first[0] != _ALL and names.get(first[0]) is not None
    mentioned = any(name is None for key, name in names.items() if key != _ALL)
    mentioned |= all_means_us and (all_listed or _ALL in text)
    return Said(_resolved(text, names).strip(), mentioned, for_another)


def _names(mentions: object, own_id: str) -> dict[str, str | None]:
    """Return the name behind every placeholder; None is ourselves."""
    names: dict[str, str | None] = {}
    for entry in mentions if isinstance(mentions, list) else []:
        if not isinstance(entry, dict):
            continue
        given = entry.get("id")  # an object in events, a string in looked-up messages
        open_id = given.get("open_id") if isinstance(given, dict) else given
        name = shown_name(str(entry.get("name") or "")) or "?"
        names[str(entry.get("key"))] = None if own_id and open_id == own_id else f"@{name}"
    return names


def _resolved(text: str, names: Mapping[str, str | None]) -> str:
    """Put names in the place of placeholders; ``@_user_1`` is no part of ``@_user_10`` (F061)."""
    result = ""
    at = 0
    for found in _KEY.finditer(text):
        if found[0] not in names:
            continue  # typed by hand
        result += text[at : found.start()]
        at = found.end()
        name = names[found[0]]
        if name is not None:
            result += name
        elif not result.strip():
            at += len(text[at:]) - len(text[at:].lstrip(_AFTER_MENTION))
        elif result[-1].isspace() and text[at : at + 1] == " ":
            at += 1
    return result + text[at:]


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Take the language level away, where there is one (F063)."""
    while "content" not in value and "title" not in value:
        inner = next((one for one in value.values() if isinstance(one, dict)), None)
        if inner is None:
            return {}
        value = inner
    return value


def _post(value: Mapping[str, Any], names: dict[str, str | None], own_id: str) -> str:
    lines = [str(value.get("title") or "")]
    rows = value.get("content")
    for row in rows if isinstance(rows, list) else []:
        elements = row if isinstance(row, list) else [row]
        lines.append("".join(_element(one, names, own_id) for one in elements))
    return "\n".join(lines).strip("\n")


def _element(element: object, names: dict[str, str | None], own_id: str) -> str:
    if not isinstance(element, dict):
        return ""
    text = str(element.get("text") or "")
    match element.get("tag"):
        case "text" | "md":
            return text
        case "a":
            href = str(element.get("href") or "")
            return text if not href or href == text else f"{text} ({href})"
        case "at":
            return _mention(element, names, own_id)
        case "emotion":
            return f"[{element.get('emoji_type') or ''}]"
        case "code_block":
            language = str(element.get("language") or "").lower()
            return f"\n```{language}\n{text.rstrip()}\n```\n"
        case "hr":
            return "\n---\n"
        case _:
            return ""


def _mention(element: Mapping[str, Any], names: dict[str, str | None], own_id: str) -> str:
    """Return a placeholder for an ``at`` element, which holds one or, at times, an open_id."""
    user = str(element.get("user_id") or "")
    if user in ("all", _ALL):
        return _ALL
    if user not in names:
        ours = bool(own_id) and user == own_id
        name = shown_name(str(element.get("user_name") or "")) or "?"
        user = f"@_user_{1000 + len(names)}"
        names[user] = None if ours else f"@{name}"
    return user
