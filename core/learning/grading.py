"""Grading by code: what can be said of an answer without asking anybody.

An answer is right, wrong, right in part, or undecided, and then somebody who can read decides
(``core.learning.judge``). Nothing here guesses: words that are not one of the accepted answers are
undecided, never wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Final

from core.learning.items import (
    ChoiceKey,
    ClozeKey,
    CodeKey,
    ExpressionKey,
    FreeKey,
    Key,
    NumberKey,
    OrderKey,
    Question,
    TrueFalseKey,
    label,
    options,
)
from core.learning.latex import plain_math
from core.learning.numbers import exact, readings
from core.learning.units import NO_UNIT, Quantity, Unit, quantities, unit
from core.tools.algebra import equivalent

ANSWER_MAX: Final = 4_000
"""Characters of an answer that are read."""
PARTIAL: Final = 0.5
"""Score from which an answer is right in part."""
EXPRESSION_MAX: Final = 200
"""Characters of an expression."""
_KNOWN: Final = (
    "sqrt cbrt sin cos tan asin acos atan sinh cosh tanh exp log abs alpha beta gamma theta sigma "
    "omega phi rho"
)
_FUNCTIONS: Final = frozenset(_KNOWN.split())
_SHARES: Final = frozenset({"%", "‰"})
_ROUNDING: Final = Fraction(1, 10**9)
"""Share by which a converted value may be off: factors such as that of degrees are rounded."""

_SAYS_TRUE: Final = "true t yes y right correct 对 真 是 正确 √ ✓ 对的 是的"
_SAYS_FALSE: Final = "false f no n wrong incorrect 错 假 否 不 不对 错误 × ✗ 错的 不是"
_TRUE: Final = frozenset(_SAYS_TRUE.split())
_FALSE: Final = frozenset(_SAYS_FALSE.split())
_LEAD: Final = re.compile(
    r"^(?:(?:it'?s|it is|that'?s|that is|the answer is|answer|i think|i'd say|i would say|about|"
    r"approximately|approx\.?|roughly|around|≈|~|约|大约|答案是|答案|我觉得是|我觉得|是|等于)"
    r"\s*[:：]?\s*)+",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"^[^\W\d]\w*(?:\s*\([^()]*\))?\s*(?:=|≈|＝)\s*")
_OPTION: Final = re.compile(
    r"(?:option|answer|choice|我?选项?|答案)?\s*[(（\[]?\s*([a-z]|\d)\s*[)）\].:：、]?\s*(.*)",
    re.DOTALL,
)
_REASON: Final = re.compile(r"(?:\bbecause\b|\bsince\b|因为).*$", re.DOTALL)
_BETWEEN: Final = re.compile(r"\s*(?:->|=>|→|>|,|，|、|;|；|\n|\band then\b|\bthen\b)\s*")
_FENCE: Final = re.compile(r"^\s*```[^\n`]*\n(.*?)\n?```\s*$", re.DOTALL)


class Verdict(StrEnum):
    """What an answer is."""

    RIGHT = "right"
    PARTIAL = "partial"
    WRONG = "wrong"
    UNDECIDED = "undecided"
    """Not for code to say."""


class Note(StrEnum):
    """What is to be said about an answer beside its verdict."""

    UNIT_MISSING = "unit_missing"
    """The number is right, and the unit was asked for."""
    UNIT_WRONG = "unit_wrong"
    """It measures something else."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The outcome of grading by code."""

    verdict: Verdict
    score: float
    """0 to 1; 0 where undecided."""
    note: Note | None = None


RIGHT: Final = Grade(Verdict.RIGHT, 1.0)
WRONG: Final = Grade(Verdict.WRONG, 0.0)
UNDECIDED: Final = Grade(Verdict.UNDECIDED, 0.0)


def grade(key: Key, answer: str, *, seed: str) -> Grade:
    """Grade an answer. ``seed`` is the item's id, by which options were shuffled."""
    written = answer[:ANSWER_MAX]
    answer = written.strip()
    if not answer:
        return UNDECIDED
    match key:
        case FreeKey():
            return _free(key, answer)
        case NumberKey():
            return _number(key, answer)
        case ExpressionKey(value=value):
            return RIGHT if _same_expression(value, answer) else UNDECIDED
        case ChoiceKey(options=all_of_them):
            return _choice(options(key, seed), all_of_them[0], answer)
        case TrueFalseKey(value=true):
            return _true_or_false(true, answer)
        case OrderKey(steps=steps):
            return _order(options(key, seed), steps, answer)
        case ClozeKey(gaps=gaps):
            return _cloze(gaps, answer)
        case CodeKey(accepted=accepted):
            return RIGHT if _code(written) in map(_code, accepted) else UNDECIDED


