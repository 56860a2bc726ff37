"""Words of time that would be wrong tomorrow, made into dates. Pure.

"Exam next week" is true for some days and misleading for years. The day that such words are
measured from is the one on which they were said; weeks begin on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = "|".join(_DAYS)
_CHINESE_DAYS: Final = "一二三四五六日天"
_SHIFT: Final = {"this": 0, "next": 1, "last": -1, "本": 0, "这": 0, "这个": 0, "下": 1, "下个": 1,
                 "上": -1, "上个": -1}  # fmt: skip
_ENGLISH_DAY: Final = {
    "the day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "last night": -1, "tomorrow": 1,
    "the day after tomorrow": 2,
}  # fmt: skip
_CHINESE_DAY: Final = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "今天": 0, "今晚": 0, "今日": 0,
    "明天": 1, "明日": 1, "明晚": 1, "大后天": 3, "后天": 2,
}  # fmt: skip

_ENGLISH: Final = re.compile(
    rf"""
    \b(?:(?:on\s+)?(?P<day>{"|".join(sorted(_ENGLISH_DAY, key=len, reverse=True))})
      | (?:on\s+)?(?P<which>this|next|last)\s+(?P<weekday>{_WEEKDAY})
      | (?:in\s+|during\s+)?(?P<span>this|next|last)\s+(?P<unit>week(?!end)|month|year)
    )\b(?!['’]s\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    rf"""
    (?P<day>{"|".join(sorted(_CHINESE_DAY, key=len, reverse=True))})
  | (?P<which>这个?|本|下个?|上个?)(?:周|星期|礼拜)(?P<weekday>[{_CHINESE_DAYS}])(?!半)
  | (?P<span>这个?|本|下个?|上个?)(?P<unit>周|星期|礼拜|月)(?!末|期|经)
  | (?P<year>今年|明年|去年)
    """,
    re.VERBOSE,
)


def redate(text: str, said: date) -> str:
    """Return a text with days, weeks and months relative to ``said`` as dates."""
    text = _ENGLISH.sub(lambda found: _english(found, said), text)
    return _CHINESE.sub(lambda found: _chinese(found, said), text)


def _english(found: re.Match[str], said: date) -> str:
    if found["day"]:
        shift = _ENGLISH_DAY[re.sub(r"\s+", " ", found["day"].lower())]
        return _as(found, f"on {said + timedelta(days=shift)}")
    if found["which"]:
        weekday = _DAYS.index(found["weekday"].lower())
        return _as(found, f"on {_weekday(said, _SHIFT[found['which'].lower()], weekday)}")
    shift, unit = _SHIFT[found["span"].lower()], found["unit"].lower()
    if unit == "week":
        return _as(found, f"in the week of {_weekday(said, shift, 0)}")
    return _as(found, f"in {_month(said, shift) if unit == 'month' else said.year + shift}")


def _chinese(found: re.Match[str], said: date) -> str:
    if found["day"]:
        return _date(said + timedelta(days=_CHINESE_DAY[found["day"]]))
    if found["which"]:
        weekday = min(_CHINESE_DAYS.index(found["weekday"]), 6)
        return _date(_weekday(said, _SHIFT[found["which"]], weekday))
    if found["year"]:
        return f"{said.year + {'今': 0, '明': 1, '去': -1}[found['year'][0]]}年"
    shift = _SHIFT[found["span"]]
    if found["unit"] == "月":
        year, month = _month(said, shift).split("-")
        return f"{year}年{int(month)}月"
    return f"{_date(_weekday(said, shift, 0))}那一周"


def _date(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _weekday(said: date, weeks: int, weekday: int) -> date:
    return said + timedelta(days=7 * weeks - said.weekday() + weekday)


def _month(said: date, shift: int) -> str:
    months = said.year * 12 + said.month - 1 + shift
    return f"{months // 12}-{months % 12 + 1:02d}"


def _as(found: re.Match[str], words: str) -> str:
    """At the beginning of a text the first letter stays a capital."""
    first: Callable[[str], str] = str.capitalize if found[0][:1].isupper() else str
    return first(words)
