"""What a capability is: data that the one loop is run with, and prompts in a file beside its code.

A capability is one file here with its prompts as ``<name>.md`` beside it, and a line in
``core.capabilities.registry``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from core.commands.declare import CommandSpec
from core.loop.gates import Budget
from core.loop.labels import Vocabulary

_HEADING: Final = re.compile(r"^# +([a-z]{2})( brief)? *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a capability tells the model, by language."""

    full: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    brief: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """For a small model; empty where it needs nothing said."""

    def of(self, language: str, *, small: bool) -> str:
        """Return the text in ``language``, else the English one; empty where there is none."""
        texts = self.brief if small else self.full
        return texts.get(language) or texts.get("en", "")


@dataclass(frozen=True, slots=True)
class Capability:
    """One way to answer."""

    name: str
    about: str
    """Says in English, to a model that chooses, which messages it is for."""
    prompts: Prompts = field(default_factory=Prompts)
    command: CommandSpec | None = None
    """Asks for it by name; what follows the command is the question."""
    tools: tuple[str, ...] | None = None
    """The only tools of a persona that it uses; None leaves the persona all of its own."""
    vocabulary: Vocabulary | None = None
    """Its labels, for models that are talked to in labels; None are the common ones."""
    budget: Budget = field(default_factory=Budget)
    """Built-in tuning, which ``[capabilities.NAME]`` changes."""

    def allows(self, tools: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of a persona's tools that are used here."""
        return tools if self.tools is None else tuple(t for t in tools if t in self.tools)


def prompts_beside(source: str) -> Prompts:
    """Read the prompts beside a module, whose ``__file__`` is ``source``.

    The file has a section for each language, ``# en``, and may have one for small models,
    ``# en brief``. Raises OSError where the file is not there, ValueError for text that stands
    under no language.
    """
    path = Path(source).with_suffix(".md")
    before, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
    if before.strip():
        raise ValueError(f"{path.name}: text before the first language")
    texts: dict[bool, dict[str, str]] = {False: {}, True: {}}
    for language, brief, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        texts[bool(brief)][language] = text.strip()
    return Prompts(MappingProxyType(texts[False]), MappingProxyType(texts[True]))
