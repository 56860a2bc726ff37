"""Numbers as people write them: exact values of decimals, fractions, percents, powers and words.

Understands both decimal signs, Unicode fractions and exponents, English words below a million and
Chinese numerals. What can be read in two ways (``1,234``) gives both readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final

LONGEST: Final = 60
"""Characters of a number; longer texts are none."""
_MOST_POWER: Final = 400
"""Largest exponent that is worked out: beyond it nothing is asked, and digits would swell."""

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN: Final = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SET_FRACTION: Final = re.compile(r"([⁰¹²³⁴⁵⁶⁷⁸⁹]+)[⁄/]([₀-₉]+)")
_SIGNS: Final = str.maketrans("−–—﹣－＋", "-----+")

_DIGITS: Final = r"\d+(?:[.,' \u202f\u2009]\d+)*|[.,]\d+"
_PLAIN: Final = re.compile(rf"([+-]?)\s*({_DIGITS})")
_POWER: Final = re.compile(
    rf"([+-]?(?:{_DIGITS}))?\s*(?:(?:[x×*·⋅]\s*)?10\s*(?:\^|\*\*)\s*\(?\s*([+-]?\d+)\s*\)?"
    r"|(?<=[\d.])e([+-]?\d+))"
)
_RATIO: Final = re.compile(
    rf"([+-]?)\s*(?:(\d+)[ +]+)?([+-]?(?:{_DIGITS}))\s*[/÷⁄∕:]\s*([+-]?(?:{_DIGITS}))"
)
_SHARE: Final = {"%": 100, "percent": 100, "per cent": 100, "‰": 1000, "per mille": 1000}

_TEENS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH: Final = {
    **{word: value for value, word in enumerate(_TEENS.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=2)},
}
_PARTS: Final = {
    name: value
    for value, names in {
        2: "half halves",
        3: "third thirds",
        4: "quarter quarters fourth fourths",
        5: "fifth fifths",
        6: "sixth sixths",
        7: "seventh sevenths",
        8: "eighth eighths",
        9: "ninth ninths",
        10: "tenth tenths",
        100: "hundredth hundredths",
    }.items()
    for name in names.split()
}

_HAN_DIGITS: Final = {
    **{c: n for n, c in enumerate("零一二三四五六七八九")},
    **{c: n for n, c in enumerate("零壹贰叁肆伍陆柒捌玖")},
    **{"〇": 0, "两": 2, "兩": 2, "貳": 2, "參": 3, "陸": 6},
}
_HAN_UNITS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_HAN_GROUPS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN: Final = frozenset({*_HAN_DIGITS, *_HAN_UNITS, *_HAN_GROUPS, *"点點负負分之又半百"})


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[Fraction, ...]:
    """Return the exact values that a text may stand for, the likeliest first; none for no number.

    A percentage is its share: ``75 %`` is 3/4.
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        return ()
    return tuple(dict.fromkeys(_readings(_plain(text))))


def exact(text: str) -> Fraction | None:
    """Return the likeliest value of a text; None for no number."""
    return next(iter(readings(text)), None)


def _plain(text: str) -> str:
    """One way to write the same: narrow, lower case, ``^`` before exponents, ``/`` in fractions."""
    text = _SET_FRACTION.sub(lambda parts: f" {parts[1].translate(_SUPERSCRIPTS)}/{parts[2]}", text)
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    # ½ becomes 1⁄2, and 1½ must not become 11⁄2.
    text = "".join(
        f" {unicodedata.normalize('NFKC', c)}" if unicodedata.category(c) == "No" else c
        for c in text
    )
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold().strip()
    return text.rstrip("。!?").removesuffix(".") if not text.startswith(".") else text


def _readings(text: str) -> Iterator[Fraction]:
    for sign, parts in _SHARE.items():
        if text.endswith(sign):
            for value in readings(text.removesuffix(sign)):
                yield value / parts
            return
    if found := _PLAIN.fullmatch(text):
        for value in _decimals(found[2]):
            yield -value if found[1] == "-" else value
    elif found := _RATIO.fullmatch(text):
        yield from _ratio(*found.groups())
    elif (found := _POWER.fullmatch(text)) and (found[1] or found[2]):
        power = int(found[2] or found[3])
        if abs(power) <= _MOST_POWER:
            scale = Fraction(10) ** power
            for value in readings(found[1]) if found[1] else (Fraction(1),):
                yield value * scale
    else:
        for in_words in (_chinese(text), _english(text)):
            if in_words is not None:
                yield in_words


def _ratio(sign: str, whole: str | None, above: str, below: str) -> Iterator[Fraction]:
    for upper in readings(above):
        for lower in readings(below):
            if lower:
                value = upper / lower + int(whole or 0)
                yield -value if sign == "-" else value


