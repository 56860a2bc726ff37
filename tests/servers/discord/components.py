"""Rules of buttons, selects, modals and the newer layout components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.servers.discord.errors import Path
from tests.servers.discord.form import Form
from tests.servers.discord.limits import (
    CUSTOM_ID,
    LABEL,
    MODAL_TITLE,
    OPTIONS,
    ROW_WIDTH,
    ROWS,
    V2_COMPONENTS,
    V2_TEXT,
)

ROW, BUTTON, SELECT, TEXT_INPUT = 1, 2, 3, 4
SELECTS = frozenset({3, 5, 6, 7, 8})
"""Of strings, users, roles, users and roles, channels."""
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR, CONTAINER, LABELLED = (
    9,
    10,
    11,
    12,
    13,
    14,
    17,
    18,
)
_TOP_V2 = frozenset({ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER})
_LINK, _PREMIUM = 5, 6
PLACEHOLDER = 150
OPTION_TEXT = 100
URL = 512
INPUT = 4000
"""Characters of a modal's text field."""


def every(components: object) -> Iterator[dict[str, Any]]:
    """Yield all components, those inside others too; what is no component is left out."""
    for component in components if isinstance(components, list) else ():
        if isinstance(component, dict):
            yield component
            yield from every(component.get("components"))
            yield from every([component.get("accessory"), component.get("component")])


