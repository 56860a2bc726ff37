"""Application commands: the rules of their registration and the options people give."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.servers.discord.errors import Path
from tests.servers.discord.form import Form
from tests.servers.discord.limits import (
    COMMAND_DESCRIPTION,
    COMMAND_NAME,
    COMMAND_TOTAL,
    OPTIONS,
)

if TYPE_CHECKING:
    from tests.servers.discord.chats import Chat

CHAT_INPUT, USER_MENU, MESSAGE_MENU = 1, 2, 3
SUBCOMMAND, GROUP = 1, 2
STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(3, 12)
_NAME = re.compile(r"[-_'\w]{1,32}")
_LOCALES = frozenset(
    {
        *("id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu"),
        *("nl", "no", "pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru"),
        *("uk", "hi", "th", "zh-CN", "ja", "zh-TW", "ko"),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One registered command."""

    command_id: int
    version: int
    guild_id: int | None
    data: dict[str, Any]

    @property
    def key(self) -> tuple[int, str]:
        """Type and name, which are unique in a scope."""
        return self.data.get("type", CHAT_INPUT), self.data["name"]

    def usable(self, chat: Chat) -> bool:
        """Tell whether an app offers it in this chat."""
        contexts = self.data.get("contexts")
        if contexts is None:
            return chat.guild is not None or self.data.get("dm_permission", True) is not False
        return (0 if chat.guild is not None else 1) in contexts

    def json(self, application_id: int) -> dict[str, Any]:
        """Return the ApplicationCommand object."""
        data = {
            "default_member_permissions": None,
            "nsfw": False,
            "integration_types": [0],
            "contexts": None,
            "dm_permission": True,
            "name_localizations": None,
            "description_localizations": None,
            "description": "",
            "type": CHAT_INPUT,
            **self.data,
            "id": str(self.command_id),
            "application_id": str(application_id),
            "version": str(self.version),
        }
        return data if self.guild_id is None else {**data, "guild_id": str(self.guild_id)}


def check_command(form: Form, path: Path, command: dict[str, Any]) -> None:
    """Check one command of a registration."""
    kind = command.get("type", CHAT_INPUT)
    form.choice((*path, "type"), kind, (CHAT_INPUT, USER_MENU, MESSAGE_MENU))
    _check_name(form, path, command, strict=kind == CHAT_INPUT)
    if kind == CHAT_INPUT:
        _check_description(form, path, command)
        _check_options(form, path, command.get("options"), depth=0)
    elif command.get("description"):
        form.add(
            (*path, "description"),
            "APPLICATION_COMMAND_INVALID_DESCRIPTION",
            "Context menu commands cannot have a description",
        )
    if _size(command) > COMMAND_TOTAL:
        form.add(
            path,
            "APPLICATION_COMMAND_TOO_LARGE",
            f"Command exceeds maximum size ({COMMAND_TOTAL})",
        )


def _check_name(form: Form, path: Path, item: dict[str, Any], *, strict: bool) -> None:
    at = (*path, "name")
    names = {at: form.text(at, item.get("name"), 1, COMMAND_NAME, required=True)}
    translated = form.mapping((*path, "name_localizations"), item.get("name_localizations"))
    for locale, text in translated.items():
        where = (*path, "name_localizations", locale)
        _check_locale(form, where, locale)
        names[where] = form.text(where, text, 1, COMMAND_NAME)
    for where, name in names.items():
        if strict and name and (not _NAME.fullmatch(name) or name != name.lower()):
            form.add(where, "APPLICATION_COMMAND_INVALID_NAME", f'Command name "{name}" is invalid')


def _check_description(form: Form, path: Path, item: dict[str, Any]) -> None:
    at = (*path, "description")
    form.text(at, item.get("description"), 1, COMMAND_DESCRIPTION, required=True)
    field = "description_localizations"
    for locale, text in form.mapping((*path, field), item.get(field)).items():
        _check_locale(form, (*path, field, locale), locale)
        form.text((*path, field, locale), text, 1, COMMAND_DESCRIPTION)


def _check_locale(form: Form, path: Path, locale: str) -> None:
    if locale not in _LOCALES:
        form.add(path, "APPLICATION_COMMAND_INVALID_LOCALE", f'Locale "{locale}" is invalid')


