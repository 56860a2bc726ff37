"""Looking through everything that is remembered: the day files and what a learner reads.

A plain scan with a weight for rare words, over words of spaced scripts and pairs of characters of
scripts without spaces. It reads the files themselves, so it is never behind them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from memory.document import Audience
from memory.journal import read_events
from memory.layers import LearnerFolder
from memory.recall import overview

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_SATURATION: Final = 1.2
"""How soon a repeated word counts no more (k1 of Okapi BM25)."""
_LENGTH: Final = 0.75
"""How much a long text is held back (b of Okapi BM25)."""


@dataclass(frozen=True, slots=True)
class Found:
    """One place where something is remembered."""

    text: str
    day: date | None
    """When it was said, in the learner's zone; None for an entry of the profile."""
    source: str
    """Id of the event (``e_…``), or the name of the document."""


def search(
    folder: LearnerFolder, query: str, *, audience: Audience, most: int = 8
) -> tuple[Found, ...]:
    """Return what is remembered about ``query``, best first (Okapi BM25).

    In a group only entries marked shareable are looked at, and no event.
    """
    places = [*_entries(folder, audience)]
    if audience is Audience.PRIVATE:
        places += [
            Found(event.text, event.at.date(), f"e_{event.id}") for event in read_events(folder)
        ]
    wanted = set(_terms(query))
    texts = [Counter(_terms(place.text)) for place in places]
    ranked = sorted(
        ((score, n) for n, score in enumerate(_scores(wanted, texts)) if score > 0),
        key=lambda pair: (-pair[0], -pair[1]),
    )
    return tuple(places[n] for _, n in ranked[:most])


def _entries(folder: LearnerFolder, audience: Audience) -> Iterable[Found]:
    for section in overview(folder):
        for item in section.items:
            if audience is Audience.PRIVATE or item.audience is Audience.GROUP:
                yield Found("\n".join(item.lines), None, section.document.value)


def _terms(text: str) -> list[str]:
    folded = text.casefold()
    terms: list[str] = []
    for run in _UNSPACED.findall(folded):
        terms += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return terms + _WORD.findall(_UNSPACED.sub(" ", folded))


def _scores(wanted: set[str], texts: Sequence[Counter[str]]) -> list[float]:
    if not texts:
        return []
    lengths = [text.total() for text in texts]
    average = sum(lengths) / len(texts) or 1.0
    scores = [0.0] * len(texts)
    for term in wanted:
        holding = [n for n, text in enumerate(texts) if term in text]
        rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for n in holding:
            often = texts[n][term]
            long = 1 - _LENGTH + _LENGTH * lengths[n] / average
            scores[n] += rarity * often * (_SATURATION + 1) / (often + _SATURATION * long)
    return scores
