"""Time as the house uses it: UTC instants, wall clocks of a zone, and study days.

An instant is an aware ``datetime`` in UTC. What a learner means ("at nine") is a wall-clock time in
their zone and is computed anew for every date, never by adding 24 hours, so daylight saving and a
change of zone need no repair. Nothing here reads the host's clock but ``SystemClock``.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

ROLLOVER = time(4)
"""A study day begins at this local time, so that late evenings count as one day."""

MOST_ZONES = 8
"""How many zones ``resolve_zone`` offers at most: what fits on a few rows of buttons."""

_NOT_PLACES = frozenset({"Factory", "localtime"})
_REGIONS = frozenset(
    {"Africa", "America", "Antarctica", "Arctic", "Asia"}
    | {"Atlantic", "Australia", "Europe", "Indian", "Pacific"}
)

_OFFSET = re.compile(r"(?:(?:utc|gmt)\s*([+-]?)|([+-]))\s*(\d{1,2})(?::?([0-5]\d))?")

_PART_HOURS = {
    -570: "Pacific/Marquesas",
    -210: "America/St_Johns",
    210: "Asia/Tehran",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
    630: "Australia/Lord_Howe",
    765: "Pacific/Chatham",
}
"""Offsets in minutes that have no ``Etc/`` zone, each with a place that keeps it."""

_CITIES = {
    "Asia/Shanghai": "北京 深圳 广州 杭州 成都 南京 武汉 西安 天津 重庆 苏州 青岛 厦门 长沙 郑州 "
    "沈阳 大连 济南 合肥 福州 昆明 宁波 东八区 beijing shenzhen guangzhou hangzhou chengdu nanjing "
    "wuhan xian tianjin suzhou",
    "Asia/Tokyo": "大阪 京都 osaka kyoto",
    "Asia/Kolkata": "孟买 新德里 mumbai delhi bangalore",
    "Europe/Berlin": "慕尼黑 法兰克福 汉堡 munich frankfurt hamburg cologne",
    "Europe/Madrid": "barcelona",
    "Europe/Rome": "milan",
    "Europe/Zurich": "日内瓦 geneva basel",
    "America/New_York": "usa united_states 美国 波士顿 华盛顿 boston washington miami atlanta",
    "America/Chicago": "usa united_states 美国 休斯敦 houston dallas austin",
    "America/Denver": "usa united_states 美国",
    "America/Los_Angeles": "usa united_states 美国 旧金山 西雅图 san_francisco seattle",
}
"""Large cities that have no zone of their own name, and the usual zones of a large country."""


class Clock(Protocol):
    """Where the present comes from."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC."""
        ...


class SystemClock:
    """The clock of the host."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC."""
        return datetime.now(UTC)


class ZoneUnknown(ValueError):
    """A name that is no IANA zone; ``suggestions`` are zones that may have been meant."""

    def __init__(self, name: str, suggestions: tuple[str, ...]) -> None:
        hint = f" Did you mean {' or '.join(suggestions)}?" if suggestions else ""
        super().__init__(f"{name!r} is no time zone.{hint}")
        self.name = name
        self.suggestions = suggestions


def zone(name: str) -> ZoneInfo:
    """Return the zone of an IANA name, spelled exactly; raise ``ZoneUnknown`` for any other."""
    if name in _packaged() or name in available_timezones() - _NOT_PLACES:
        return ZoneInfo(name)
    suggestions = resolve_zone(name)
    if not suggestions:
        by_fold = {_fold(known.rpartition("/")[2]): known for known in sorted(_packaged())}
        near = difflib.get_close_matches(_fold(name).rpartition("/")[2], by_fold, n=3, cutoff=0.75)
        suggestions = [by_fold[key] for key in near]
    raise ZoneUnknown(name, tuple(suggestions[:3]))


def standing(name: str) -> str:
    """Return the name of a stored zone; UTC where this machine does not know it (any more)."""
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


def study_date(instant: datetime, zone: ZoneInfo) -> date:
    """Return the study day an instant falls in: the local date, changing at 04:00.

    The hour is that of Anki's day change; ``ValueError`` for an instant without an offset.
    """
    local = _aware(instant).astimezone(zone)
    return local.date() if local.time() >= ROLLOVER else local.date() - timedelta(days=1)


