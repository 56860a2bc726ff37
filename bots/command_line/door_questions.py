"""``partners init``: which chat apps, and who looks after the tutor there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bots.command_line.checkup import problems
from bots.command_line.doctor import ask
from bots.command_line.draft import Choice

if TYPE_CHECKING:
    from bots.command_line.draft import Draft
    from bots.doors import Kind
    from bots.findings import Finding

_OWNERS = "PARTNERS_OWNERS"


def ask_for_doors(draft: Draft) -> None:
    """Ask for each chat app there is, then for the owners where one is set up."""
    from bots.doors import KINDS
    from core.environment import variable

    draft.person.say("", draft.words("Chat apps"))
    has_door = False
    for name, kind in KINDS.items():
        _ask_for_door(draft, name, kind)
        has_door |= all(draft.value(variable(kind.GROUP, need)) for need in kind.NEEDS.values())
    if has_door:
        _ask_for_owners(draft)


def _ask_for_door(draft: Draft, name: str, kind: Kind) -> None:
    from core.environment import secrets, variable

    words, person = draft.words, draft.person
    secret = secrets(kind.GROUP)
    names = [variable(kind.GROUP, field) for field in kind.NEEDS.values()]
    if any(one in draft.present for one in names):
        if not draft.may_change(names):
            return
    elif not person.yes(words("Do you have a bot for {app}?", app=kind.TITLE), default=False):
        return
    person.say(words(kind.HOW))
    choice = Choice.AGAIN
    while choice is Choice.AGAIN:
        values: dict[str, str] = {}
        for field in kind.ASKS:
            one = variable(kind.GROUP, field)
            optional = field not in kind.NEEDS.values()
            question = words("{name}; Enter to leave it out", name=one) if optional else one
            values[one] = person.secret(question) if one in secret else person.line(question)
        if not any(values.values()):
            return
        choice = draft.judged(_tried(draft, name, kind, values))
        if choice is Choice.KEEP:
            draft.keep(values, secret)


def _tried(draft: Draft, name: str, kind: Kind, values: Mapping[str, str]) -> list[Finding]:
    from bots.doors import Door
    from core.environment import SettingsError
    from core.tuning import load_tuning

    try:
        settings = kind.GROUP.load(given=values, words=draft.words)
        if kind.identity(settings, draft.words) is None:
            return []
        tuning = load_tuning(words=draft.words)
    except SettingsError as error:
        return list(problems(error))

    async def look() -> list[Finding]:
        door = Door(name, settings, None)
        return [finding async for finding in ask(door, draft.words, tuning)]

    draft.person.say(draft.words("Asking {app} …", app=kind.TITLE))
    return asyncio.run(look())


def _ask_for_owners(draft: Draft) -> None:
    from core.settings import Settings, SettingsError

    words, person = draft.words, draft.person
    person.say(
        "",
        words(
            "Who looks after the tutor? Write your accounts as channel:id, with commas between "
            "them, for example telegram:123456789. If you do not know yours yet: write to your "
            "bot, then `partners access list` shows it."
        ),
    )
    if not draft.may_change([_OWNERS]):
        return
    while said := person.line(words("Your accounts; Enter for later")):
        values = {_OWNERS: said}
        try:
            Settings.load(None, values, words)
        except SettingsError as error:
            person.say(*(finding.text for finding in problems(error)))
            continue
        draft.keep(values)
        return
