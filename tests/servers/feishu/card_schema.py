"""What a card JSON 2.0 may contain: every attribute the platform documents, by component.

An attribute that is not listed makes the platform refuse the whole card.
"""

from __future__ import annotations

ROOT = frozenset({"schema", "config", "card_link", "header", "body"})
CONFIG = frozenset(
    {
        "streaming_mode",
        "streaming_config",
        "summary",
        "locales",
        "enable_forward",
        "update_multi",
        "width_mode",
        "use_custom_translation",
        "enable_forward_interaction",
        "style",
    }
)
HEADER = frozenset(
    {
        "title",
        "subtitle",
        "text_tag_list",
        "i18n_text_tag_list",
        "template",
        "icon",
        "padding",
    }
)
_LAYOUT = frozenset(
    {
        "direction",
        "padding",
        "horizontal_spacing",
        "horizontal_align",
        "vertical_spacing",
        "vertical_align",
    }
)
BODY = _LAYOUT | {"elements"}
_ANY = frozenset({"tag", "element_id", "margin"})
_TEXT = frozenset(
    {"tag", "element_id", "content", "i18n_content", "text_size", "text_color", "text_align"}
) | {"lines"}
_INPUT = _ANY | {"name", "required", "disabled", "disabled_tips", "width", "behaviors", "confirm"}

COMPONENTS: dict[str, frozenset[str]] = {
    "button": _INPUT | {"text", "type", "size", "icon", "hover_tips", "form_action_type"},
    "checker": _INPUT
    | {
        "checked",
        "text",
        "overall_checkable",
        "button_area",
        "checked_style",
        "padding",
        "hover_tips",
    },
    "collapsible_panel": _ANY
    | _LAYOUT
    | {"expanded", "background_color", "header", "border", "elements"},
    "column": _ANY | _LAYOUT | {"width", "weight", "background_style", "elements", "action"},
    "column_set": _ANY
    | {"flex_mode", "horizontal_spacing", "horizontal_align", "background_style"}
    | {"columns", "action"},
    "date_picker": _INPUT | {"placeholder", "initial_date"},
    "div": _ANY | {"text", "icon", "width"},
    "form": _ANY | _LAYOUT | {"name", "elements"},
    "hr": _ANY,
    "img": _ANY
    | {"img_key", "alt", "title", "corner_radius", "scale_type", "size", "transparent", "preview"},
    "img_combination": _ANY
    | {"combination_mode", "combination_transparent", "corner_radius", "img_list"},
    "input": _INPUT
    | {"placeholder", "default_value", "max_length", "input_type", "show_icon", "rows"}
    | {"auto_resize", "max_rows", "label", "label_position", "fallback"},
    "interactive_container": _ANY
    | _LAYOUT
    | {"width", "height", "background_style", "has_border", "border_color", "corner_radius"}
    | {"behaviors", "disabled", "disabled_tips", "hover_tips", "confirm", "elements"},
    "lark_md": _TEXT,
    "markdown": _ANY | {"content", "i18n_content", "text_align", "text_size", "icon"},
    "multi_select_static": _INPUT | {"type", "placeholder", "selected_values", "options"},
    "overflow": _ANY | {"width", "options", "confirm", "disabled", "value"},
    "person": _ANY | {"user_id", "size", "show_avatar", "show_name", "style"},
    "person_list": _ANY
    | {"persons", "size", "lines", "show_avatar", "show_name", "drop_invalid_user_id", "icon"},
    "plain_text": _TEXT,
    "select_static": _INPUT | {"type", "placeholder", "initial_index", "initial_option", "options"},
    "table": _ANY
    | {"page_size", "row_height", "row_max_height", "freeze_first_column", "header_style"}
    | {"columns", "rows"},
    "text_tag": frozenset({"tag", "element_id", "text", "color"}),
    "standard_icon": frozenset({"tag", "token", "color", "size"}),
    "custom_icon": frozenset({"tag", "img_key", "size"}),
}
TEXTS = frozenset({"plain_text", "lark_md"})
PARTS = TEXTS | {"column", "text_tag", "standard_icon", "custom_icon"}
"""Tags that are parts of components, not components."""
CONTAINERS = frozenset(
    {"collapsible_panel", "column_set", "column", "form", "interactive_container"}
)
GONE = frozenset({"action", "note", "fields"})
"""Components of JSON 1.0 that 2.0 no longer knows."""
REQUIRED: dict[str, tuple[str, ...]] = {
    "form": ("name", "elements"),
    "img": ("img_key",),
    "input": (),
    "interactive_container": ("elements",),
    "lark_md": ("content",),
    "markdown": ("content",),
    "plain_text": ("content",),
    "table": ("columns", "rows"),
    "column_set": ("columns",),
    "collapsible_panel": ("header", "elements"),
}
TABLE_COLUMN = frozenset(
    {
        "name",
        "display_name",
        "width",
        "vertical_align",
        "horizontal_align",
        "data_type",
        "format",
        "date_format",
    }
)
CELL_TYPES = frozenset({"text", "lark_md", "options", "number", "persons", "date", "markdown"})
BUTTON_TYPES = frozenset(
    {
        "default",
        "primary",
        "danger",
        "text",
        "primary_text",
        "danger_text",
        "primary_filled",
        "danger_filled",
        "laser",
    }
)
TEMPLATES = frozenset(
    {
        "blue",
        "wathet",
        "turquoise",
        "green",
        "yellow",
        "orange",
        "red",
        "carmine",
        "violet",
        "purple",
        "indigo",
        "grey",
        "default",
    }
)
BEHAVIORS: dict[str, frozenset[str]] = {
    "callback": frozenset({"type", "value"}),
    "open_url": frozenset({"type", "default_url", "pc_url", "ios_url", "android_url"}),
}