async def graded(question: Question, answer: str, *, seed: str) -> Grade:
    """Grade an answer by code, asking the calculator whether two expressions are equivalent.

    That takes the start of a process; every other kind is graded at once.
    """
    found = grade(question.key, answer, seed=seed)
    key = question.key
    if found.verdict is not Verdict.UNDECIDED or not isinstance(key, ExpressionKey):
        return found
    given = plain_math(answer.strip().strip("`$").rstrip(".。"))
    if not _is_expression(given) or _tight(given) in _tight(plain_math(question.text)):
        # What only repeats the question is equivalent, and may be just what was to be rewritten.
        return found
    match await equivalent(plain_math(key.value), given):
        case True:
            return RIGHT
        case False:
            return WRONG
        case None:
            return found


def _is_expression(text: str) -> bool:
    """It may be algebra: short, without words, and no prose."""
    words = [word for word in re.findall(r"[^\W\d_]{3,}", text) if word.lower() not in _FUNCTIONS]
    return 0 < len(text) <= EXPRESSION_MAX and text.isprintable() and not words


def chosen(key: Key, answer: str, *, seed: str) -> str | None:
    """Return the option that an answer names; None where it names none, or there are none."""
    shown = options(key, seed)
    index = _chosen(shown, answer) if isinstance(key, ChoiceKey) else None
    return None if index is None else shown[index]


def plain_words(text: str) -> str:
    """Return a text in the form in which two that say the same are equal.

    Width, case, accents of the keyboard (curly quotes, long dashes), punctuation at the ends,
    spaces and a leading article do not count. All else does: ``x²`` is not ``x2``.
    """
    narrow = "".join(
        unicodedata.normalize("NFKC", c) if unicodedata.east_asian_width(c) in "FH" else c
        for c in unicodedata.normalize("NFC", text)
    )
    folded = narrow.casefold().translate(_TYPOGRAPHY)
    folded = " ".join(folded.split()).strip(" .,;:!?。，；：！？、…\"'`*_()[]《》「」“”")
    # Between Chinese characters a space means nothing.
    folded = re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", folded)
    return re.sub(r"^(?:the|an?) (?=\S)", "", folded)


_TYPOGRAPHY: Final = str.maketrans("‘’“”–—−‐‑", "''\"\"-----")


def _free(key: FreeKey, answer: str) -> Grade:
    said = plain_words(answer)
    bare = plain_words(_LEAD.sub("", answer))
    for accepted in key.accepted:
        if plain_words(accepted) in (said, bare):
            return RIGHT
        wanted = quantities(plain_math(accepted))
        if wanted:
            given = quantities(_without_lead(answer))
            if any(_equal(one, other, 0.0) for one in wanted for other in given):
                return RIGHT
    return UNDECIDED


def _number(key: NumberKey, answer: str) -> Grade:
    share = key.unit in _SHARES
    written = plain_math(key.value)
    value = exact(f"{written}{key.unit}" if share else written)
    kind = NO_UNIT if share else unit(plain_math(key.unit))
    given = quantities(_without_lead(answer))
    if value is None or kind is None or not given:
        return UNDECIDED
    target = Quantity(value, kind, not key.unit)
    if any(_equal(target, each, key.tolerance) for each in given):
        return RIGHT
    if share:
        plain = readings(written)
        bare = [each.value for each in given if each.bare]
        return RIGHT if any(_near(p, b, key.tolerance) for p in plain for b in bare) else WRONG
    if not key.unit:
        return _counted(target, given, key.tolerance)
    if any(each.bare for each in given):
        near = any(_near(target.value, each.value, key.tolerance) for each in given)
        return Grade(Verdict.PARTIAL, 0.5, Note.UNIT_MISSING) if near else WRONG
    if all(each.measured_in(kind) is None for each in given):
        if any(_unknown(each.unit) for each in given) or _unknown(kind):
            return UNDECIDED
        return Grade(Verdict.WRONG, 0.0, Note.UNIT_WRONG)
    return WRONG


def _counted(target: Quantity, given: Sequence[Quantity], tolerance: float) -> Grade:
    """A bare number was asked for: what it counts may be said, or what it is in."""
    near = [each for each in given if _near(target.value, each.value, tolerance)]
    if not near:
        return WRONG
    return RIGHT if any(each.bare or _unknown(each.unit) for each in near) else UNDECIDED


def _equal(target: Quantity, given: Quantity, tolerance: float) -> bool:
    value = given.measured_in(target.unit)
    return value is not None and _near(target.value, value, tolerance)


def _near(target: Fraction, value: Fraction, tolerance: float) -> bool:
    # Some room for the tolerance itself, which is a binary fraction.
    return abs(value - target) <= abs(target) * (Fraction(tolerance) + _ROUNDING)


def _unknown(kind: Unit) -> bool:
    """It counts things, or is a word that we do not know."""
    return any(name.startswith("of ") for name in kind.dimensions)


