"""What can be asked: the kinds of items, their keys, and the order in which choices are shown.

An item is immutable once asked, so that an answer can be graded again. Nothing here grades.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum, StrEnum
from hashlib import blake2b
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field

from core.context import Value

QUESTION_MAX: Final = 600
"""Characters of a question: it fits one message of every channel, with its options."""
OPTION_MAX: Final = 100
"""Characters of an option: longer ones are no choice but a reading exercise."""
GAP: Final = "___"
"""Stands for a gap of a cloze."""
_GAP_RUN: Final = re.compile(r"_{2,}")

T = TypeVar("T")


class ItemKind(StrEnum):
    """How an item is answered."""

    FREE = "free"
    """In the learner's own words."""
    NUMBER = "number"
    """By a number, with a unit where one is asked for."""
    EXPRESSION = "expression"
    """By an algebraic expression, in any equivalent form."""
    CHOICE = "choice"
    """By one of several options."""
    TRUE_FALSE = "true_false"
    """By one of two: a guess is right half of the time, so it never counts toward mastery."""
    ORDER = "order"
    """By putting things into their order."""
    CLOZE = "cloze"
    """By filling the gaps of a text."""
    CODE = "code"
    """By a piece of program text."""


PRODUCED: Final = frozenset(
    {ItemKind.FREE, ItemKind.NUMBER, ItemKind.EXPRESSION, ItemKind.CLOZE, ItemKind.CODE}
)
"""Kinds whose answer is written, not chosen: a guesser is hardly ever right."""


class Difficulty(IntEnum):
    """How hard an item is, measured by what the objective asks for."""

    EASY = 1
    """Below it."""
    TARGET = 2
    """Just what it asks for."""
    HARD = 3
    """Beyond it, or in a new setting."""


class Criterion(Value):
    """One thing that an answer in words has to do."""

    id: str = Field(min_length=1, max_length=40)
    text: str = Field(min_length=1, max_length=300)


class FreeKey(Value):
    """The key of a question answered in own words."""

    kind: Literal[ItemKind.FREE] = ItemKind.FREE
    reference: str = Field(min_length=1, max_length=1_500)
    """A good answer."""
    accepted: tuple[str, ...] = ()
    """Short answers that are right as they stand."""
    rubric: tuple[Criterion, ...] = ()
    """What is looked for; empty means the reference alone."""


class NumberKey(Value):
    """The key of a question answered by a number."""

    kind: Literal[ItemKind.NUMBER] = ItemKind.NUMBER
    value: str = Field(min_length=1, max_length=60)
    """As it would be written: ``3/4``, ``9.81``, ``6.02e23``."""
    unit: str = Field(default="", max_length=30)
    """Empty where a bare number is asked for."""
    tolerance: float = Field(default=0.0, ge=0.0, le=0.5)
    """Share of the value by which an answer may be off; 0 wants it exactly."""


class ExpressionKey(Value):
    """The key of a question answered by an expression."""

    kind: Literal[ItemKind.EXPRESSION] = ItemKind.EXPRESSION
    value: str = Field(min_length=1, max_length=200)


class ChoiceKey(Value):
    """The key of a multiple choice."""

    kind: Literal[ItemKind.CHOICE] = ItemKind.CHOICE
    options: tuple[str, ...] = Field(min_length=3, max_length=6)
    """The right one first; ``shuffled`` says in which order they are shown."""


class TrueFalseKey(Value):
    """The key of a statement that is true or false."""

    kind: Literal[ItemKind.TRUE_FALSE] = ItemKind.TRUE_FALSE
    value: bool


class OrderKey(Value):
    """The key of things to be put in order."""

    kind: Literal[ItemKind.ORDER] = ItemKind.ORDER
    steps: tuple[str, ...] = Field(min_length=3, max_length=7)
    """In the right order."""


class ClozeKey(Value):
    """The key of a text with gaps."""

    kind: Literal[ItemKind.CLOZE] = ItemKind.CLOZE
    gaps: tuple[tuple[str, ...], ...] = Field(min_length=1, max_length=6)
    """For each gap of the question the answers that are right, the best first."""


class CodeKey(Value):
    """The key of a question answered by program text."""

    kind: Literal[ItemKind.CODE] = ItemKind.CODE
    accepted: tuple[str, ...] = Field(min_length=1)
    language: str = ""


Key = Annotated[
    FreeKey | NumberKey | ExpressionKey | ChoiceKey | TrueFalseKey | OrderKey | ClozeKey | CodeKey,
    Field(discriminator="kind"),
]


class Question(Value):
    """An item: what is asked, and what would be right."""

    text: str = Field(min_length=1, max_length=QUESTION_MAX)
    key: Key
    difficulty: Difficulty = Difficulty.TARGET
    explanation: str = Field(default="", max_length=800)
    """Why the right answer is right, in a sentence or two."""
    hint: str = Field(default="", max_length=300)
    """Points the way without the answer."""

    @property
    def kind(self) -> ItemKind:
        """How it is answered."""
        return self.key.kind


def shuffled(things: Sequence[T], seed: str) -> tuple[T, ...]:
    """Return things in an order that depends on the seed alone, the same on every machine."""
    order = sorted(range(len(things)), key=lambda index: _draw(seed, index))
    return tuple(things[index] for index in order)


def options(key: Key, seed: str) -> tuple[str, ...]:
    """Return what is shown to choose from or to order; empty for other kinds.

    ``seed`` is the item's id. Steps to be ordered are never shown in the right order.
    """
    match key:
        case ChoiceKey(options=all_of_them):
            return shuffled(all_of_them, seed)
        case OrderKey(steps=steps):
            shown = shuffled(steps, seed)
            return shown if shown != steps else (*steps[1:], steps[0])
        case _:
            return ()


def label(index: int) -> str:
    """Return the letter of an option: A, B, C."""
    return chr(ord("A") + index)


def right_answer(key: Key, seed: str) -> str:
    """Return the right answer as a person reads it, with its letter where there is one."""
    match key:
        case FreeKey(reference=reference):
            return reference
        case NumberKey(value=value, unit=unit):
            return f"{value} {unit}".strip()
        case ExpressionKey(value=value):
            return value
        case ChoiceKey(options=all_of_them):
            right = all_of_them[0]
            return f"{label(options(key, seed).index(right))}: {right}"
        case TrueFalseKey(value=true):
            return "true" if true else "false"
        case OrderKey(steps=steps):
            shown = options(key, seed)
            return " → ".join(f"{label(shown.index(step))} {step}" for step in steps)
        case ClozeKey(gaps=gaps):
            return "; ".join(gap[0] for gap in gaps)
        case CodeKey(accepted=accepted, language=language):
            return f"```{language}\n{accepted[0]}\n```"


def gaps_in(text: str) -> int:
    """Count the gaps of a cloze: runs of two underscores or more."""
    return len(_GAP_RUN.findall(text))


def _draw(seed: str, index: int) -> bytes:
    return blake2b(f"{seed}:{index}".encode(), digest_size=8).digest()
