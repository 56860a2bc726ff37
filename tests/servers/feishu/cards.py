"""Checking a card as the platform does before it takes it, and reading what a card shows.

``check`` raises CardRefusal with the platform's own code: 200621 for what is not a card (unknown
attributes among it), 200861 for components JSON 2.0 dropped, 11310 for too many tables or elements,
300301 for an element id used twice, 200570 and 100290 for images and people that do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.servers.feishu import card_schema as schema
from tests.servers.feishu.errors import CardRefusal
from tests.servers.feishu.limits import CARD_DEPTH, CARD_ELEMENTS, CARD_TABLES
from tests.servers.feishu.tables import check_table, markdown_tables

Card = dict[str, Any]

_ELEMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")
_MENTION = re.compile(r"<at\s+(?:id|ids|user_id)=[\"']?([\w,-]+)[\"']?\s*(?:/>|>\s*</at>|>)")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(slots=True)
class Known:
    """What a card may refer to."""

    image: Callable[[str], bool]
    person: Callable[[str], bool]


@dataclass(slots=True)
class _Count:
    elements: int = 0
    tables: int = 0
    ids: set[str] = field(default_factory=set)


def is_new(card: Card) -> bool:
    """Tell whether a card declares JSON 2.0."""
    return card.get("schema") == "2.0"


def check(card: object, known: Known) -> None:
    """Refuse a card that JSON 2.0 does not allow; a card of JSON 1.0 is hardly looked at.

    1.0 ignores what it does not know; the platform still takes such cards.
    """
    if not isinstance(card, dict):
        raise broken("the card is no object")
    if "schema" not in card and ("elements" in card or "i18n_elements" in card or not card):
        return
    if card.get("schema") != "2.0":
        raise broken(f"unknown schema: {card.get('schema')}")
    _only(card, schema.ROOT, "")
    config = _object(card.get("config", {}), "config")
    _only(config, schema.CONFIG, "config")
    if config.get("update_multi") is False:
        raise CardRefusal(300302, "update_multi property is false")
    count = _Count()
    if "header" in card:
        _check_header(_object(card["header"], "header"), count)
    body = _object(card.get("body", {}), "body")
    _only(body, schema.BODY, "body")
    for number, element in enumerate(_list(body.get("elements", []), "body -> elements")):
        _check_element(element, f"ROOT -> body -> elements -> [{number}]", 0, False, known, count)
    if count.tables > CARD_TABLES:
        raise CardRefusal(11310, "card table number over limit", "table")
    if count.elements > CARD_ELEMENTS:
        raise CardRefusal(11310, "element exceeds the limit")


def broken(what: str) -> CardRefusal:
    """Return the refusal of something that is not a card."""
    return CardRefusal(
        200621, "parse card json err, please check whether the card json is correct", what
    )


def walk(node: object) -> Iterator[dict[str, Any]]:
    """Yield every object with a tag inside a card, in reading order."""
    if isinstance(node, dict):
        if isinstance(node.get("tag"), str):
            yield node
        for name, value in node.items():
            if name not in ("value", "rows"):
                yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def shown_text(card: Card) -> str:
    """Return what a card says in words: titles, texts, markdown and table cells, line by line."""
    header = card.get("header", {})
    titles = [header[name] for name in ("title", "subtitle") if name in header]
    lines = [str(title.get("content", "")) for title in titles]
    for part in walk(card.get("body", card.get("elements", []))):
        if part["tag"] == "table":
            columns = part["columns"]
            rows = [[column.get("display_name", "") for column in columns]]
            rows += [[row.get(column["name"], "") for column in columns] for row in part["rows"]]
            lines += [" | ".join(map(str, row)) for row in rows]
        elif part["tag"] in ("markdown", "plain_text", "lark_md"):
            lines.append(str(part.get("content", "")))
    return "\n".join(lines)


def buttons(card: Card) -> list[dict[str, Any]]:
    """Return a card's buttons in reading order."""
    return [part for part in walk(card) if part["tag"] == "button"]


def label(button: dict[str, Any]) -> str:
    """Return what is written on a button."""
    return str(button.get("text", {}).get("content", ""))


def value(button: dict[str, Any]) -> Any:
    """Return what a button sends back, None when it sends nothing."""
    for behavior in button.get("behaviors", []):
        if behavior.get("type") == "callback":
            return behavior.get("value")
    # JSON 1.0 keeps it on the button itself.
    return button.get("value")


def find_element(card: Card, element_id: str) -> dict[str, Any] | None:
    """Return the element with this id."""
    return next((part for part in walk(card) if part.get("element_id") == element_id), None)


def _check_header(header: dict[str, Any], count: _Count) -> None:
    _only(header, schema.HEADER, "header")
    if str(header.get("template", "default")) not in schema.TEMPLATES:
        raise broken(f"unknown template: {header['template']}")
    for name in ("title", "subtitle"):
        if name in header:
            _check_text(header[name], f"header -> {name}", count)
    tags = _list(header.get("text_tag_list", []), "header -> text_tag_list")
    if len(tags) > 3:
        raise broken("more than 3 text tags")
    for tag in tags:
        _tagged(tag, "header -> text_tag_list", count)