def numbered(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return checked components, each with a number of its own as the platform gives it."""
    last = [0]
    return [_numbered(component, last) for component in components]


def check_components(form: Form, raw: object, *, layout: bool) -> list[dict[str, Any]]:
    """Return the components of a message; ``layout`` means the newer kind (flag 1 << 15)."""
    top = ("components",)
    kinds = _TOP_V2 if layout else frozenset({ROW})
    seen: set[str] = set()
    kept = []
    for path, component in form.items(top, raw, 0, V2_COMPONENTS if layout else ROWS):
        if _is_one_of(form, path, component, kinds):
            _check(form, path, component, seen)
            kept.append(component)
    if layout:
        _check_layout(form, top, kept)
    return kept


def check_modal(form: Form, data: dict[str, Any]) -> None:
    """Check the data of a modal: its title, its id and its fields."""
    form.text(("title",), data.get("title"), 1, MODAL_TITLE, required=True)
    form.text(("custom_id",), data.get("custom_id"), 1, CUSTOM_ID, required=True)
    seen: set[str] = set()
    for path, row in form.items(("components",), data.get("components"), 1, ROWS):
        if not _is_one_of(form, path, row, frozenset({ROW, TEXT, LABELLED})):
            continue
        if row["type"] == LABELLED:
            form.text((*path, "label"), row.get("label"), 1, 45, required=True)
            inner = form.mapping((*path, "component"), row.get("component"))
            if _is_one_of(form, (*path, "component"), inner, SELECTS | {TEXT_INPUT}):
                _check_field(form, (*path, "component"), inner, seen, labelled=True)
        elif row["type"] == ROW:
            for place, field in form.items((*path, "components"), row.get("components"), 1, 1):
                if _is_one_of(form, place, field, frozenset({TEXT_INPUT})):
                    _check_field(form, place, field, seen, labelled=False)


def _check_field(
    form: Form, path: Path, field: dict[str, Any], seen: set[str], *, labelled: bool
) -> None:
    if field["type"] in SELECTS:
        _check_select(form, path, field, seen)
        return
    _check_id(form, path, field, seen)
    if not labelled:
        form.text((*path, "label"), field.get("label"), 1, 45, required=True)
    form.choice((*path, "style"), field.get("style"), (1, 2))
    form.text((*path, "placeholder"), field.get("placeholder"), 0, 100)
    form.text((*path, "value"), field.get("value"), 0, INPUT)
    for bound, low in (("min_length", 0), ("max_length", 1)):
        if field.get(bound) is not None:
            form.number((*path, bound), field[bound], low, INPUT)


def _is_one_of(form: Form, path: Path, component: dict[str, Any], kinds: frozenset[int]) -> bool:
    kind = component.get("type")
    if type(kind) is int and kind in kinds:
        return True
    listed = ", ".join(map(str, sorted(kinds))) + ("," if len(kinds) == 1 else "")
    form.add(path, "UNION_TYPE_CHOICES", f'Value of field "type" must be one of ({listed}).')
    return False


def _check(form: Form, path: Path, component: dict[str, Any], seen: set[str]) -> None:
    match component["type"]:
        case 1:
            _check_row(form, path, component, seen)
        case 9:
            for place, inner in form.items(
                (*path, "components"), component.get("components"), 1, 3
            ):
                if _is_one_of(form, place, inner, frozenset({TEXT})):
                    _check(form, place, inner, seen)
            accessory = form.mapping((*path, "accessory"), component.get("accessory"))
            at = (*path, "accessory")
            if _is_one_of(form, at, accessory, frozenset({BUTTON, THUMBNAIL})):
                _check(form, at, accessory, seen)
        case 17:
            for place, inner in form.items(
                (*path, "components"), component.get("components"), 1, V2_COMPONENTS
            ):
                if _is_one_of(form, place, inner, _TOP_V2 - {CONTAINER}):
                    _check(form, place, inner, seen)
        case 10:
            form.text((*path, "content"), component.get("content"), 1, V2_TEXT, required=True)
        case 2:
            _check_button(form, path, component, seen)


def _check_row(form: Form, path: Path, row: dict[str, Any], seen: set[str]) -> None:
    width = 0
    for place, inner in form.items((*path, "components"), row.get("components"), 1, ROW_WIDTH):
        if not _is_one_of(form, place, inner, SELECTS | {BUTTON}):
            continue
        width += 1 if inner["type"] == BUTTON else ROW_WIDTH
        if width > ROW_WIDTH:
            form.add(
                place,
                "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                "The specified component exceeds the maximum width",
            )
        if inner["type"] == BUTTON:
            _check_button(form, place, inner, seen)
        else:
            _check_select(form, place, inner, seen)


def _check_id(form: Form, path: Path, component: dict[str, Any], seen: set[str]) -> None:
    given = component.get("custom_id")
    text = form.text((*path, "custom_id"), given, 1, CUSTOM_ID, required=True)
    if text and text in seen:
        form.add(
            (*path, "custom_id"),
            "COMPONENT_CUSTOM_ID_DUPLICATED",
            "Component custom id cannot be duplicated",
        )
    seen.add(text)


def _check_button(form: Form, path: Path, button: dict[str, Any], seen: set[str]) -> None:
    style = button.get("style")
    form.choice((*path, "style"), style, (1, 2, 3, 4, 5, 6))
    form.text((*path, "label"), button.get("label"), 0, LABEL)
    if style == _PREMIUM:
        return
    if not button.get("label") and not button.get("emoji"):
        form.missing((*path, "label"))
    if style == _LINK:
        link = form.text((*path, "url"), button.get("url"), 1, URL, required=True)
        if link and not link.startswith(("http://", "https://", "discord://")):
            form.add(
                (*path, "url"),
                "URL_TYPE_INVALID_SCHEME",
                f'Scheme "{link.partition(":")[0]}" is not supported. '
                "Scheme must be one of ('discord', 'http', 'https').",
            )
        if button.get("custom_id"):
            form.add(
                path,
                "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
                "A custom id and url cannot both be specified",
            )
    elif not button.get("custom_id"):
        form.add(
            (*path, "custom_id"), "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required"
        )
    else:
        _check_id(form, path, button, seen)


def _check_select(form: Form, path: Path, select: dict[str, Any], seen: set[str]) -> None:
    _check_id(form, path, select, seen)
    form.text((*path, "placeholder"), select.get("placeholder"), 0, PLACEHOLDER)
    for bound, low in (("min_values", 0), ("max_values", 1)):
        if select.get(bound) is not None:
            form.number((*path, bound), select[bound], low, OPTIONS)
    if select["type"] != SELECT:
        return
    values: set[str] = set()
    for place, option in form.items((*path, "options"), select.get("options"), 1, OPTIONS):
        form.text((*place, "label"), option.get("label"), 1, OPTION_TEXT, required=True)
        form.text((*place, "description"), option.get("description"), 0, OPTION_TEXT)
        value = form.text((*place, "value"), option.get("value"), 1, OPTION_TEXT, required=True)
        if value and value in values:
            form.add(
                (*place, "value"),
                "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                "The specified option value is already used",
            )
        values.add(value)


def _check_layout(form: Form, path: Path, components: list[dict[str, Any]]) -> None:
    found = list(every(components))
    if len(found) > V2_COMPONENTS:
        form.add(
            path,
            "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
            f"Total number of components cannot exceed {V2_COMPONENTS}",
        )
    if (
        sum(len(str(item.get("content", ""))) for item in found if item.get("type") == TEXT)
        > V2_TEXT
    ):
        form.add(
            path,
            "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
            f"Components displayable text size exceeds maximum size of {V2_TEXT}",
        )


def _numbered(component: dict[str, Any], last: list[int]) -> dict[str, Any]:
    last[0] += 1
    shown = {"id": last[0], **component}
    if isinstance(component.get("components"), list):
        shown["components"] = [_numbered(inner, last) for inner in component["components"]]
    return shown
