"""Names of time zones: the proper spelling, a guess for a misspelt one, the machine's own.

The names are those of the ``tzdata`` package, the same on every system (what a system holds
besides, such as ``localtime``, is no zone to keep beside a learner).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import tzlocal


@cache
def _names() -> Mapping[str, str]:
    """Every zone, its name in small letters to its proper name."""
    names = files("tzdata").joinpath("zones").read_text("utf-8").split()
    return MappingProxyType({name.casefold(): name for name in sorted(names)})


def _key(text: str) -> str:
    return "_".join(text.split()).casefold()


def zone_name(text: str) -> str | None:
    """Return the proper IANA name: ``asia/shanghai`` gives ``Asia/Shanghai``; None if unknown."""
    return _names().get(_key(text))


def similar_zone(text: str) -> str | None:
    """Return the zone that ``text`` most likely means, by its city or its whole name.

    ``Shanghai`` and ``Asia/Shangai`` give ``Asia/Shanghai``; None when nothing is near.
    """
    names = _names()
    cities: dict[str, str] = {}
    for key, name in names.items():
        cities.setdefault(key.rsplit("/", 1)[-1], name)
    for table in (cities, names):
        if near := difflib.get_close_matches(_key(text), table, n=1, cutoff=0.75):
            return table[near[0]]
    return None


def host_zone() -> str:
    """Return the zone of this machine, UTC where it does not tell."""
    try:
        name = tzlocal.get_localzone_name()
    except (ValueError, LookupError, OSError):  # what tzlocal raises for a setting it cannot read
        return "UTC"
    return zone_name(name or "") or "UTC"