def _check_element(
    element: object, path: str, depth: int, in_form: bool, known: Known, count: _Count
) -> None:
    part = _tagged(element, path, count)
    tag = part["tag"]
    here = f"{path}(tag: {tag})"
    if tag in schema.PARTS and tag != "column":
        raise CardRefusal(11310, f"not support tag: {tag}", tag, here)
    if tag in schema.CONTAINERS and tag != "column":
        depth += 1
        if depth > CARD_DEPTH:
            raise broken(f"containers nested deeper than {CARD_DEPTH}, path: [{here}]")
    match tag:
        case "markdown":
            text = str(part["content"])
            count.tables += markdown_tables(text)
            _check_references(text, known)
        case "div" | "button":
            _check_labelled(part, here, known, count)
            if tag == "button":
                _check_button(part, here, in_form)
        case "img":
            if not known.image(str(part["img_key"])):
                raise _no_image(str(part["img_key"]))
        case "table":
            if depth:
                raise broken(f"a table is only allowed at the root, path: [{here}]")
            count.tables += 1
            check_table(part, here, broken)
        case "form":
            if in_form:
                raise broken(f"a form inside a form, path: [{here}]")
            in_form = True
    for name in ("elements", "columns"):
        if tag != "table" and name in part:
            for number, child in enumerate(_list(part[name], f"{here} -> {name}")):
                inside = f"{here} -> {name} -> [{number}]"
                if tag == "column_set" and _object(child, inside).get("tag") != "column":
                    raise broken(f"a column set holds columns only, path: [{inside}]")
                _check_element(child, inside, depth, in_form, known, count)


def _check_labelled(part: dict[str, Any], path: str, known: Known, count: _Count) -> None:
    if "text" in part:
        _check_text(part["text"], f"{path} -> text", count)
        if part["text"]["tag"] == "lark_md":
            _check_references(str(part["text"]["content"]), known)
    for name in ("hover_tips", "disabled_tips"):
        if name in part:
            _check_text(part[name], f"{path} -> {name}", count)


def _check_button(button: dict[str, Any], path: str, in_form: bool) -> None:
    if str(button.get("type", "default")) not in schema.BUTTON_TYPES:
        raise broken(f"unknown button type: {button['type']}, path: [{path}]")
    if "form_action_type" in button and not in_form:
        raise broken(f"form_action_type outside a form, path: [{path}]")
    if in_form and not button.get("name"):
        raise broken(f"a button in a form needs a name, path: [{path}]")
    for behavior in _list(button.get("behaviors", []), f"{path} -> behaviors"):
        kind = str(_object(behavior, f"{path} -> behaviors").get("type"))
        if kind not in schema.BEHAVIORS:
            raise broken(f"unknown behavior: {kind}, path: [{path}]")
        _only(behavior, schema.BEHAVIORS[kind], f"{path} -> behaviors")
        if kind == "callback" and not isinstance(behavior.get("value"), (dict, str)):
            raise broken(f"a callback's value is an object or a string, path: [{path}]")
        if kind == "open_url" and not behavior.get("default_url"):
            raise broken(f"open_url without default_url, path: [{path}]")


def _check_text(text: object, path: str, count: _Count) -> None:
    part = _tagged(text, path, count)
    if part["tag"] not in schema.TEXTS:
        raise broken(f"{part['tag']} is no text, path: [{path}]")


def _check_references(text: str, known: Known) -> None:
    for found in _IMAGE.finditer(text):
        if not known.image(found[1]):
            raise _no_image(found[1])
    for found in _MENTION.finditer(text):
        for person in found[1].split(","):
            if person != "all" and not known.person(person):
                raise CardRefusal(
                    100290, "There is an invalid user resource(at/person) in your card", person
                )


def _tagged(node: object, path: str, count: _Count) -> dict[str, Any]:
    part = _object(node, path)
    tag = str(part.get("tag"))
    if tag in schema.GONE:
        raise CardRefusal(
            200861,
            "cards of schema V2 no longer support this capability",
            f"unsupported tag {tag}",
            f"{path}(tag: {tag})",
        )
    if tag not in schema.COMPONENTS:
        raise CardRefusal(11310, f"not support tag: {tag}", tag, path)
    _only(part, schema.COMPONENTS[tag], path)
    for name in schema.REQUIRED.get(tag, ()):
        if name not in part:
            raise broken(f"{tag} without {name}, path: [{path}]")
    if "content" in part and not isinstance(part["content"], str):
        raise broken(f"content is no string, path: [{path}]")
    if "element_id" in part:
        element_id = str(part["element_id"])
        if not _ELEMENT_ID.fullmatch(element_id):
            raise broken(f"bad element_id: {element_id}, path: [{path}]")
        if element_id in count.ids:
            raise CardRefusal(300301, "Duplicate element_id in card component.", element_id)
        count.ids.add(element_id)
    count.elements += 1
    return part


def _only(part: dict[str, Any], allowed: frozenset[str], path: str) -> None:
    for name in part:
        if name not in allowed:
            raise broken(f"unknown property: {name}, path: [{path}]")


def _object(node: object, path: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise broken(f"an object is expected, path: [{path}]")
    return node


def _list(node: object, path: str) -> list[Any]:
    if not isinstance(node, list):
        raise broken(f"a list is expected, path: [{path}]")
    return node


def _no_image(key: str) -> CardRefusal:
    return CardRefusal(200570, "card contains invalid image keys", f"image key {key}")
