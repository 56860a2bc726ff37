"""The form of a persona file: which keys it has, what each may hold, and how a fault is explained.

Knows nothing of folders or of which tools the program has; names that are known come in as
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from personas.problem import Problem, nearest
from personas.source import KeyPath, Source, dotted

BRIEF_WORDS = 120
"""Most words in a brief manner: a local model's whole prompt stays under 400 tokens."""
BRIEF_CHARACTERS = 600
MANNER_CHARACTERS = 8000
"""Most characters in a teaching manner; it is sent with every round of every turn."""


def _line_of(characters: int) -> StringConstraints:
    return StringConstraints(
        strip_whitespace=True, min_length=1, max_length=characters, pattern=r"^[^\n]*$"
    )


def _text_of(characters: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=characters)


def _few_words(text: str) -> str:
    if len(text.split()) > BRIEF_WORDS:
        raise ValueError(f"has more than {BRIEF_WORDS} words")
    return text


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("names something twice")
    return names


_CODE = re.compile(r"[a-z]{2}")
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Names = Annotated[tuple[Word, ...], AfterValidator(_distinct)]
ErrorText = Annotated[str, _text_of(400)]
Routing = Literal["first", "classifier"]
"""How a message finds the capability that answers it: the first one named, or by a short call of
the model that chooses among them."""


class Strict(BaseModel):
    """Base of the parts of a file: immutable, and no key passes unread."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelOverrides(Strict):
    """What a persona wants from the model instead of the settings; None leaves a setting alone."""

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    name: Annotated[str, _line_of(200)] | None = None
    """A model of the configured provider."""


class Narrowing(Strict):
    """What one answer may use at most, where a persona wants less than the settings allow."""

    max_rounds: Annotated[int, Field(ge=1, le=100)] | None = None
    """Calls of the model."""
    max_tool_calls: Annotated[int, Field(ge=0, le=1_000)] | None = None
    deadline_seconds: Annotated[float, Field(ge=1, le=86_400, allow_inf_nan=False)] | None = None
    cost: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | None = None
    """Money, in the currency of the prices that are set."""


class ErrorTexts(Strict):
    """Own texts by the reason a turn could not be answered; a reason left out has none."""

    provider_error: dict[str, ErrorText] = {}
    """The model's provider failed or cannot be reached."""
    deadline: dict[str, ErrorText] = {}
    """The time for one answer ran out."""
    rounds: dict[str, ErrorText] = {}
    """The loop used up its rounds."""
    context_full: dict[str, ErrorText] = {}
    """The conversation no longer fits what the model can read."""
    cost: dict[str, ErrorText] = {}
    """The money for one answer is spent."""
    tool_calls: dict[str, ErrorText] = {}
    """The calls of tools of one answer are used up."""
    malformed: dict[str, ErrorText] = {}
    """The model's output could not be understood."""
    empty: dict[str, ErrorText] = {}
    """The model said nothing."""


ERROR_KINDS: tuple[str, ...] = tuple(ErrorTexts.model_fields)


