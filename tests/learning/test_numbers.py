"""Numbers and quantities as people write them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.learning.latex import plain_math
from core.learning.numbers import exact, readings
from core.learning.units import quantities, unit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", "3"),
        ("−3", "-3"),
        ("- 3", "-3"),
        ("+3.50", "7/2"),
        (".5", "1/2"),
        ("42.", "42"),
        ("１２．５", "25/2"),
        ("1,234.5", "2469/2"),
        ("1.234,5", "2469/2"),
        ("1'000'000", "1000000"),
        ("5 000,25", "20001/4"),
        ("3/4", "3/4"),
        ("-3/4", "-3/4"),
        ("1 3/4", "7/4"),
        ("½", "1/2"),
        ("1½", "3/2"),
        ("³⁄₄", "3/4"),
        ("1:2", "1/2"),
        ("75%", "3/4"),
        ("75 percent", "3/4"),
        ("5 ‰", "1/200"),
        ("1.5e3", "1500"),
        ("1.5×10^3", "1500"),
        ("1.5 · 10³", "1500"),
        ("10⁻³", "1/1000"),
        ("6.02*10**23", "602000000000000000000000"),
        ("seven", "7"),
        ("Twenty-three", "23"),
        ("two hundred and five", "205"),
        ("three thousand four hundred", "3400"),
        ("half", "1/2"),
        ("two and a half", "5/2"),
        ("three quarters", "3/4"),
        ("minus two point five", "-5/2"),
        ("十二", "12"),
        ("一百零五", "105"),
        ("三百五", "350"),
        ("三千零五万", "30050000"),
        ("一亿三千万", "130000000"),
        ("一万亿", "1000000000000"),
        ("二〇二六", "2026"),
        ("三点一四", "157/50"),
        ("负三", "-3"),
        ("三分之二", "2/3"),
        ("一又二分之一", "3/2"),
        ("百分之七十五", "3/4"),
        ("一半", "1/2"),
        ("3万", "30000"),
        ("1.5亿", "150000000"),
    ],
)
def test_a_number_is_read_exactly(text: str, value: str) -> None:
    assert exact(text) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cat",
        "12abc",
        "1/0",
        "1.2.3",
        "1,2,3",
        "万",
        "3 or 5",
        "1e999999",
        "10^-99999",
        "9" * 61,
    ],
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert readings(text) == ()


def test_what_can_be_read_in_two_ways_gives_both() -> None:
    assert readings("1,234") == (Fraction(1234), Fraction("1.234"))
    assert readings("1.234") == (Fraction("1.234"), Fraction(1234))
    assert readings("0,234") == (Fraction("0.234"),)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9)))
def test_every_decimal_is_read_as_it_is_written(number: object) -> None:
    assert exact(f"{number:f}") == Fraction(str(number))


@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    readings(text)
    quantities(text)
    unit(text)
    plain_math(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("36 km/h", "10 m/s"),
        ("9.81 m/s^2", "9.81 m s⁻²"),
        ("9.81 m/s/s", "9.81 m·s^-2"),
        ("5 N", "5 kg m/s^2"),
        ("2 kWh", "7.2 MJ"),
        ("3公斤", "3000 g"),
        ("十毫米", "1 cm"),
        ("5 KM", "5000 metres"),
        ("10 cm²", "0.001 m^2"),
        ("20 °C", "293.15 K"),
        ("68 °F", "20 摄氏度"),
        ("3 µm", "0.003 mm"),
        ("½ h", "30 min"),
        ("seven apples", "7 apple"),
        ("1 L", "1 dm^3"),
        ("2 1/2 hours", "150 minutes"),
    ],
)
def test_the_same_in_other_units(one: str, other: str) -> None:
    left, right = quantities(one)[0], quantities(other)[0]
    found = right.measured_in(left.unit)
    assert found is not None
    assert abs(found - left.value) < Fraction(1, 10**6)


@pytest.mark.parametrize(("one", "other"), [("5 m", "5 s"), ("5 N", "5 J"), ("5 apples", "5 €")])
def test_different_things_do_not_compare(one: str, other: str) -> None:
    assert quantities(one)[0].measured_in(quantities(other)[0].unit) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\frac{1}{2}", "1/2"),
        (r"$\dfrac34$", "3/4"),
        (r"1\frac{1}{2}", "1 1/2"),
        (r"\( 2x+3 \)", "2x+3"),
        (r"6.02\times 10^{23}", "6.02× 10^23"),
        (r"10^{-3}", "10^-3"),
        (r"\frac{\sqrt{2}}{2}", "(sqrt(2))/(2)"),
        (r"9.81\,\text{m/s}^{2}", "9.81 m/s^2"),
        (r"75\%", "75%"),
        (r"20^{\circ}\text{C}", "20° C"),
        ("$5 and $6", "$5 and $6"),
        ("plain  text", "plain  text"),
    ],
)
def test_a_formula_is_read_in_plain_signs(text: str, plain: str) -> None:
    assert plain_math(text) == plain


@pytest.mark.parametrize("text", ["5 m^99999", "5 m99", "3, because", "m", "2 h 30 min and more"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert quantities(text) == ()
