"""``partners persona``: the tutors one can choose from, and a new one of one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.asking import Keyboard
from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from core.i18n import Words
    from core.loop.gates import Budget
    from personas.persona import Persona

persona = typer.Typer(no_args_is_help=True, help="The tutors one can choose from.")


@persona.command("list")
def list_() -> None:
    """Show every persona.

    Example: partners persona list
    """
    from bots.app import load_personas

    with ground(quiet=True) as base:
        language = base.settings.language
        for one in load_personas(base.settings).all():
            typer.echo(f"{one.id}  {one.name(language)}: {one.description(language)}")


@persona.command()
def check(
    path: Annotated[
        Path | None, typer.Argument(help="A persona file or a folder of them; else all.")
    ] = None,
) -> None:
    """Check persona files and name file, line and key of what is wrong.

    Example: partners persona check data/personas/ada.md
    """
    from personas.persona import PACKAGED, files

    with ground(quiet=True) as base:
        words = base.settings.words
        own = base.settings.data / "personas"
        folders = [path] if path else [PACKAGED, *([own] if own.is_dir() else [])]
        checked: list[Path] = []
        for folder in folders:
            if not folder.exists():
                fail(words("There is no file or folder {path}.", path=folder))
            checked += files(folder) if folder.is_dir() else [folder]
        problems = [problem for file in checked for problem in _problems(file)]
        for problem in problems:
            typer.echo(str(problem), err=True)
        if problems:
            raise SystemExit(1)
        typer.echo(words.plural("{n} persona is fine.", "{n} personas are fine.", len(checked)))


@persona.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the persona.")],
    language: Annotated[
        str | None, typer.Option(help="Two-letter code; PARTNERS_LANGUAGE when left out.")
    ] = None,
) -> None:
    """Show who a persona is, what it may use, and what the model is told of it.

    Example: partners persona show euler --language zh
    """
    from bots.app import load_personas
    from core.capabilities.registry import of_persona
    from core.persona import tuned
    from personas.persona import PersonaUnknown

    with ground(quiet=True) as base:
        words = base.settings.words
        try:
            one = load_personas(base.settings).get(name)
        except PersonaUnknown as error:
            fail(str(error))
        spoken = language or base.settings.language
        typer.echo(f"{one.id}  {one.name(spoken)}: {one.description(spoken)}\n")
        for line in _facts(one, words):
            typer.echo(line)
        for way in of_persona(one.capabilities):
            budget = tuned(base.tuning.capabilities[way.name], one, small=False)
            typer.echo(f"{way.name}: {_limits(budget, words)}")
        typer.echo(f"\n{one.greeting(spoken)}\n\n{one.manner(spoken)}")


@persona.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="a-z, 0-9 and hyphens; what /persona ID takes.")
    ],
    called: Annotated[
        str | None, typer.Option("--name", help="The name people see; asked for when left out.")
    ] = None,
    like: Annotated[str, typer.Option(help="The packaged persona to begin from.")] = "socrates",
) -> None:
    """Write a persona of your own, as a copy of another one to change.

    Example: partners persona new ada --name Ada --like hopper
    """
    from personas.persona import PACKAGED

    with ground(quiet=True) as base:
        words = base.settings.words
        template = PACKAGED / f"{Path(like).name}.md"
        if not template.is_file():
            fail(words("There is no packaged persona “{name}” to begin from.", name=like))
        if not re.fullmatch("[a-z0-9-]{1,32}", name):
            fail(words("“{name}” is no id. Write a-z, 0-9 and hyphens, at most 32.", name=name))
        file = base.settings.data / "personas" / f"{name}.md"
        if file.exists():
            fail(words("{path} is there already. Edit it, or choose another id.", path=file))
        shown = called or Keyboard().line(words("The name people see"), default=name.title())
        text = _renamed(template.read_text(encoding="utf-8"), name, shown)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if problems := _problems(file):
            file.unlink()
            fail("\n".join(str(problem) for problem in problems))
        typer.echo(
            words(
                "{path} is written. Edit what it says, see `docs/personas.md`; then run "
                "`partners persona check {path}`, restart the tutor, and write /persona {name}.",
                path=file,
                name=name,
            )
        )


def _problems(file: Path) -> list[object]:
    from core.capabilities.registry import CAPABILITIES
    from core.tools.own import NAMES
    from personas.persona import check as problems_of

    return list(problems_of(file, tools=NAMES, capabilities={one.name for one in CAPABILITIES}))


def _facts(one: Persona, words: Words) -> list[str]:
    facts = [
        words("languages: {names}", names=", ".join(one.languages)),
        words("tools: {names}", names=", ".join(one.tools) or words("none")),
        words("capabilities: {names}", names=", ".join(one.capabilities)),
        words("what is written is answered by: {name}", name=_answerer(one, words)),
    ]
    if one.model.name:
        facts.append(words("model: {name}", name=one.model.name))
    return facts


def _answerer(one: Persona, words: Words) -> str:
    if one.routing == "classifier":
        return words("the one that the model chooses")
    return one.capabilities[0]


def _limits(budget: Budget, words: Words) -> str:
    temperature = budget.temperature
    return words(
        "{rounds} rounds, {calls} tool calls, {seconds} seconds, temperature {temperature}",
        rounds=budget.max_rounds,
        calls=budget.max_tool_calls,
        seconds=f"{budget.deadline_seconds:g}",
        temperature="-" if temperature is None else f"{temperature:g}",
    )


def _renamed(text: str, name: str, shown: str) -> str:
    """Return a persona file with another id, and another name in each of its languages."""
    quoted = json.dumps(shown, ensure_ascii=False)
    text = re.sub(r"(?m)^id: .*$", lambda _: f"id: {name}", text, count=1)

    def names(block: re.Match[str]) -> str:
        return re.sub(r"(?m)^(  [a-z]{2}: ).*$", lambda line: line[1] + quoted, block[0])

    return re.sub(r"(?m)^name:\n(?:  .*\n)+", names, text, count=1)
