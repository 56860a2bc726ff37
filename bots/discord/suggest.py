"""What the platform shows while a command's arguments are typed. Pure.

It is asked at every letter, by anybody: nothing but what the commands declare is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bots.discord.commands import ARGUMENTS
from core.commands.declare import Menu
from core.i18n import language_from

MOST: Final = 25
LONGEST: Final = 100
"""Characters of a suggestion, and of what it stands for."""


def suggestions(
    data: Mapping[str, Any], locale: str, menus: Sequence[Menu]
) -> list[dict[str, str]]:
    """Return what may follow, as the platform wants it; ``data`` is that of the interaction."""
    if not menus:
        return []
    first, name = menus[0], str(data.get("name", "")).lower()
    language = language_from(locale, language_from(first.language, "en"))
    menu = next((menu for menu in menus if menu.language == language), first)
    choices = dict(menu.choices).get(name)
    typed = [
        option
        for option in data.get("options", ())
        if option.get("focused") and option.get("name") == ARGUMENTS
    ]
    if choices is None or not typed:
        return []
    found = choices(str(typed[0].get("value", ""))[:LONGEST], menu.language)
    return [
        {"name": choice.label[:LONGEST], "value": choice.value}
        for choice in found
        if choice.label and 1 <= len(choice.value) <= LONGEST
    ][:MOST]
