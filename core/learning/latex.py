"""Formulas as models and learners write them, in plain signs: ``\\frac{1}{2}`` is ``(1)/(2)``.

Only what stands in short answers is understood; all else stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

_DEEPEST: Final = 6
"""Fractions within fractions; each round resolves the innermost."""

_GROUP: Final = r"\{([^{}]*)\}"
_FRACTION: Final = re.compile(rf"\\[dtc]?frac\s*{_GROUP}\s*{_GROUP}")
_SHORT_FRACTION: Final = re.compile(r"\\[dtc]?frac\s*(\d)\s*(\d)")
_ROOT: Final = re.compile(rf"\\sqrt\s*{_GROUP}")
_NTH_ROOT: Final = re.compile(rf"\\sqrt\s*\[([^\[\]]*)\]\s*{_GROUP}")
_WORDS: Final = re.compile(rf"\\(?:text|mathrm|mathbf|operatorname|mathit|textbf|boxed)\s*{_GROUP}")
_POWER: Final = re.compile(r"\^\s*\{([^{}]*)\}")
_INDEX: Final = re.compile(r"_\s*\{([^{}]*)\}")
_SIGNS: Final = {
    "times": "×", "cdot": "·", "div": "÷", "pm": "±", "pi": "π", "degree": "°", "circ": "°",
    "infty": "oo", "leq": "<=", "geq": ">=", "le": "<=", "ge": ">=", "neq": "!=", "to": "→",
    "rightarrow": "→", "approx": "≈", "left": "", "right": "", "quad": " ", "displaystyle": "",
}  # fmt: skip
_SIGN: Final = re.compile(rf"\\({'|'.join(sorted(_SIGNS, key=len, reverse=True))})(?![A-Za-z])")
_FUNCTION: Final = re.compile(r"\\(sin|cos|tan|arcsin|arccos|arctan|log|ln|exp|sinh|cosh|tanh)\b")
_DOLLARS: Final = re.compile(r"\$\$?(?=\S)([^$]*?)(?<=\S)\$\$?")
"""A formula; in "$5 and $6" the second sign stands behind a space, so that is money."""
_MIXED: Final = re.compile(r"(?<=\d)\s*(?=\\[dtc]?frac)")
"""Before the fraction of a mixed number: ``1\\frac{1}{2}`` is 1 1/2."""
_SIMPLE: Final = re.compile(r"\(([\w.,]*)\)/\(([\w.,]*)\)")


def plain_math(text: str) -> str:
    """Return a text with its formulas in plain signs; one without any is unchanged."""
    if "\\" not in text and "$" not in text and "^{" not in text:
        return text
    text = re.sub(r"\\[,;:!> ]|~", " ", text)
    text = _DOLLARS.sub(r"\1", text)
    text = re.sub(r"\\[()\[\]]", "", text).replace("\\%", "%").replace("{,}", ",")
    text = _MIXED.sub(" ", text)
    text = _SIGN.sub(lambda sign: _SIGNS[sign[1]], text)
    text = _SHORT_FRACTION.sub(r"(\1)/(\2)", text)
    for _ in range(_DEEPEST):
        before = text
        text = _WORDS.sub(r" \1", text)
        text = _POWER.sub(_power, text)
        text = _INDEX.sub(r"\1", text)
        text = _NTH_ROOT.sub(r"root(\2, \1)", text)
        text = _ROOT.sub(r"sqrt(\1)", text)
        text = _FRACTION.sub(r"(\1)/(\2)", text)
        if text == before:
            break
    text = _SIMPLE.sub(r"\1/\2", _FUNCTION.sub(r"\1", text))
    return " ".join(text.replace("^°", "°").split())


def _power(found: re.Match[str]) -> str:
    inner = found[1].strip()
    return f"^{inner}" if re.fullmatch(r"[+-]?\w*", inner) or inner == "°" else f"^({inner})"
