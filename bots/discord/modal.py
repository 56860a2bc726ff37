"""A form as the platform's modal, and what comes back when it is sent. Pure."""

from __future__ import annotations

from typing import Any, Final

from discord import Interaction
from discord.enums import InteractionType

from core.forms import Form

_LABEL: Final = 18
_TEXT_INPUT: Final = 4
_PARAGRAPH: Final = 2

LONGEST_TITLE: Final = 45
LONGEST_LABEL: Final = 45
LONGEST_VALUE: Final = 4000
"""Characters (Modal, Label, Text Input)."""


def modal(form: Form) -> dict[str, Any]:
    """Return the data of the response that opens a form."""
    return {
        "custom_id": form.action,
        "title": form.title[:LONGEST_TITLE],
        "components": [
            {
                "type": _LABEL,
                "label": field.label[:LONGEST_LABEL],
                "component": {
                    "type": _TEXT_INPUT,
                    "custom_id": str(number),
                    "style": _PARAGRAPH,
                    "value": field.value[: min(field.limit, LONGEST_VALUE)],
                    "min_length": 1,
                    "max_length": min(field.limit, LONGEST_VALUE),
                    "required": True,
                },
            }
            for number, field in enumerate(form.fields)
        ],
    }


def sent(interaction: Interaction[Any]) -> tuple[str, ...]:
    """Return what the fields of a sent form say, in their order; nothing for other presses."""
    if interaction.type is not InteractionType.modal_submit:
        return ()
    data: Any = interaction.data or {}
    fields = [row.get("component") or {} for row in data.get("components") or ()]
    fields = [field for field in fields if field.get("type") == _TEXT_INPUT]
    fields.sort(key=lambda field: int(field["custom_id"]))
    return tuple(str(field.get("value") or "").replace("\x00", "") for field in fields)
