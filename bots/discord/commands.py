"""The command menu as the platform registers it. Pure: what is wanted, and whether it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from core.commands.declare import Menu

ARGUMENTS: Final = "text"
"""Name of the one option of a command that takes something."""

MOST_COMMANDS: Final = 100
LONGEST_DESCRIPTION: Final = 100

_CHAT_INPUT: Final = 1
_STRING: Final = 3
_EVERYWHERE: Final = [0, 1]
"""Contexts in which a command is offered: a server, the private chat with the bot."""

_LOCALES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("en-US", "en-GB"),
    "zh": ("zh-CN", "zh-TW"),
}
"""The platform's locales that a language of ours serves."""


def wanted(menus: Sequence[Menu]) -> list[dict[str, Any]]:
    """Return the application commands for menus; the first is for all other languages too."""
    if not menus:
        return []
    default, *others = menus
    usages = dict(default.usages)
    suggesting = {name for name, _ in default.choices}
    commands = []
    for name, description in default.entries[:MOST_COMMANDS]:
        command: dict[str, Any] = {
            "type": _CHAT_INPUT,
            "name": name,
            "description": description[:LONGEST_DESCRIPTION],
            "description_localizations": _localized(
                (menu.language, dict(menu.entries).get(name)) for menu in others
            ),
            "contexts": _EVERYWHERE,
            "integration_types": [0],
            "options": [],
        }
        if name in usages:
            option = {
                "type": _STRING,
                "name": ARGUMENTS,
                "description": usages[name][:LONGEST_DESCRIPTION],
                "description_localizations": _localized(
                    (menu.language, dict(menu.usages).get(name)) for menu in others
                ),
                "required": False,
                "autocomplete": name in suggesting,
            }
            command["options"].append(option)
        commands.append(command)
    return commands


def same(registered: Sequence[Mapping[str, Any]], commands: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the platform has exactly these commands, whatever it adds to each."""
    return _essence(registered) == _essence(commands)


def _localized(texts: Iterator[tuple[str, str | None]]) -> dict[str, str]:
    return {
        locale: text[:LONGEST_DESCRIPTION]
        for language, text in texts
        if text
        for locale in _LOCALES.get(language, ())
    }


def _essence(commands: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    return sorted(
        (
            command.get("type", _CHAT_INPUT),
            *_texts(command),
            tuple(sorted(command.get("contexts") or ())),
            tuple(
                (
                    option["type"],
                    *_texts(option),
                    bool(option.get("required")),
                    bool(option.get("autocomplete")),
                )
                for option in command.get("options") or ()
            ),
        )
        for command in commands
    )


def _texts(item: Mapping[str, Any]) -> tuple[object, ...]:
    localized = item.get("description_localizations") or {}
    return (item["name"], item.get("description", ""), tuple(sorted(localized.items())))
