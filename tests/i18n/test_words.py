"""What people read: sentences, plurals, numbers, dates and the choice of a language."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.i18n import LANGUAGES, host_language, language_from, words_for

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh-hans", "zh"),
        ("zh_TW.UTF-8", "zh"),
        ("ZH-Hant-HK", "zh"),
        (" zh ", "zh"),
        ("Chinese (Simplified)_China", "zh"),
        ("en", "en"),
        ("en_US.UTF-8", "en"),
        ("English_United States", "en"),
        ("en-GB", "en"),
    ],
)
def test_a_locale_gives_its_language_whatever_the_default(locale: str, language: str) -> None:
    assert language_from(locale, "en") == language
    assert language_from(locale, "zh") == language


@pytest.mark.parametrize("locale", [None, "", "fr", "C", "POSIX", "zhuang", "-"])
def test_an_unknown_locale_gives_the_default(locale: str | None) -> None:
    assert language_from(locale, "en") == "en"
    assert language_from(locale, "zh") == "zh"


@given(st.text())
def test_any_locale_gives_a_language_we_have(locale: str) -> None:
    assert language_from(locale, "en") in LANGUAGES


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LANG": "en_US", "LC_ALL": "zh_SG"}, "zh"),
        ({"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
    ],
)
def test_the_host_language_follows_the_usual_variables(
    environ: dict[str, str], language: str
) -> None:
    assert host_language(environ) == language


def test_a_sentence_is_shown_in_the_language_asked_for() -> None:
    assert words_for("en")("tomorrow") == "tomorrow"
    assert words_for("zh-hans")("tomorrow") == "明天"
    assert words_for("zh").language == "zh"
    assert words_for("xx").language == "en"


def test_words_of_a_language_are_loaded_once() -> None:
    assert words_for("zh") is words_for("zh_TW")


def test_an_empty_sentence_stays_empty_in_every_language() -> None:
    assert [words_for(language)("") for language in LANGUAGES] == ["", ""]


@given(st.text())
def test_what_people_wrote_is_shown_letter_for_letter(text: str) -> None:
    assert words_for("en")("Saved: {text}", text=text) == f"Saved: {text}"
    assert words_for("zh")("Saved: {text}", text=text).count(text) >= 1


def test_a_value_may_have_any_name_and_braces() -> None:
    said = words_for("en")("{message} {self} {text.x}", message="{0}", self="{", **{"text": Dot()})
    assert said == "{0} { }"


class Dot:
    x = "}"


@pytest.mark.parametrize(
    ("language", "n", "said"),
    [
        ("en", 1, "1 card"),
        ("en", 0, "0 cards"),
        ("en", 2, "2 cards"),
        ("en", 12345, "12,345 cards"),
    ],
)
def test_english_has_two_forms(language: str, n: int, said: str) -> None:
    assert words_for(language).plural("{n} card", "{n} cards", n) == said


def test_a_plural_takes_further_values_and_its_own_number() -> None:
    words = words_for("en")
    assert words.plural("{n} of {all}", "{n} of {all}", 2, all=3) == "2 of 3"
    assert words.plural("{n}", "{n} times", 2, n="two") == "two times"


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (-7, "-7"), (999, "999"), (1234567, "1,234,567"), (2.5, "2.5")]
)
def test_numbers_have_separators(value: float, said: str) -> None:
    assert words_for("en").number(value) == said
    assert words_for("zh").number(value) == said


@pytest.mark.parametrize(
    ("days", "english", "chinese"),
    [
        (-40, "on 21 October", "10月21日"),
        (-2, "on 28 November", "11月28日"),
        (-1, "yesterday", "昨天"),
        (0, "today", "今天"),
        (1, "tomorrow", "明天"),
        (2, "on Wednesday", "星期三"),
        (6, "on Sunday", "星期日"),
        (7, "on 7 December", "12月7日"),
        (40, "on 9 January 2027", "2027年1月9日"),
    ],
)
def test_a_day_is_named_as_people_do(days: int, english: str, chinese: str) -> None:
    day = MONDAY + timedelta(days)
    assert words_for("en").day(day, MONDAY) == english
    assert words_for("zh").day(day, MONDAY) == chinese


def test_dates_and_times_are_written_in_the_learners_zone_and_language() -> None:
    instant = datetime(2026, 11, 30, 1, 5, tzinfo=UTC)
    assert words_for("en").time(instant, "Asia/Shanghai") == "09:05"
    assert words_for("zh").time(instant, "America/New_York") == "20:05"
    assert words_for("en").date(MONDAY) == "30 November 2026"
    assert words_for("zh").date(MONDAY) == "2026年11月30日"


def test_saying_a_sentence_does_not_load_babel() -> None:
    program = (
        "import sys; from core.i18n import words_for; words_for('zh')('today');"
        "words_for('en').plural('{n} card', '{n} cards', 3);"
        "sys.exit(any(name.split('.')[0] == 'babel' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
