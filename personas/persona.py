"""Personas: who teaches, and how; the value, the library of them, and the check of one file.

A persona is one Markdown file (see ``docs/personas.md``). A broken file is reported and left out,
never guessed at; the others load. Nothing that is said in a chat reaches this module: a persona
is changed by editing its file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from personas.problem import Problem, nearest
from personas.schema import (
    ERROR_KINDS,
    FrontMatter,
    ModelOverrides,
    Narrowing,
    Routing,
    Strict,
    validate,
)
from personas.source import Source, SourceError, read

__all__ = [
    "DEFAULT",
    "ERROR_KINDS",
    "PACKAGED",
    "ModelOverrides",
    "Persona",
    "PersonaLibrary",
    "PersonaTexts",
    "PersonaUnknown",
    "Problem",
    "check",
    "files",
]

PACKAGED = Path(__file__).parent
"""Folder of the personas that come with the program."""
DEFAULT = "socrates"
"""Id of the persona of a learner who has chosen none."""


class PersonaUnknown(KeyError):
    """No persona has this id; the text of the error says which there are."""

    def __init__(self, persona_id: str, known: Iterable[str]) -> None:
        super().__init__(persona_id)
        self.persona_id = persona_id
        self.known = tuple(known)

    def __str__(self) -> str:
        guess = nearest(self.persona_id, self.known)
        meant = f" Did you mean `{guess}`?" if guess else ""
        listed = ", ".join(self.known) or "none"
        return f"There is no persona `{self.persona_id}`.{meant} There are: {listed}."


class PersonaTexts(Strict):
    """The words of a persona in one language."""

    language: str
    name: str
    description: str
    greeting: str
    manner: str
    brief: str
    errors: tuple[tuple[str, str], ...]
    """(kind, text), the kinds among ``ERROR_KINDS``."""


class Persona(Strict):
    """A tutor. A language that it does not offer gets the words of its first language."""

    id: str
    """``[a-z0-9-]{1,32}``; fits into a button."""
    languages: tuple[str, ...]
    """Two-letter codes, at least one, the main language first."""
    tools: tuple[str, ...]
    """Names of the tools it may use; empty means none."""
    capabilities: tuple[str, ...]
    """Names of the capabilities it may use, at least one."""
    routing: Routing
    """How a message finds the one that answers it."""
    model: ModelOverrides
    budget: Narrowing
    """What one answer may use at most."""
    texts: tuple[PersonaTexts, ...]
    """One for each language, in their order."""

    def name(self, language: str) -> str:
        """Return the name people see, one line."""
        return self._in(language).name

    def description(self, language: str) -> str:
        """Return one line that helps to choose."""
        return self._in(language).description

    def greeting(self, language: str) -> str:
        """Return the first words to a learner, Markdown."""
        return self._in(language).greeting

    def manner(self, language: str) -> str:
        """Return the teaching manner for the system prompt, Markdown."""
        return self._in(language).manner

    def brief(self, language: str) -> str:
        """Return the short manner for small models: at most 120 words and 600 characters."""
        return self._in(language).brief

    def error(self, kind: str, language: str) -> str | None:
        """Return its own text for a turn that failed by ``kind``, or None to use the usual one."""
        return dict(self._in(language).errors).get(kind)

    def _in(self, language: str) -> PersonaTexts:
        return next((texts for texts in self.texts if texts.language == language), self.texts[0])


class PersonaLibrary:
    """The personas that can be chosen, and what is wrong with the files left out."""

    def __init__(self, personas: Iterable[Persona], problems: Iterable[Problem] = ()) -> None:
        self._personas = {persona.id: persona for persona in personas}
        self.problems = tuple(problems)
        """The problems of files that were left out, by folder and file name."""

    @classmethod
    def load(
        cls,
        *folders: Path,
        tools: Collection[str] | None = None,
        capabilities: Collection[str] | None = None,
    ) -> PersonaLibrary:
        """Read the packaged personas, then ``folders``; a later folder replaces by id.

        A folder that does not exist is empty. With ``tools`` and ``capabilities``, the names that
        exist, a persona that asks for another one is left out. A broken replacement leaves the
        replaced persona in place.
        """
        personas: dict[str, Persona] = {}
        problems: list[Problem] = []
        for folder in (PACKAGED, *folders):
            origins: dict[str, Path] = {}
            try:
                paths = files(folder)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                fix = "It must be a folder that you may read."
                problems.append(Problem(folder, "file", None, f"cannot be read ({reason})", fix))
                continue
            for path in paths:
                persona, found = _load(path, tools, capabilities)
                problems += found
                if persona is None:
                    continue
                if persona.id in origins:
                    other = origins[persona.id].name
                    message = f"`{persona.id}` is already used by {other}"
                    problems.append(
                        Problem(path, "id", None, message, "Give one of the two another id.")
                    )
                    continue
                origins[persona.id] = path
                personas[persona.id] = persona
        return cls(personas.values(), problems)

    def get(self, persona_id: str) -> Persona:
        """Return a persona; raises ``PersonaUnknown`` (a ``KeyError``) when there is none."""
        try:
            return self._personas[persona_id]
        except KeyError:
            raise PersonaUnknown(persona_id, sorted(self._personas)) from None

    def all(self) -> tuple[Persona, ...]:
        """Return every persona: the default first, the others by id."""
        return tuple(
            sorted(self._personas.values(), key=lambda each: (each.id != DEFAULT, each.id))
        )

    @property
    def default(self) -> Persona:
        """The persona of a learner who has chosen none."""
        return self.get(DEFAULT)


def files(folder: Path) -> tuple[Path, ...]:
    """Return what is to be read as a persona in ``folder``, by name.

    That is everything called ``*.md`` except ``README.md`` and hidden files. A missing folder has
    none; raises ``OSError`` when it cannot be listed.
    """
    try:
        entries = sorted(folder.iterdir())
    except FileNotFoundError:
        return ()
    return tuple(
        path
        for path in entries
        if path.suffix.lower() == ".md"
        and not path.name.startswith(".")
        and path.name.lower() != "readme.md"
    )


def check(
    path: Path,
    tools: Collection[str] | None = None,
    capabilities: Collection[str] | None = None,
) -> tuple[Problem, ...]:
    """Return the problems of one persona file by line; none means that it loads.

    ``tools`` and ``capabilities`` are the names that exist; None leaves them unchecked.
    """
    return _load(path, tools, capabilities)[1]


def _load(
    path: Path, tools: Collection[str] | None, capabilities: Collection[str] | None
) -> tuple[Persona | None, tuple[Problem, ...]]:
    try:
        source = read(path)
    except SourceError as error:
        return None, (Problem(path, error.key, error.line, error.message, error.fix),)
    front, problems = validate(source, path, tools, capabilities)
    if front is None or problems:
        return None, problems
    return _build(front, source), ()


def _build(front: FrontMatter, source: Source) -> Persona:
    manners = {section.heading: section.text for section in source.sections}
    kinds = {kind: getattr(front.errors, kind) for kind in ERROR_KINDS}
    return Persona(
        id=front.id,
        languages=front.languages,
        tools=front.tools,
        capabilities=front.capabilities,
        routing=front.routing,
        model=front.model,
        budget=front.budget,
        texts=tuple(
            PersonaTexts(
                language=language,
                name=front.name[language],
                description=front.description[language],
                greeting=front.greeting[language],
                manner=manners[language],
                brief=front.brief[language],
                errors=tuple((kind, texts[language]) for kind, texts in kinds.items() if texts),
            )
            for language in front.languages
        ),
    )
