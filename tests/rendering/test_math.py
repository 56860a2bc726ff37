from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.rendering.math import to_unicode


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{a+b}{2a}", "(a+b)/(2a)"),
        (r"\frac12", "1/2"),
        (r"\dfrac{1}{2}x", "(1/2)x"),
        (r"x\frac{1}{2}", "x(1/2)"),
        (r"\frac{x}{2}^2", "(x/2)²"),
        (r"\frac{\frac{1}{2}}{3}", "(1/2)/3"),
        (r"\frac{dy}{dx} = \frac{\partial f}{\partial x}", "dy/dx = ∂f/∂x"),
        (r"\text{速度} = \frac{\text{路程}}{\text{时间}}", "速度 = 路程/时间"),
        (r"x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}", "x = (-b±√(b²-4ac))/(2a)"),
        (r"\sqrt[3]{x} + \sqrt{2} + \sqrt[n]{ab}", "∛x + √2 + ⁿ√(ab)"),
        (r"x_{i+1}^2", "xᵢ₊₁²"),
        (r"e^{i\pi}+1=0", "e^(iπ)+1=0"),
        (r"x^{-1} + a_{k,l} + b_{总}", "x⁻¹ + a_(k,l) + b_总"),
        (r"f''(x_0)", "f′′(x₀)"),
        (r"90^\circ + A^T", "90° + Aᵀ"),
        (r"\sum_{i=1}^{n} i^2", "∑ᵢ₌₁ⁿ i²"),
        (r"\sum_{k\in S}k", "∑_(k∈S) k"),
        (r"\lim_{x\to 0} \frac{\sin x}{x}", "lim_(x→0) (sin x)/x"),
        (r"\sin^2\theta+2\cos\theta", "sin² θ+2 cos θ"),
        (r"\int_0^1 x\,dx", "∫₀¹ x dx"),
        (r"a\le b\ne c", "a ≤ b ≠ c"),
        (r"2 \cdot 3\times 4", "2 · 3×4"),
        (r"\left( \frac12 \right] \not\in \mathbb{R}^n", "(1/2] ∉ ℝⁿ"),
        (r"P(A \mid B)", "P(A | B)"),
        (r"\binom{n}{k}\%", "C(n, k)%"),
        (r"\vec{v} \cdot \overline{AB}", "v⃗ · A̅B̅"),
        (r"\text{若 $x$ 大} > 0", "若 x 大 > 0"),
        (r"\boxed{42}", "42"),
        (r"\ce{2H2 + O2 -> 2H2O}", "2H₂ + O₂ → 2H₂O"),
        (r"\unknown{x}{y}", "unknown(x, y)"),
        (r"\hslash\complement\beth", "ℏ∁ℶ"),
        ("a % note\n+ b", "a + b"),
    ],
)
def test_a_formula_reads_as_unicode_in_a_line(tex: str, text: str) -> None:
    assert to_unicode(tex) == text


@pytest.mark.parametrize(
    ("tex", "inline", "display"),
    [
        (
            r"A = \begin{pmatrix}1&2\\3&40\end{pmatrix}",
            "A = (1 2; 3 40)",
            "A = ⎛1  2 ⎞\n    ⎝3  40⎠",
        ),
        (
            r"f(x) = \begin{cases}x & x>0\\ 0 & x=0 \\ -x & \text{否则}\end{cases}",
            "f(x) = { x x>0; 0 x=0; -x 否则",
            "       ⎧ x   x>0\nf(x) = ⎨ 0   x=0\n       ⎩ -x  否则",
        ),
        (
            r"\begin{aligned}a+b &= c \\ d &= e + f\end{aligned}",
            "a+b = c; d = e + f",
            "a+b = c\n  d = e + f",
        ),
        (r"x = 5 \\ y = 6", "x = 5; y = 6", "x = 5\ny = 6"),
        (r"\begin{vmatrix}a&b\end{vmatrix}", "| a b |", "|a  b|"),
    ],
)
def test_rows_become_lines_or_are_parted_by_semicolons(tex: str, inline: str, display: str) -> None:
    assert to_unicode(tex) == inline
    assert to_unicode(tex, display=True) == display


def test_two_matrices_stand_side_by_side() -> None:
    tex = r"\begin{bmatrix}1&2\\3&4\end{bmatrix}\begin{bmatrix}x\\y\end{bmatrix}"
    assert to_unicode(tex, display=True) == "⎡1  2⎤⎡x⎤\n⎣3  4⎦⎣y⎦"


def test_a_matrix_too_wide_for_a_screen_is_one_line() -> None:
    tex = r"\begin{pmatrix}" + "100000&" * 12 + r"1\\2\end{pmatrix}"
    assert "\n" not in to_unicode(tex, display=True)


@pytest.mark.parametrize("tex", ["\\frac{", "}{", "x^", "\\sqrt", "\\left(", "\\begin{pmatrix}1&"])
def test_a_broken_formula_is_still_readable(tex: str) -> None:
    assert not re.search(r"\\[a-z]|[{}]", to_unicode(tex))


PIECES = st.sampled_from(
    [
        r"\frac",
        r"\sqrt",
        r"\alpha",
        r"\le",
        r"\sum",
        r"\text",
        r"\vec",
        r"\not",
        r"\unknown",
        r"\begin{pmatrix}",
        r"\end{pmatrix}",
        r"\begin{cases}",
        r"\begin",
        r"\end",
        r"\left",
        r"\right",
        r"\binom",
        r"\mathbb",
        r"\color",
        r"\,",
        r"\\",
        "12",
        *"{}^_&()[]x+='~中",
    ]
)


@given(st.lists(PIECES, max_size=60).map(" ".join), st.booleans())
def test_no_formula_raises_or_shows_commands(tex: str, display: bool) -> None:
    text = to_unicode(tex, display=display)
    assert not re.search(r"\\[A-Za-z]", text)
    assert display or "\n" not in text
    assert "\ue000" not in text


@given(st.text("abc123中", min_size=1, max_size=30))
def test_letters_and_digits_come_through(text: str) -> None:
    assert to_unicode(text) == text
