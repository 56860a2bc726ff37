"""Looking through everything that is remembered: events, what they show, and who the learner is.

How well the words fit is told by the index (``memory.index``), or by a plain scan of the files
where there can be none. What is surer counts more: a person's own words before the profile, that
before what one surface shows, that before what was once said; and of two alike the newer one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import date
from typing import Final

from memory.document import Audience
from memory.index import IndexUnusable, Match, matches
from memory.layers import LearnerFolder, MemoryBusy
from memory.places import Layer, Place, files, places
from memory.words import asked_words, fitness

_WEIGHT: Final = {Layer.EVENT: 1.0, Layer.SURFACE: 1.2, Layer.PROFILE: 1.4}
_OWN_WEIGHT: Final = 1.6
_HALF_LIFE_DAYS: Final = 180
"""After so long a newer text's lead is half of what it can be."""
_LASTING: Final = 0.5
"""What remains of the weight of the oldest text."""
_MOST_WORDS: Final = 48

_log = logging.getLogger(__name__)


def search(
    folder: LearnerFolder, query: str, *, audience: Audience, most: int = 8
) -> tuple[Place, ...]:
    """Return what is remembered about ``query`` in all layers, best first, at most ``most``.

    In a group only entries marked shareable are looked at, and no event. Nothing is found twice.
    Raises OSError where even the files cannot be read.
    """
    shared = audience is Audience.GROUP
    words = asked_words(query)[:_MOST_WORDS]
    try:
        found = matches(folder, words, shared=shared)
    except (IndexUnusable, MemoryBusy) as error:
        _log.info("learner %s is searched without an index (%s)", folder.learner, error)
        found = scan(folder, query, shared=shared)
    return tuple(match.place for match in _ranked(found)[:most])


def scan(folder: LearnerFolder, query: str, *, shared: bool) -> list[Match]:
    """Return what ``memory.index.matches`` would, by reading all files; takes time with them."""
    all_places = [place for path in files(folder) for place in places(folder, path)]
    if shared:
        all_places = [place for place in all_places if place.shared]
    scores = fitness(query, (place.text for place in all_places))
    return [Match(place, score) for place, score in zip(all_places, scores, strict=True) if score]


def _ranked(found: Iterable[Match]) -> list[Match]:
    found = list(found)
    days = [match.place.day for match in found if match.place.day is not None]
    newest = max(days, default=date.min)

    def order(match: Match) -> tuple[float, date, str]:
        place = match.place
        return match.score * _weight(place, newest), place.day or date.max, place.source

    return sorted(found, key=order, reverse=True)


def _weight(place: Place, newest: date) -> float:
    """How much is given on a place: by its layer and, beside the newest one found, by its age."""
    if place.day is None:
        return _OWN_WEIGHT
    freshness: float = 0.5 ** ((newest - place.day).days / _HALF_LIFE_DAYS)
    return _WEIGHT[place.layer] * (_LASTING + (1 - _LASTING) * freshness)
