"""Text and its formatting as the platform stores them: offsets and lengths in UTF-16 units.

Broken bounds are refused in the platform's words. In one point this server is stricter: where
Telegram would silently throw away formatting that its rules forbid (anything inside or around
``code`` and ``pre``, links inside links), a request that sends such ``entities`` is refused, so
that a test sees what a learner would miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tests.servers.telegram.errors import bad, unparsable

Entity = dict[str, Any]

STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
CODE = frozenset({"code", "pre"})
FOUND_BY_TELEGRAM = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}
)
KNOWN = (
    STYLES
    | QUOTES
    | CODE
    | FOUND_BY_TELEGRAM
    | {"text_link", "text_mention", "custom_emoji", "date_time"}
)

_DETECTED = (
    ("bot_command", re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?")),
    ("mention", re.compile(r"(?<![\w@/])@[A-Za-z][A-Za-z0-9_]{2,31}")),
    ("hashtag", re.compile(r"(?<![\w#&])#(?=\w*[^\W\d_])\w{1,256}")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"(?<![\w@])https?://[^\s<>\"]*[^\s<>\".,;:!?)\]]")),
)
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}", re.UNICODE)


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, entity: Entity) -> str:
    """Return the part of a text that an entity covers."""
    raw = text.encode("utf-16-le", "surrogatepass")
    begin = entity["offset"] * 2
    return raw[begin : begin + entity["length"] * 2].decode("utf-16-le", "replace")


def checked_link(url: str) -> str | None:
    """Return a link as the platform keeps it, None when it does not take it for one."""
    url = url.strip()
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "http", url
    if scheme.lower() in ("tg", "ton", "tonsite"):
        return url
    host, slash, path = rest.partition("/")
    name = host.partition("?")[0].partition("#")[0].rpartition("@")[2].partition(":")[0]
    if scheme.lower() not in ("http", "https") or not _DOMAIN.fullmatch(name):
        return None
    if not slash:
        cut_at = min((i for i in (host.find("?"), host.find("#")) if i >= 0), default=len(host))
        host, path = host[:cut_at], host[cut_at:]
    return f"{scheme.lower()}://{host}/{path}"


def link_entity(offset: int, length: int, url: str) -> Entity | None:
    """Return a ``text_link`` or ``text_mention``, None for what is no link."""
    if mention := re.fullmatch(r"tg:(?://)?user\?id=(\d+)", url):
        return {
            "type": "text_mention",
            "offset": offset,
            "length": length,
            "user": {"id": int(mention[1]), "is_bot": False, "first_name": f"User {mention[1]}"},
        }
    link = checked_link(url)
    if link is None:
        return None
    return {"type": "text_link", "offset": offset, "length": length, "url": link}


def validated(text: str, raw: object) -> list[Entity]:
    """Return the entities of a request, or refuse them. ``raw`` is decoded JSON."""
    if not isinstance(raw, list):
        raise bad("expected an Array of MessageEntity")
    entities = [_one(entity) for entity in raw]
    entities = [entity for entity in entities if entity["type"] not in FOUND_BY_TELEGRAM]
    _check_bounds(text, entities)
    entities = [entity for entity in entities if entity["length"] > 0]
    _check_nesting(entities)
    return in_order(entities)


def _one(raw: object) -> Entity:
    if not isinstance(raw, dict):
        raise bad("can't parse MessageEntity: expected an Object")
    kind = raw.get("type")
    if kind not in KNOWN:
        raise bad("can't parse MessageEntity: Unsupported type specified")
    for name in ("offset", "length"):
        if not isinstance(raw.get(name), int) or isinstance(raw[name], bool):
            raise bad(f'can\'t parse MessageEntity: Field "{name}" must be a Number')
        if raw[name] < 0:
            raise bad(f"receive an entity with incorrect {name} {raw[name]}")
    entity: Entity = {"type": kind, "offset": raw["offset"], "length": raw["length"]}
    if kind == "text_link":
        if not isinstance(raw.get("url"), str):
            raise bad("can't parse MessageEntity: Can't find field \"url\"")
        link = checked_link(raw["url"])
        if link is None:
            raise bad(f"can't parse MessageEntity: wrong link {raw['url']!r}")
        entity["url"] = link
    for name, owner in (
        ("language", "pre"),
        ("user", "text_mention"),
        ("custom_emoji_id", "custom_emoji"),
        ("unix_time", "date_time"),
        ("date_time_format", "date_time"),
    ):
        if kind == owner and raw.get(name) is not None:
            entity[name] = raw[name]
    return entity


def _check_bounds(text: str, entities: Iterable[Entity]) -> None:
    borders: dict[int, int] = {}
    """UTF-16 offset of the start of each character to its byte offset."""
    at = byte = 0
    for character in text:
        borders[at] = byte
        at += 2 if character > "\uffff" else 1
        byte += len(character.encode("utf-8", "surrogatepass"))
    borders[at] = byte
    for entity in sorted(entities, key=lambda e: (e["offset"], -e["length"])):
        begin, end = entity["offset"], entity["offset"] + entity["length"]
        if begin > at or (begin == at and entity["length"]):
            raise bad(f"entity begins after the end of the text at UTF-16 offset {begin}")
        if begin not in borders:
            inside = borders[begin + 1]
            raise bad(f"entity begins in a middle of a UTF-16 symbol at byte offset {inside}")
        opening = f"entity beginning at UTF-16 offset {begin} ends "
        if end > at:
            raise bad(f"{opening}after the end of the text at UTF-16 offset {end}")
        if end not in borders:
            inside = borders[end + 1]
            raise bad(f"{opening}in a middle of a UTF-16 symbol at byte offset {inside}")


def _check_nesting(entities: list[Entity]) -> None:
    ordered = in_order(entities)
    for i, outer in enumerate(ordered):
        end = outer["offset"] + outer["length"]
        for inner in ordered[i + 1 :]:
            if inner["offset"] >= end:
                break
            pair = {outer["type"], inner["type"]}
            partial = inner["offset"] + inner["length"] > end
            twice_quoted = outer["type"] in QUOTES and inner["type"] in QUOTES
            solid = [kind for kind in (outer["type"], inner["type"]) if kind not in STYLES | QUOTES]
            if partial or twice_quoted or len(solid) > 1 or (pair & CODE and pair & STYLES):
                raise unparsable(
                    f"{inner['type']} at UTF-16 offset {inner['offset']} can't share "
                    f"characters with {outer['type']} at UTF-16 offset {outer['offset']}"
                )


def in_order(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities sorted as the platform returns them: by start, the longer first."""
    rank = {"blockquote": 0, "expandable_blockquote": 0}
    return sorted(
        entities, key=lambda e: (e["offset"], -e["length"], rank.get(e["type"], 1), e["type"])
    )