def _without_lead(answer: str) -> str:
    return _NAMED.sub("", _LEAD.sub("", plain_math(answer).strip()))


def _same_expression(wanted: str, answer: str) -> bool:
    wanted, answer = plain_math(wanted), plain_math(answer)
    given = {_tight(answer), _tight(_NAMED.sub("", answer))}
    if given & {_tight(wanted), _tight(_NAMED.sub("", wanted))}:
        return True
    target, found = readings(wanted), readings(_without_lead(answer))
    return bool(target) and bool(found) and target[0] in found


def _tight(text: str) -> str:
    text = unicodedata.normalize("NFC", text).casefold().translate(_TYPOGRAPHY)
    text = text.replace("**", "^").replace("·", "*").replace("×", "*").replace("²", "^2")
    text = re.sub(r"\s+", "", text.replace("³", "^3")).strip(".$`。")
    return re.sub(r"(?<=[0-9a-z)])\*(?=[a-z(])", "", text)


def _choice(shown: Sequence[str], right: str, answer: str) -> Grade:
    chosen = _chosen(shown, answer)
    if chosen is None:
        return UNDECIDED
    return RIGHT if shown[chosen] == right else WRONG


def _chosen(shown: Sequence[str], answer: str) -> int | None:
    """Which of the options an answer names, by letter, number or words; None unless it is one."""
    said = plain_words(plain_math(answer))
    by_words = [i for i, each in enumerate(shown) if plain_words(plain_math(each)) == said]
    if len(by_words) == 1:
        return by_words[0]
    plain = unicodedata.normalize("NFKC", _LEAD.sub("", answer.strip())).casefold()
    found = _OPTION.fullmatch(_REASON.sub("", plain).strip(" .。!,，"))
    if not found:
        return None
    sign, rest = found[1], found[2]
    index = int(sign) - 1 if sign.isdigit() else ord(sign) - ord("a")
    if not 0 <= index < len(shown):
        return None
    if rest.strip() and plain_words(rest) != plain_words(shown[index]):
        return None
    return index


def _true_or_false(true: bool, answer: str) -> Grade:
    said = plain_words(_LEAD.sub("", answer)) or plain_words(answer)
    if said not in _TRUE | _FALSE:
        return UNDECIDED
    return RIGHT if (said in _TRUE) == true else WRONG


def _order(shown: Sequence[str], steps: Sequence[str], answer: str) -> Grade:
    parts = [part for part in _BETWEEN.split(answer.strip()) if part]
    if len(parts) == 1:  # B A C, BAC
        parts = answer.split()
        letters = [label(i).casefold() for i in range(len(shown))]
        if len(parts) == 1 and sorted(answer.casefold()) == letters:
            parts = list(answer)
    chosen = [_chosen(shown, part) for part in parts]
    if None in chosen or sorted(i for i in chosen if i is not None) != list(range(len(shown))):
        return UNDECIDED
    given = [shown[i] for i in chosen if i is not None]
    place = {step: n for n, step in enumerate(steps)}
    pairs = list(combinations(given, 2))
    return _share(sum(place[one] < place[other] for one, other in pairs) / len(pairs))


def _cloze(gaps: Sequence[Sequence[str]], answer: str) -> Grade:
    parts = _filled(len(gaps), answer)
    if parts is None:
        return UNDECIDED
    right = [_fits(part, accepted) for part, accepted in zip(parts, gaps, strict=True)]
    if all(right):
        return RIGHT
    # What fits no gap may still be another word for it.
    return UNDECIDED


def _filled(count: int, answer: str) -> list[str] | None:
    """The words for each gap; None where they cannot be told apart."""
    if count == 1:
        return [answer]
    for separator in (r"\n", r"[;；]", r"[,，、/]", r"\s+"):
        parts = [part for part in re.split(separator, answer.strip()) if part.strip()]
        if len(parts) == count:
            return parts
    return None


def _fits(given: str, accepted: Iterable[str]) -> bool:
    said = {plain_words(given), plain_words(_LEAD.sub("", given))}
    for each in accepted:
        if plain_words(each) in said:
            return True
        found = readings(plain_math(given))
        if found and (wanted := readings(plain_math(each))) and wanted[0] in found:
            return True
    return False


def _code(text: str) -> str:
    """Program text without its fence, blank lines, and spaces at the ends of lines."""
    if fenced := _FENCE.match(text):
        text = fenced[1]
    lines = [line.rstrip().expandtabs(4) for line in text.strip("`\n").splitlines()]
    lines = [line for line in lines if line]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "\n".join(line[indent:] for line in lines)


def _share(score: float) -> Grade:
    if score == 1:
        return RIGHT
    return Grade(Verdict.PARTIAL if score >= PARTIAL else Verdict.WRONG, round(score, 3))