def _decimals(text: str) -> Iterator[Fraction]:
    """The readings of digits with marks between: groups of three, and a decimal sign."""
    marks = [c for c in text if not c.isdigit()]
    if not marks:
        yield Fraction(int(text))
        return
    last = marks[-1]
    groups = re.split(r"\D", text)
    threes = 0 < len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    grouped = threes and len(set(marks)) == 1 and groups[0] != "0"
    decimal = last in ".," and marks.count(last) == 1
    if decimal and len(marks) > 1:
        front = re.split(r"\D", text.rpartition(last)[0])
        decimal = (
            len(set(marks[:-1])) == 1
            and 0 < len(front[0]) <= 3
            and all(len(group) == 3 for group in front[1:])
        )
    whole = Fraction(int("".join(groups))) if grouped else None
    point: Fraction | None = None
    if decimal:
        before, _, after = text.rpartition(last)
        digits = re.sub(r"\D", "", before) or "0"
        point = int(digits) + Fraction(int(after), 10 ** len(after))
    # A point is a decimal sign first, a comma with three digits behind it a separator first.
    first, second = (point, whole) if last == "." else (whole, point)
    yield from (value for value in (first, second) if value is not None)


def _english(text: str) -> Fraction | None:
    words = re.findall(r"[a-z]+", text)
    if not words or re.sub(r"[a-z\s,-]", "", text):
        return None
    sign = 1
    if words[0] in ("minus", "negative"):
        sign, words = -1, words[1:]
    if words and words[-1] in _PARTS:
        part = Fraction(1, _PARTS[words[-1]])
        words = words[:-1]
        if words and words[-1] in ("a", "an"):
            words = [*words[:-1], "one"]
        front, _, back = " ".join(words).partition(" and ")
        if back:
            whole, count = _cardinal(front.split()), _cardinal(back.split())
            return None if whole is None or count is None else sign * (whole + count * part)
        count = _cardinal(words) if words else Fraction(1)
        return None if count is None else sign * count * part
    if "point" in words:
        at = words.index("point")
        whole = _cardinal(words[:at]) if words[:at] else Fraction(0)
        digits = [_ENGLISH.get(word, 10) for word in words[at + 1 :]]
        if whole is None or not digits or max(digits) > 9:
            return None
        return sign * (whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits)))
    value = _cardinal(words)
    return None if value is None else sign * value


def _cardinal(words: list[str]) -> Fraction | None:
    total = group = 0
    seen = False
    for word in words:
        if word == "and" and seen:
            continue
        if word in _ENGLISH:
            group += _ENGLISH[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word == "thousand":
            total, group = total + (group or 1) * 1000, 0
        else:
            return None
        seen = True
    return Fraction(total + group) if seen else None


def _chinese(text: str) -> Fraction | None:
    text = text.replace(" ", "")
    if not text:
        return None
    sign = 1
    if text[0] in "负負":
        sign, text = -1, text[1:]
    for name, parts in (("百分之", 100), ("千分之", 1000)):
        if text.startswith(name):
            share = _han_or_digits(text.removeprefix(name))
            return None if share is None else sign * share / parts
    whole = Fraction(0)
    if "又" in text:
        front, _, text = text.partition("又")
        found = _han_or_digits(front)
        if found is None:
            return None
        whole = found
    if "分之" in text:
        below, _, above = text.partition("分之")
        lower, upper = _han_or_digits(below), _han_or_digits(above)
        return None if not lower or upper is None else sign * (whole + upper / lower)
    if whole:
        return None
    value = _han_or_digits(text)
    return None if value is None else sign * value


def _han_or_digits(text: str) -> Fraction | None:
    """A number in Chinese, or in digits with 万 or 亿 behind it."""
    if not text:
        return None
    if text in ("半", "一半"):
        return Fraction(1, 2)
    scale = 1
    while text and text[-1] in _HAN_GROUPS and text[0] in "0123456789.":
        scale *= _HAN_GROUPS[text[-1]]
        text = text[:-1]
    if text and text[0] in "0123456789.":
        written = _PLAIN.fullmatch(text)
        value = next(_decimals(written[2]), None) if written else None
        return None if value is None else value * scale
    if not set(text) <= _HAN:
        return None
    front, mark, back = text.replace("點", "点").partition("点")
    whole = _han_whole(front)
    if whole is None:
        return None
    if not mark:
        return Fraction(whole)
    if not back or any(c not in _HAN_DIGITS for c in back):
        return None
    digits = "".join(str(_HAN_DIGITS[c]) for c in back)
    return whole + Fraction(int(digits), 10 ** len(digits))


def _han_whole(text: str) -> int | None:
    if not text:
        return None
    if all(c in _HAN_DIGITS for c in text):  # 二〇二六: digit by digit
        return int("".join(str(_HAN_DIGITS[c]) for c in text))
    total = section = digit = 0
    last_unit = 1
    for c in text:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
            last_unit = 10 if c in "零〇" else last_unit
        elif c in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[c]
            digit, last_unit = 0, _HAN_UNITS[c]
        elif c in _HAN_GROUPS:
            if not (section or digit or total):
                return None
            # 万 scales its own group, 亿 all that stands before it: 一万亿 is 10¹².
            scale, group = _HAN_GROUPS[c], section + digit
            total = (total + group) * scale if scale > 10**4 else total + group * scale
            section, digit, last_unit = 0, 0, _HAN_GROUPS[c]
        else:
            return None
    # 三百五 is 350, 一万二 is 12000; with a zero between, the digit is what it says.
    if digit and last_unit >= 100:
        digit *= last_unit // 10
    return total + section + digit
