"""The text of a call: parsed, measured and trimmed as the platform does it."""

from __future__ import annotations

from tests.servers.telegram.entities import Entity, detected, in_order, trimmed, units, validated
from tests.servers.telegram.errors import bad
from tests.servers.telegram.html import parse_html
from tests.servers.telegram.limits import TEXT_UNITS
from tests.servers.telegram.markdown import parse_markdown
from tests.servers.telegram.parameters import Parameters


def formatted(
    p: Parameters, *, too_long: str = "message is too long", may_be_empty: bool = False
) -> tuple[str, list[Entity]]:
    """Return text and entities of a call; raises Refusal.

    ``parse_mode`` wins over ``entities``. The length counts after parsing and trimming.
    """
    text = p.text("text")
    mode = p.text("parse_mode").lower()
    match mode:
        case "":
            raw = p.json("entities")
            entities = validated(text, raw) if raw is not None else []
        case "html":
            text, entities = parse_html(text)
        case "markdownv2":
            text, entities = parse_markdown(text)
        case _:
            raise bad("unsupported parse_mode")
    text, entities = trimmed(text, entities)
    if not text and not may_be_empty:
        raise bad("message text is empty")
    if units(text) > TEXT_UNITS:
        raise bad(too_long)
    return text, in_order([*entities, *detected(text, entities)])
