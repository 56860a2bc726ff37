"""Quantities with units: SI with its prefixes, the usual others, and whatever is counted.

A unit is a factor and dimensions. A word that is no unit (``apples``, ``元``) is a dimension of its
own, so that things of one kind compare and things of different kinds do not.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from core.learning.numbers import LONGEST, readings

_PREFIXES: Final = {
    "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12, "f": -15, "a": -18,
}  # fmt: skip
_PREFIX_NAMES: Final = {
    "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deci": -1, "centi": -2, "milli": -3,
    "micro": -6, "nano": -9, "pico": -12,
    "千": 3, "兆": 6, "百": 2, "分": -1, "厘": -2, "毫": -3, "微": -6, "纳": -9,
}  # fmt: skip

Dimensions = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """How many of the base units it is, and which."""

    factor: Fraction
    dimensions: Dimensions
    """Exponent of each base unit, none of them 0; empty for a bare number."""

    def __mul__(self, other: Unit) -> Unit:
        return Unit(self.factor * other.factor, _added(self.dimensions, other.dimensions))

    def power(self, exponent: int) -> Unit:
        """Return this unit, ``exponent`` times."""
        return Unit(
            self.factor**exponent,
            MappingProxyType(
                {name: n * exponent for name, n in self.dimensions.items() if exponent}
            ),
        )


NO_UNIT: Final = Unit(Fraction(1), MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    value: Fraction
    unit: Unit
    bare: bool
    """No unit was written."""

    def measured_in(self, other: Unit) -> Fraction | None:
        """Return the value in another unit; None where the two cannot be compared."""
        if self.unit.dimensions == other.dimensions:
            return self.value * self.unit.factor / other.factor
        kelvin = _kelvin(self.value, self.unit)
        if kelvin is None or _kelvin(Fraction(0), other) is None:
            return None
        # A temperature is a scale with a zero of its own.
        zero, one = (_kelvin(Fraction(n), other) or Fraction(0) for n in (0, 1))
        return (kelvin - zero) / (one - zero)


def _added(one: Dimensions, other: Dimensions) -> Dimensions:
    total = {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}
    return MappingProxyType({name: n for name, n in total.items() if n})


def _unit(factor: str | int, **dimensions: int) -> Unit:
    return Unit(Fraction(factor), MappingProxyType(dimensions))


_METRE, _GRAM, _SECOND = _unit(1, m=1), _unit("1/1000", kg=1), _unit(1, s=1)
_NEWTON, _JOULE, _WATT = (
    _unit(1, kg=1, m=1, s=-2),
    _unit(1, kg=1, m=2, s=-2),
    _unit(1, kg=1, m=2, s=-3),
)
_PASCAL, _VOLT = _unit(1, kg=1, m=-1, s=-2), _unit(1, kg=1, m=2, s=-3, A=-1)
_LITRE = _unit("1/1000", m=3)
_DEGREE = Unit(Fraction(math.pi) / 180, MappingProxyType({"rad": 1}))

_PREFIXED: Final[Mapping[str, Unit]] = {
    "m": _METRE, "g": _GRAM, "s": _SECOND, "A": _unit(1, A=1), "K": _unit(1, K=1),
    "mol": _unit(1, mol=1), "cd": _unit(1, cd=1), "N": _NEWTON, "J": _JOULE, "W": _WATT,
    "Pa": _PASCAL, "Hz": _unit(1, s=-1), "C": _unit(1, A=1, s=1), "V": _VOLT,
    "Ω": _unit(1, kg=1, m=2, s=-3, A=-2), "F": _unit(1, kg=-1, m=-2, s=4, A=2),
    "T": _unit(1, kg=1, s=-2, A=-1), "Wb": _unit(1, kg=1, m=2, s=-2, A=-1),
    "H": _unit(1, kg=1, m=2, s=-2, A=-2), "Bq": _unit(1, s=-1), "Gy": _unit(1, m=2, s=-2),
    "L": _LITRE, "l": _LITRE, "t": _unit(1000, kg=1), "bar": _unit(100_000, kg=1, m=-1, s=-2),
    "eV": _unit("1.602176634e-19", kg=1, m=2, s=-2), "cal": _unit("4.184", kg=1, m=2, s=-2),
    "Wh": _unit(3600, kg=1, m=2, s=-2), "B": _unit(8, bit=1), "bit": _unit(1, bit=1),
}  # fmt: skip
_PLAIN: Final[Mapping[str, Unit]] = {
    "min": _unit(60, s=1), "h": _unit(3600, s=1), "hr": _unit(3600, s=1), "d": _unit(86400, s=1),
    "ha": _unit(10_000, m=2), "atm": _unit(101_325, kg=1, m=-1, s=-2),
    "°C": _unit(1, **{"°C": 1}), "°F": _unit(1, **{"°F": 1}), "°": _DEGREE, "deg": _DEGREE,
    "rad": _unit(1, rad=1), "u": _unit("1.66053906660e-27", kg=1),
    "in": _unit("0.0254", m=1), "ft": _unit("0.3048", m=1), "yd": _unit("0.9144", m=1),
    "mi": _unit("1609.344", m=1), "mph": _unit("0.44704", m=1, s=-1),
    "kph": _unit("5/18", m=1, s=-1),
    "lb": _unit("0.45359237", kg=1), "oz": _unit("0.028349523125", kg=1),
    "mmHg": _unit("133.322387415", kg=1, m=-1, s=-2), "ml": _unit("1/1000000", m=3),
}  # fmt: skip
_NAMES: Final[Mapping[str, Unit]] = {
    name: unit
    for names, unit in {
        "metre meter 米 公尺": _METRE,
        "gram 克": _GRAM,
        "second sec 秒 秒钟": _SECOND,
        "minute 分钟": _PLAIN["min"],
        "hour 小时 时": _PLAIN["h"],
        "day 天 日": _PLAIN["d"],
        "week 周 星期": _unit(604_800, s=1),
        "litre liter 升": _LITRE,
        "newton 牛 牛顿": _NEWTON,
        "joule 焦 焦耳": _JOULE,
        "watt 瓦 瓦特": _WATT,
        "pascal 帕 帕斯卡": _PASCAL,
        "volt 伏 伏特": _VOLT,
        "ampere amp 安 安培": _PREFIXED["A"],
        "ohm 欧 欧姆": _PREFIXED["Ω"],
        "hertz 赫 赫兹": _PREFIXED["Hz"],
        "kelvin 开 开尔文": _PREFIXED["K"],
        "mole 摩尔": _PREFIXED["mol"],
        "coulomb 库 库仑": _PREFIXED["C"],
        "farad 法拉": _PREFIXED["F"],
        "tesla 特斯拉": _PREFIXED["T"],
        "tonne 吨": _PREFIXED["t"],
        "calorie 卡": _PREFIXED["cal"],
        "公斤": _unit(1, kg=1),
        "公里": _unit(1000, m=1),
        "公顷 hectare": _PLAIN["ha"],
        "inch inches": _PLAIN["in"],
        "foot feet": _PLAIN["ft"],
        "yard": _PLAIN["yd"],
        "mile": _PLAIN["mi"],
        "pound": _PLAIN["lb"],
        "ounce": _PLAIN["oz"],
        "degree 度": _PLAIN["°"],
        "摄氏度 celsius": _PLAIN["°C"],
        "radian 弧度": _PLAIN["rad"],
        "byte 字节": _PREFIXED["B"],
        "斤": _unit("1/2", kg=1),
    }.items()
    for name in names.split()
}
_SAME: Final = str.maketrans({"Ω": "Ω", "℃": "°C", "㎏": "kg", "．": "·"})
_PIECE: Final = re.compile(
    r"((?:[^\W\d_]|[°$€£¥￥'µ])+)(?:\s*\^\s*\(?([+-]?\d)\)?|([+-]?\d))?(?!\d)"
)
_MOST_FACTORS: Final = 4
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_NUMBER_END: Final = re.compile(
    r"(?i:[a-z](?=\s))|[\d⁰¹²³⁴⁵⁶⁷⁸⁹%‰.)½¼¾⅓⅔零一二三四五六七八九十百千万亿两半]\s*"
)


@lru_cache(maxsize=2048)
def unit(text: str) -> Unit | None:
    """Return the unit that a text writes (``km/h``, ``m s⁻²``, ``千克``), None for no unit at all.

    A word that is no unit is one of what it counts.
    """
    text = text.strip().translate(_SAME).translate(_SUPERSCRIPTS)
    if not text:
        return NO_UNIT
    if len(text) > LONGEST:
        return None
    text = re.sub(r"\s+per\s+|每(?=\S)|^1\s*/", "/", text.replace("**", "^"))
    total, sign, at, factors = NO_UNIT, 1, 0, 0
    while at < len(text):
        if text[at] in " ·⋅*×()":
            at += 1
        elif text[at] == "/":
            sign, at = -1, at + 1
        elif (piece := _PIECE.match(text, at)) and factors < _MOST_FACTORS:
            factors += 1
            total *= _named(piece[1]).power(sign * int(piece[2] or piece[3] or 1))
            # Behind a stroke the next factor only is below it, unless it stands in brackets.
            sign = sign if "(" in text and ")" in text[piece.end() :] else 1
            at = piece.end()
        else:
            return None
    return total


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities that a text may stand for, the likeliest first; none for no number.

    The unit follows the number; a sign of money may stand before it.
    """
    text = text.strip().rstrip("。!?！？")
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    if not text or len(text) > LONGEST:
        return ()
    found = [Quantity(value, NO_UNIT, True) for value in readings(text)]
    if text[0] in "$€£¥￥":
        money = unit(text[0])
        if money is not None:
            found += [Quantity(value, money, False) for value in readings(text[1:])]
    for cut in sorted({match.end() for match in _NUMBER_END.finditer(text)}, reverse=True):
        values, rest = readings(text[:cut]), text[cut:]
        if values and rest and (kind := unit(rest)) is not None and not rest[0].isdigit():
            found += [Quantity(value, kind, False) for value in values]
            break
    return tuple(found)