def without_style_in_code(entities: list[Entity]) -> list[Entity]:
    """Return entities with style taken off code, as the platform does after parsing markup."""
    taken = [(e["offset"], e["offset"] + e["length"]) for e in entities if e["type"] in CODE]
    result = []
    for entity in entities:
        pieces = [(entity["offset"], entity["offset"] + entity["length"])]
        if entity["type"] in STYLES:
            for begin, end in taken:
                pieces = [
                    piece
                    for a, b in pieces
                    for piece in ((a, min(b, begin)), (max(a, end), b))
                    if piece[0] < piece[1]
                ]
        result += [{**entity, "offset": a, "length": b - a} for a, b in pieces]
    return in_order(result)


def trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Return the text without white space at its ends, its entities moved and cut to match."""
    start = len(text) - len(text.lstrip())
    kept = text.strip()
    moved, end = units(text[:start]), units(kept)
    result = []
    for entity in entities:
        begin = max(0, entity["offset"] - moved)
        stop = min(end, entity["offset"] + entity["length"] - moved)
        if stop > begin:
            result.append({**entity, "offset": begin, "length": stop - begin})
    return kept, in_order(result)


def detected(text: str, taken: list[Entity]) -> list[Entity]:
    """Return the entities the platform finds by itself, outside of code and links."""
    blocked = [
        (e["offset"], e["offset"] + e["length"])
        for e in taken
        if e["type"] not in STYLES and e["type"] not in QUOTES
    ]
    found: list[Entity] = []
    for kind, pattern in _DETECTED:
        for match in pattern.finditer(text):
            begin = units(text[: match.start()])
            end = begin + units(match[0])
            if all(end <= a or begin >= b for a, b in blocked):
                found.append({"type": kind, "offset": begin, "length": end - begin})
                blocked.append((begin, end))
    return in_order(found)
