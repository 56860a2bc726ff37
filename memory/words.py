"""Texts as the words they are looked up by, and how well they fit a question. Pure.

A word of a spaced script counts in its base form; a script without spaces is cut into pairs of
neighbouring characters, which finds a word of two characters wherever it stands, and into single
ones for a question of one character.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    # Thai to Myanmar, Khmer, kana, Han, Hangul (its endings hang on the word), the later planes
    "[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_VOWEL: Final = re.compile("[aeiouy]")
_SATURATION: Final = 1.2
"""How soon a repeated word counts no more (k1 of Okapi BM25)."""
_LENGTH: Final = 0.75
"""How much a long text is held back (b of Okapi BM25)."""


def stored_words(text: str) -> list[str]:
    """Return the words a text is kept under, in order; none holds a space or an ASCII sign."""
    return _words(text, alone=True)


def asked_words(text: str) -> list[str]:
    """Return the words that a question is looked up by, each once, in order."""
    return list(dict.fromkeys(_words(text, alone=False)))


def fitness(question: str, texts: Iterable[str]) -> list[float]:
    """Return for each text how well it fits (Okapi BM25 among these texts); 0 for not at all."""
    return _okapi(asked_words(question), [Counter(stored_words(text)) for text in texts])


def _words(text: str, *, alone: bool) -> list[str]:
    """``alone``: also the single characters of what is cut into pairs."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    folded = unicodedata.normalize("NFC", _ACCENTS.sub("", folded))
    words: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(folded):
        words += map(_base, _WORD.findall(folded[end : run.start()]))
        end = run.end()
        letters = run[0]
        if alone or len(letters) == 1:
            words += letters
        words += [letters[i : i + 2] for i in range(len(letters) - 1)]
    return words + [_base(word) for word in _WORD.findall(folded[end:])]


@lru_cache(maxsize=8192)
def _base(word: str) -> str:
    """Undo the endings of English plurals and verbs, much as Porter's first step does (1980)."""
    if len(word) < 4 or not word.isascii():
        return word
    stem = _uninflected(word)
    return stem[:-1] if stem.endswith("e") and len(stem) > 4 else stem


def _uninflected(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and _VOWEL.search(stem):
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word


def _okapi(wanted: Sequence[str], texts: Sequence[Counter[str]]) -> list[float]:
    lengths = [text.total() for text in texts]
    average = sum(lengths) / len(texts) if sum(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in wanted:
        holding = [n for n, text in enumerate(texts) if word in text]
        rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for n in holding:
            often = texts[n][word]
            long = 1 - _LENGTH + _LENGTH * lengths[n] / average
            scores[n] += rarity * often * (_SATURATION + 1) / (often + _SATURATION * long)
    return scores