def local_instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the UTC instant at which a wall clock in ``zone`` shows ``day`` and ``at``.

    A time that the clock skips gives the first moment after the gap; one that it shows twice gives
    the first of the two.
    """
    wall = datetime.combine(day, at.replace(tzinfo=None, fold=0))
    found = wall.replace(tzinfo=zone).astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) == wall:
        return found
    # In a gap the two readings of ``fold`` lie on either side of the change (PEP 495): search it.
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    while found - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(found - before) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            found = middle
    return found


def resolve_zone(text: str) -> list[str]:
    """Return the zones that a person may mean, best first, at most ``MOST_ZONES``.

    Understands IANA names in any case, cities and countries in English and Chinese (CLDR), and
    offsets such as ``UTC+8`` or ``+05:30``. Empty when nothing fits; several when it is ambiguous.
    """
    wanted = _fold(text)
    if not wanted:
        return []
    if offset := _OFFSET.fullmatch(wanted):
        return _of_offset(offset)
    places = _places()
    for key in (wanted, wanted.removesuffix("时间"), wanted.removesuffix("市")):
        if key in places:
            return _distinct(places[key])[:MOST_ZONES]
    for known in _packaged():
        if _fold(known) == wanted:
            return [known]
    if len(wanted) < 2:
        return []
    partly = (
        name
        for key in sorted(places)
        if key.startswith(wanted) or f" {wanted}" in key
        for name in places[key]
    )
    return list(dict.fromkeys(partly))[:MOST_ZONES]


def _aware(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise ValueError(f"an instant needs an offset: {instant!r}")
    return instant


def _fold(text: str) -> str:
    """Bring a name to one form: no case, accents or underscores, single spaces."""
    wide = unicodedata.normalize("NFKD", text.replace("−", "-")).casefold()
    bare = "".join(c for c in wide if not unicodedata.combining(c))
    return " ".join(bare.replace("_", " ").split())


def _of_offset(match: re.Match[str]) -> list[str]:
    sign = -1 if "-" in (match[1], match[2]) else 1
    minutes = sign * (int(match[3]) * 60 + int(match[4] or 0))
    if minutes == 0:
        return ["UTC"]
    if minutes % 60:
        return [_PART_HOURS[minutes]] if minutes in _PART_HOURS else []
    # Names under Etc/ count westwards: the zone of UTC+8 is Etc/GMT-8 (POSIX sign).
    name = f"Etc/GMT{-minutes // 60:+d}"
    return [name] if name in _packaged() else []


@cache
def _packaged() -> frozenset[str]:
    """Names of the tzdata package: the same on every system, and read from one file."""
    names = files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return frozenset(names) - _NOT_PLACES


@cache
def _countries() -> dict[str, str]:
    """Present-day zone names, each with its ISO 3166 country code (zone.tab of tzdata)."""
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if line and line[0] != "#")
    return {row[2]: row[0] for row in rows}


@cache
def _places() -> dict[str, tuple[str, ...]]:
    """Folded names of cities, countries and zones, each with the zones it may mean."""
    found: dict[str, dict[str, None]] = {}
    for key, name in _named_places():
        if folded := _fold(key):
            found.setdefault(folded, {})[name] = None
    return {key: tuple(names) for key, names in found.items()}


def _named_places() -> Iterator[tuple[str, str]]:
    from babel import Locale  # the locale data takes tens of milliseconds, and is rarely needed

    countries = _countries()
    modern = {_fold(name.rpartition("/")[2]): name for name in countries}
    english = Locale("en")
    for name, cities in _CITIES.items():
        for city in cities.split():
            yield city, name
    for name in sorted(_packaged(), key=lambda known: (known not in countries, known)):
        region, _, city = name.partition("/")
        if region in _REGIONS:
            yield name, name
            yield city.rpartition("/")[2], name
    for locale in (english, Locale("zh")):
        for name, data in locale.time_zones.items():
            # CLDR keeps the first name a zone ever had; its English city leads to today's.
            today = str(english.time_zones.get(name, {}).get("city", ""))
            current = name if name in countries else modern.get(_fold(today), name)
            if current.partition("/")[0] in _REGIONS and current in _packaged():
                yield str(data.get("city", "")), current
        for name, code in countries.items():
            yield str(locale.territories.get(code, "")), name


def _distinct(names: tuple[str, ...]) -> list[str]:
    """Leave out zones that only repeat the rules of an earlier one, such as former names."""
    root = files("tzdata").joinpath("zoneinfo")
    kept: dict[bytes, str] = {}
    for name in names:
        kept.setdefault(root.joinpath(*name.split("/")).read_bytes(), name)
    return list(kept.values())
