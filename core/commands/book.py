"""The book of commands: looks names up, builds the menus, suggests what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from core.commands.declare import Menu
from core.commands.request import Action, Command
from core.context import Command as Typed
from core.context import Content, Press
from core.i18n import LANGUAGES, N_, Language, words_for

ABOUT = N_(
    "A tutor that asks instead of lecturing, remembers what you learn, and comes back with the "
    "question you are about to forget. Write what you would like to understand, or send a picture "
    "of the exercise."
)
MOTTO = N_("A tutor that asks, remembers, and comes back at the right moment.")


class CommandBook:
    """All commands and button actions of the program."""

    def __init__(self, commands: Iterable[Command], actions: Iterable[Action]) -> None:
        self.commands = tuple(commands)
        self._names = {
            name: command
            for command in self.commands
            for name in (command.spec.name, *command.spec.aliases)
        }
        self._actions = {action.name: action for action in actions}

    def command(self, name: str) -> Command | None:
        """The command with this name or alias."""
        return self._names.get(name)

    def action(self, action: str) -> tuple[Action, str] | None:
        """The handler of a button's action, and its arguments."""
        name, _, arguments = action.partition(":")
        found = self._actions.get(name)
        return (found, arguments) if found else None

    def immediate(self, name: str) -> bool:
        """True for a command that never waits for a turn under way."""
        command = self.command(name)
        return command is not None and command.spec.immediate

    def idle(self, content: Content) -> bool:
        """True for a command or a button that is refused while a turn is under way."""
        if isinstance(content, Typed):
            command = self.command(content.name)
            return command is not None and command.spec.idle
        found = self.action(content.action) if isinstance(content, Press) else None
        return found is not None and found[0].idle

    def nearest(self, name: str) -> str | None:
        """The known name a mistyped one probably means."""
        return next(iter(difflib.get_close_matches(name, self._names, 1)), None)

    def menus(self, first: Language | None = None) -> tuple[Menu, ...]:
        """The command menu in every language, the default one first."""
        languages = sorted(LANGUAGES, key=lambda language: language != first)
        return tuple(
            Menu(
                language,
                tuple((c.spec.name, words_for(language)(c.spec.summary)) for c in self.commands),
                tuple(
                    (c.spec.name, words_for(language)(c.spec.usage))
                    for c in self.commands
                    if c.spec.usage
                ),
                tuple((c.spec.name, c.spec.choices) for c in self.commands if c.spec.choices),
                words_for(language)(ABOUT),
                words_for(language)(MOTTO),
            )
            for language in languages
        )