def _check_options(form: Form, path: Path, raw: object, *, depth: int) -> None:
    seen: set[str] = set()
    optional_before = False
    at = (*path, "options")
    for place, option in form.items(at, raw, 0, OPTIONS):
        kind = option.get("type")
        form.choice((*place, "type"), kind, range(1, 12))
        _check_name(form, place, option, strict=True)
        _check_description(form, place, option)
        if str(option.get("name")) in seen:
            form.add(
                at,
                "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATED",
                "Option names must be unique",
            )
        seen.add(str(option.get("name")))
        if option.get("required") and optional_before:
            form.add(
                place,
                "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                "Required options must be placed before non-required options",
            )
        optional_before = optional_before or not option.get("required")
        if kind in (SUBCOMMAND, GROUP):
            if depth > 1 or (kind == GROUP and depth > 0):
                form.add(
                    place,
                    "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                    "Sub-command groups cannot be nested",
                )
            _check_options(form, place, option.get("options"), depth=depth + 1)
        _check_choices(form, place, option)


def _check_choices(form: Form, path: Path, option: dict[str, Any]) -> None:
    choices = option.get("choices")
    if choices and option.get("autocomplete"):
        form.add(
            path,
            "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_INVALID",
            "Autocomplete cannot be used together with choices",
        )
    check_choices(form, (*path, "choices"), choices)


def check_choices(form: Form, path: Path, raw: object) -> None:
    """Check the choices of an option or an autocompletion."""
    for place, choice in form.items(path, raw, 0, OPTIONS):
        form.text((*place, "name"), choice.get("name"), 1, 100, required=True)
        value = choice.get("value")
        if value is None:
            form.missing((*place, "value"))
        elif isinstance(value, str):
            form.length((*place, "value"), len(value), 1, 100)


def _size(item: dict[str, Any]) -> int:
    """Return the characters that count against the size of a command: of each the longest."""
    total = 0
    for field in ("name", "description"):
        translated = item.get(f"{field}_localizations")
        texts = [item.get(field), *(translated.values() if isinstance(translated, dict) else ())]
        total += max((len(text) for text in texts if isinstance(text, str)), default=0)
    for field in ("options", "choices"):
        listed = item.get(field)
        for inner in listed if isinstance(listed, list) else ():
            if isinstance(inner, dict):
                value = inner.get("value")
                total += _size(inner) + (len(value) if isinstance(value, str) else 0)
    return total


def filled(
    options: list[dict[str, Any]], given: Mapping[str, object], partly: str | None
) -> list[dict[str, Any]]:
    """Return options as an interaction carries them; ``partly`` names the one being typed.

    Raises ValueError for what an app would not send.
    """
    known = {option["name"]: option for option in options}
    if unknown := given.keys() - known.keys():
        raise ValueError(f"the command has no option {sorted(unknown)}, only {sorted(known)}")
    sent = []
    for name, option in known.items():
        if name not in given:
            if option.get("required") and partly is None:
                raise ValueError(f"option {name!r} is required")
            continue
        item = {"name": name, "type": option["type"], "value": given[name]}
        if name == partly:
            item["focused"] = True
        else:
            item["value"] = _value(option, given[name])
        sent.append(item)
    return sent


def _value(option: dict[str, Any], value: object) -> object:
    kind, name = option["type"], option["name"]
    if kind in (USER, CHANNEL, ROLE, MENTIONABLE):
        return str(getattr(value, "id", value))
    wanted: dict[int, type | tuple[type, ...]] = {
        STRING: str,
        INTEGER: int,
        BOOLEAN: bool,
        NUMBER: (int, float),
    }
    if kind in wanted and (
        not isinstance(value, wanted[kind]) or (kind != BOOLEAN and isinstance(value, bool))
    ):
        raise ValueError(f"option {name!r} does not take {value!r}")
    choices = option.get("choices")
    if choices and value not in [choice["value"] for choice in choices]:
        raise ValueError(f"option {name!r} has no choice {value!r}: {json.dumps(choices)}")
    measured = len(value) if isinstance(value, str) else value
    low, high = (
        option.get(f"{end}_{'length' if kind == STRING else 'value'}") for end in ("min", "max")
    )
    if isinstance(measured, (int, float)) and not isinstance(value, bool):
        if low is not None and measured < low:
            raise ValueError(f"option {name!r} is below {low}")
        if high is not None and measured > high:
            raise ValueError(f"option {name!r} is above {high}")
    return value