class FrontMatter(Strict):
    """The keys of a persona file; texts are by language."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,32}$")]
    languages: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=f"^{_CODE.pattern}$")], ...],
        Field(min_length=1),
        AfterValidator(_distinct),
    ]
    name: dict[str, Annotated[str, _line_of(40)]]
    description: dict[str, Annotated[str, _line_of(200)]]
    greeting: dict[str, Annotated[str, _text_of(1000)]]
    brief: dict[str, Annotated[str, _text_of(BRIEF_CHARACTERS), AfterValidator(_few_words)]]
    tools: Names
    capabilities: Annotated[Names, Field(min_length=1)]
    routing: Routing = "first"
    model: ModelOverrides = ModelOverrides()
    budget: Narrowing = Narrowing()
    errors: ErrorTexts = ErrorTexts()


FORMS = {
    "id": "Write `id: my-tutor`: a-z, 0-9 and hyphens, at most 32 characters.",
    "languages": "Write `languages: [en, zh]`: two-letter codes, the main language first.",
    "name": "Write one line of at most 40 characters for each language.",
    "description": "Write one line of at most 200 characters for each language.",
    "greeting": "Write a text of at most 1000 characters for each language.",
    "brief": f"Write at most {BRIEF_WORDS} words and {BRIEF_CHARACTERS} characters "
    "for each language.",
    "tools": "Write `tools: [cards_due]`, each name once, or `tools: []` for none.",
    "capabilities": "Write `capabilities: [chat]`: at least one, each name once.",
    "routing": "Write `routing: first`, or `routing: classifier` to have the model choose.",
    "model": "Write `temperature:` with a number from 0 to 2, `name:` with a model's name, "
    "or leave the key out.",
    "budget": "Write `max_rounds: 4`, `max_tool_calls:`, `deadline_seconds:` or `cost:` with a "
    "number, or leave the key out.",
    "errors": "Write one text of at most 400 characters for each language under a kind: "
    f"{', '.join(ERROR_KINDS)}.",
}
_BY_LANGUAGE = ("name", "description", "greeting", "brief")


def validate(
    source: Source,
    path: Path,
    tools: Collection[str] | None,
    capabilities: Collection[str] | None,
) -> tuple[FrontMatter | None, tuple[Problem, ...]]:
    """Return the front matter and every problem of the file, in the order of its lines.

    The front matter is None when its shape is wrong. ``tools`` and ``capabilities`` are the names
    that exist, or None where that is not known.
    """
    problems = [
        *_languages(source, path),
        *_sections(source, path),
        *_unknown_names(source, path, "tools", tools),
        *_unknown_names(source, path, "capabilities", capabilities),
    ]
    front = None
    try:
        front = FrontMatter.model_validate(source.front)
    except ValidationError as error:
        told = {problem.key for problem in problems}
        problems += [each for each in _explain(error, source, path) if each.key not in told]
    return front, tuple(sorted(problems, key=lambda problem: (problem.line or 0, problem.key)))


def _declared(source: Source) -> tuple[str, ...]:
    """Return the languages, or nothing to compare with when the list itself is wrong."""
    given = source.front.get("languages")
    languages = given if isinstance(given, list) else []
    codes = tuple(each for each in languages if isinstance(each, str) and _CODE.fullmatch(each))
    return codes if len(codes) == len(languages) else ()


def _languages(source: Source, path: Path) -> Iterator[Problem]:
    """Compare the languages of each text with the declared ones."""
    declared = _declared(source)
    if not declared:
        return
    texts: dict[KeyPath, object] = {(key,): source.front.get(key) for key in _BY_LANGUAGE}
    errors = source.front.get("errors")
    if isinstance(errors, dict):
        texts |= {("errors", kind): errors[kind] for kind in errors if kind in ERROR_KINDS}
    for key, text in texts.items():
        if not isinstance(text, dict):
            continue
        for language in declared:
            if language not in text:
                yield Problem(
                    path,
                    dotted((*key, language)),
                    source.line(key),
                    "is missing",
                    f"Write this text in `{language}` too, or take it out of `languages`.",
                )
        for language in text:
            if language not in declared:
                yield Problem(
                    path,
                    dotted((*key, language)),
                    source.line((*key, language)),
                    "is not one of the persona's languages",
                    _add_or_drop(language, declared),
                )


def _sections(source: Source, path: Path) -> Iterator[Problem]:
    """Compare the sections of the body with the declared languages."""
    declared = _declared(source)
    if not declared:
        return
    seen: dict[str, int] = {}
    for section in source.sections:
        language = section.heading
        key = f"body.{language}" if language else "body"
        if not language and not section.text:
            continue
        if not language:
            message = "has text before the first language heading"
            fix = f"Put it under a heading such as `# {declared[0]}`."
        elif language not in declared:
            message = "is not one of the persona's languages"
            fix = _add_or_drop(language, declared) + " Headings inside a manner begin with `##`."
        elif language in seen:
            message = f"is given twice, first on line {seen[language]}"
            fix = "Keep one of the two sections."
        elif not section.text:
            message, fix = "is empty", "Write the teaching manner in this language."
        elif len(section.text) > MANNER_CHARACTERS:
            message = f"has more than {MANNER_CHARACTERS} characters"
            fix = "Shorten it; it is sent with every answer."
        else:
            message = fix = ""
        seen.setdefault(language, section.line)
        if message:
            yield Problem(path, key, section.line, message, fix)
    for language in declared:
        if language not in seen:
            yield Problem(
                path,
                f"body.{language}",
                source.sections[-1].line,
                "is missing",
                f"Write the teaching manner under a heading `# {language}`.",
            )


def _add_or_drop(language: str, declared: tuple[str, ...]) -> str:
    return f"Add `{language}` to `languages` (now {', '.join(declared)}) or delete this."


def _unknown_names(
    source: Source, path: Path, key: str, known: Collection[str] | None
) -> Iterator[Problem]:
    names = source.front.get(key)
    if known is None or not isinstance(names, list):
        return
    for number, name in enumerate(names):
        if isinstance(name, str) and name not in known:
            guess = nearest(name, known)
            listed = ", ".join(sorted(known)) or "none"
            yield Problem(
                path,
                f"{key}.{number}",
                source.line((key, number)),
                f"names `{name}`, which does not exist",
                f"Did you mean `{guess}`?" if guess else f"There are: {listed}.",
            )


def _explain(error: ValidationError, source: Source, path: Path) -> Iterator[Problem]:
    """Turn the validator's findings into problems, one for one mistake."""
    found = error.errors(include_url=False)
    levels: dict[KeyPath, set[str]] = {
        (): set(FrontMatter.model_fields),
        ("model",): set(ModelOverrides.model_fields),
        ("budget",): set(Narrowing.model_fields),
        ("errors",): set(ErrorTexts.model_fields),
    }
    guesses: dict[KeyPath, str | None] = {
        each["loc"]: nearest(str(each["loc"][-1]), levels[each["loc"][:-1]])
        for each in found
        if each["type"] == "extra_forbidden"
    }
    meant = {guess for where, guess in guesses.items() if len(where) == 1}
    for each in found:
        where = each["loc"]
        if each["type"] == "missing" and where[0] in meant:
            continue  # the misspelt key is reported already
        if each["type"] == "extra_forbidden":
            guess = guesses[where]
            allowed = ", ".join(sorted(levels[where[:-1]]))
            message = "is not a known key"
            fix = f"Did you mean `{guess}`?" if guess else f"The keys here are: {allowed}."
        else:
            message, fix = _message(each), FORMS[str(where[0])]
        yield Problem(path, dotted(where), source.line(where), message, fix)


def _message(error: ErrorDetails) -> str:
    given = error["input"]
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "too_short" | "string_too_short":
            return "is empty"
        case "string_too_long":
            return f"has more than {context['max_length']} characters"
        case "value_error":
            return str(context["error"])
    if given is None:
        return "is empty"
    if isinstance(given, str) and len(given) <= 40 and "\n" not in given:
        return f"cannot be `{given}`"
    return "has the wrong form"
