"""Words as people wrote them: mentions turned into names.

Offsets of the platform count UTF-16 code units, so every slice is cut there and not in Python's
code points: an emoji before a mention would shift it by one (F021).
"""

from __future__ import annotations

from collections.abc import Sequence

from aiogram.enums import MessageEntityType
from aiogram.types import MessageEntity

from bots.names import shown_name


def own_words(
    text: str, entities: Sequence[MessageEntity] | None, own_id: int, username: str
) -> tuple[str, bool]:
    """Return the text without our own mention, others' mentions as names; and whether we were
    mentioned.

    ``username`` is the bot's, without ``@``.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    mentioned = False
    for entity in sorted(entities or (), key=lambda entity: entity.offset, reverse=True):
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        if entity.type == MessageEntityType.TEXT_MENTION and entity.user is not None:
            ours = entity.user.id == own_id
            name = "" if ours else shown_name(entity.user.full_name)
        elif entity.type == MessageEntityType.MENTION:
            ours = _decoded(units[start:end]).casefold() == f"@{username}".casefold()
            name = ""
        else:
            continue
        if ours:
            mentioned = True
            units = _without(units[:start], units[end:])
        elif name:
            units = units[:start] + name.encode("utf-16-le") + units[end:]
    return _decoded(units).replace("\x00", "").strip(), mentioned


def _without(before: bytes, after: bytes) -> bytes:
    """Join what stood around our mention: no double space, no orphaned comma at the start."""
    rest = _decoded(after)
    if not _decoded(before).strip():
        return rest.lstrip(" ,:，：、").encode("utf-16-le", "surrogatepass")
    if _decoded(before)[-1].isspace():
        rest = rest.removeprefix(" ")
    return before + rest.encode("utf-16-le", "surrogatepass")


def _decoded(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")
