"""``partners init``: which model answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from bots.command_line.checkup import problems
from bots.command_line.draft import Choice

if TYPE_CHECKING:
    from bots.command_line.draft import Draft
    from bots.findings import Finding

_MODEL: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PARTNERS_MODEL", "PARTNERS_LOCAL_MODEL")
"""What says together which model answers: where one is set, the others are set or unset too."""
_KEY: Final = frozenset({"OPENAI_API_KEY"})

_MOST_NAMES: Final = 30
"""Names of models that are shown; some providers have hundreds."""


def ask_for_model(draft: Draft) -> None:
    """Ask until a model answers, or until they want to go on without."""
    draft.person.say("", draft.words("The model that answers"))
    if not draft.may_change(_MODEL):
        return
    choice = Choice.AGAIN
    while choice is Choice.AGAIN:
        values = dict.fromkeys(_MODEL, "") | _wanted(draft)
        choice = draft.judged(_tried(draft, values))
        if choice is Choice.KEEP:
            draft.keep(values, _KEY)


def _wanted(draft: Draft) -> dict[str, str]:
    from core.llm.detect import detect_servers

    words, person = draft.words, draft.person
    servers = asyncio.run(detect_servers())
    person.say(
        "  1  " + words("a key of OpenAI, or of another provider"),
        "  2  " + words("a model server of your own, such as Ollama"),
        "  3  " + words("a GGUF file on this machine"),
        "  4  " + words("none yet: a small model that comes along, to try things out"),
    )
    for server in servers:
        said = words("{server} is running here: {url}", server=server.name, url=server.base_url)
        person.say(f"     {said}")
    while True:
        match person.line(words("Number"), "2" if servers else "1"):
            case "1":
                address = person.line(words("Address of the provider; Enter for OpenAI"))
                return _served(draft, address, person.secret(words("Key")))
            case "2":
                here = servers[0].base_url if servers else ""
                address = person.line(words("Address of the server"), here)
                return _served(draft, address, person.secret(words("Key; Enter if it wants none")))
            case "3":
                path = person.line(words("Path of the file")).strip("'\"")
                return {"PARTNERS_MODEL": "local", "PARTNERS_LOCAL_MODEL": path}
            case "4":
                return {"PARTNERS_MODEL": "local"}


def _served(draft: Draft, address: str, key: str) -> dict[str, str]:
    """Ask for the name, with those that the address knows."""
    from bots.command_line.model_check import first_access, models_of
    from core.settings import Settings, SettingsError

    values = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address}
    try:
        settings = Settings.load(None, dict.fromkeys(_MODEL, "") | values, draft.words)
    except SettingsError:
        names: list[str] = []  # said when it is tried
    else:
        names = asyncio.run(models_of(first_access(settings)))
    if names:
        shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
        draft.person.say(draft.words("It has: {models}.", models=shown))
    only = names[0] if len(names) == 1 else ""
    return {**values, "PARTNERS_MODEL": draft.person.line(draft.words("Name of the model"), only)}


def _tried(draft: Draft, values: Mapping[str, str]) -> list[Finding]:
    from bots.command_line.model_check import check_model, first_access
    from core.settings import Settings, SettingsError

    try:
        settings = Settings.load(None, values, draft.words)
    except SettingsError as error:
        return list(problems(error))
    draft.person.say(draft.words("Asking the model …"))
    return [asyncio.run(check_model(first_access(settings), draft.words))]