def _kelvin(value: Fraction, scale: Unit) -> Fraction | None:
    """A temperature in kelvin; None for what is none."""
    match dict(scale.dimensions):
        case {"K": 1, **rest} if not rest:
            return value * scale.factor
        case {"°C": 1, **rest} if not rest:
            return value + Fraction("273.15")
        case {"°F": 1, **rest} if not rest:
            return (value - 32) * Fraction(5, 9) + Fraction("273.15")
        case _:
            return None


def _named(name: str) -> Unit:
    """The unit of one word or sign; what is none counts itself."""
    # KM and KG are no units, and meant all the same.
    found = _symbol(name) or (_symbol(name.lower()) if len(name) > 1 and name.isupper() else None)
    if found is not None:
        return found
    word = unicodedata.normalize("NFKC", name).casefold()
    single = word.removesuffix("s") if len(word) > 2 else word
    if found := _NAMES.get(word) or _NAMES.get(single):
        return found
    for prefix, power in _PREFIX_NAMES.items():
        rest = single.removeprefix(prefix)
        if rest != single and (base := _NAMES.get(rest)):
            return Unit(base.factor * Fraction(10) ** power, base.dimensions)
    return Unit(Fraction(1), MappingProxyType({f"of {single}": 1}))


def _symbol(name: str) -> Unit | None:
    if found := _PLAIN.get(name) or _PREFIXED.get(name):
        return found
    for prefix, power in _PREFIXES.items():
        if name.startswith(prefix) and (base := _PREFIXED.get(name.removeprefix(prefix))):
            return Unit(base.factor * Fraction(10) ** power, base.dimensions)
    return None
