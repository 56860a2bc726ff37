"""The tutor's own words in the languages it speaks: gettext catalogs, English sentences as keys.

A sentence is written once, in English, where it is used: ``words("Saved: {text}", text=text)``.
``make messages`` collects the sentences into ``locales/<language>/LC_MESSAGES/partners.po`` and
compiles them. English needs no catalog: a sentence without a translation is shown as its key.
Dates, times and large numbers are written by Babel, which is loaded when the first one is shown.
"""

from __future__ import annotations

import datetime as dt
import gettext
import locale
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, cast
from zoneinfo import ZoneInfo

Language = Literal["en", "zh"]

LANGUAGES: Final[Mapping[Language, str]] = {"en": "English", "zh": "中文"}
"""Code of each language and its name in itself; the first is the language of the keys."""

DOMAIN: Final = "partners"
LOCALES: Final = Path(__file__).parent / "locales"

# Regional forms that Babel knows: day before month and 24 hours in English, for readers anywhere.
_FORMATS: Final[Mapping[Language, str]] = {"en": "en_GB", "zh": "zh_Hans_CN"}


def N_(message: str) -> str:  # noqa: N802 - the name that extractors of messages know
    """Mark a sentence for the catalogs and return it unchanged; it is translated where shown."""
    return message


class Words:
    """Everything the tutor says in one language. Get one from ``words_for``.

    Only the sentence is a template; values are placed as they are, braces and all. They are not
    escaped for Markdown: that is ``core.document.plain``.
    """

    __slots__ = ("_catalog", "language")

    def __init__(self, language: Language) -> None:
        self.language: Final = language
        self._catalog = gettext.translation(DOMAIN, LOCALES, [language], fallback=True)

    def __call__(self, message: str, /, **values: object) -> str:
        """Return ``message`` in this language with its ``{named}`` places filled.

        Raises KeyError when a place has no value.
        """
        # An empty key would fetch the catalog's own header.
        return self._catalog.gettext(message).format(**values) if message else ""

    def plural(self, one: str, many: str, n: int, /, **values: object) -> str:
        """Return the form that fits ``n``; ``{n}`` is the number as this language writes it."""
        chosen = self._catalog.ngettext(one, many, n)
        return chosen.format(**{"n": self.number(n), **values})

    def number(self, value: float) -> str:
        """Write a number with this language's separators: 1234.5 gives ``1,234.5``."""
        if isinstance(value, int) and abs(value) < 1000:
            return str(value)
        from babel.numbers import format_decimal

        return str(format_decimal(value, locale=_FORMATS[self.language]))

    def date(self, day: dt.date) -> str:
        """Write a whole date: ``12 December 2026``, ``2026年12月12日``."""
        return self._skeleton("yMMMMd", day)

    def time(self, instant: dt.datetime, zone: str) -> str:
        """Write the clock time of an aware ``instant`` in the IANA ``zone``: ``09:00``."""
        from babel.dates import format_time

        local = instant.astimezone(ZoneInfo(zone))
        return str(format_time(local, "short", tzinfo=local.tzinfo, locale=_FORMATS[self.language]))

    def day(self, day: dt.date, today: dt.date) -> str:
        """Name a day as people do, to stand inside a sentence.

        ``yesterday``, ``today``, ``tomorrow``, ``on Friday`` within the coming six days, else
        ``on 12 December``, with the year where it is another one.
        """
        distance = (day - today).days
        match distance:
            case -1:
                return self(N_("yesterday"))
            case 0:
                return self(N_("today"))
            case 1:
                return self(N_("tomorrow"))
        if 1 < distance < 7:
            from babel.dates import format_date

            name = str(format_date(day, "EEEE", locale=_FORMATS[self.language]))
        else:
            name = self._skeleton("MMMMd" if day.year == today.year else "yMMMMd", day)
        return self(N_("on {day}"), day=name)

    def _skeleton(self, skeleton: str, day: dt.date) -> str:
        from babel.dates import format_skeleton

        # A zone would only matter for instants; noon keeps the date the same in any of them.
        noon = dt.datetime.combine(day, dt.time(12))
        return str(format_skeleton(skeleton, noon, locale=_FORMATS[self.language]))


@cache
def _words(language: Language) -> Words:
    return Words(language)


def words_for(language: str) -> Words:
    """Return the words of a language code or locale; those of English for an unknown one."""
    return _words(language_from(language, "en"))


def language_from(locale_name: str | None, default: Language) -> Language:
    """Choose the language that fits a locale: a BCP 47 tag, a POSIX or a Windows name.

    ``zh-CN``, ``zh-hans``, ``zh_TW.UTF-8`` and ``Chinese (Simplified)_China`` give ``zh``; what is
    unknown or absent gives ``default``.
    """
    tag = (locale_name or "").strip().lower().replace("_", "-")
    primary = tag.split(".")[0].split("-")[0].split(" ")[0]
    windows = {"english": "en", "chinese": "zh"}
    code = windows.get(primary, primary)
    return cast(Language, code) if code in LANGUAGES else default


def host_language(environ: Mapping[str, str] = os.environ) -> Language:
    """Return the language of the machine's locale, English where that is not one of ours."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(variable):
            return language_from(environ[variable], "en")
    return language_from(locale.getlocale()[0], "en")
