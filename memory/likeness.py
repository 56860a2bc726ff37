"""When two entries say the same: one normal form of a text, and a measure between two. Pure.

Words of spaced scripts, pairs of characters of scripts without spaces. Texts that differ in a
number or in a "not" never say the same, however alike they look.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

ALIKE: Final = 0.8
"""Share of common terms (Jaccard) from which two texts say the same."""

_WORD: Final = re.compile(r"[^\W\d_]+|\d+(?:[.,/:-]\d+)*")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_NUMBER: Final = re.compile(r"\d+")
_NOT: Final = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none|stopped|unable)\b|n['’]t\b"
    r"|[不没沒无無非别莫未勿]"
)
_EMPTY_WORDS: Final = frozenset(
    ["a", "an", "the", "is", "are", "was", "be", "to", "of", "and", "that", "learner", "they", "s"]
)
"""Carry nothing that tells two facts apart."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What of a text is compared."""

    normal: str
    """The text without case, accents' widths, punctuation and spaces."""
    terms: frozenset[str]
    numbers: tuple[str, ...]
    negated: int
    """How often it says "not"."""


def likeness(text: str) -> Likeness:
    """Return what of a text is compared."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = _UNSPACED.sub(" ", folded)
    terms = {stem for word in _WORD.findall(spaced) if (stem := _stem(word)) not in _EMPTY_WORDS}
    for run in _UNSPACED.findall(folded):
        terms.update(run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else terms.add(
            run
        )
    return Likeness(
        "".join(c for c in folded if c.isalnum()),
        frozenset(terms),
        tuple(sorted(_NUMBER.findall(folded))),
        len(_NOT.findall(folded)),
    )


def alike(one: Likeness, other: Likeness) -> bool:
    """Tell whether two texts say the same."""
    if one.normal == other.normal:
        return True
    if one.numbers != other.numbers or one.negated != other.negated:
        return False
    union = len(one.terms | other.terms)
    return union > 0 and len(one.terms & other.terms) / union >= ALIKE


def repeats(text: str, others: Iterable[str]) -> bool:
    """Tell whether a text says what one of the others says."""
    mine = likeness(text)
    return any(alike(mine, likeness(other)) for other in others)


def _stem(word: str) -> str:
    """Drop the s of a plural or of a third person: "likes proofs" says what "like proof" says."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
