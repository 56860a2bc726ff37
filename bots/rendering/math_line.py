"""Building one line of a formula: spaces around signs, brackets around parts, raised marks."""

from __future__ import annotations

import re

from bots.rendering import math_symbols as sym

_MARKS = "\u0300-\u036f\u20d0-\u20ff′⁰¹²³⁴-⁻⁽⁾ᴬ-ᵡᶿⁱⁿʰ-ˣ₀-₌ₐ-ₜ"
_SIMPLE = re.compile(
    rf"(?:\d+(?:[.,]\d+)*|(?:[d∂][{_MARKS}]*)?[^\W\d_]|[∞∅□∂]|√(?:\d+|[^\W\d_])|[\u4e00-\u9fff]+)"
    rf"[{_MARKS}]*"
)


class Line:
    """Text under construction that knows which spaces its parts want around them."""

    def __init__(self) -> None:
        self.text = ""
        self.scripted = False
        self._apart = False
        self._fraction: tuple[int, int] | None = None

    def add(self, text: str) -> None:
        """Append what multiplies or belongs to the text before."""
        if not text:
            return
        first = text[0]
        glued = first.isalnum() or first in "([{√∑∫∂\ue000"
        if self._fraction and self._fraction[1] == len(self.text) and glued:
            start, end = self._fraction
            self.text = f"{self.text[:start]}({self.text[start:end]})"
        if self._apart and glued and first not in "([{":
            self.text += " "
        self._apart = self.scripted = False
        self._fraction = None
        self.text += text

    def attach(self, script: str) -> None:
        """Append a raised, lowered or prime mark to the text before."""
        self.text = self.text.rstrip(" ") if not self.scripted else self.text
        if self._fraction and self._fraction[1] == len(self.text):
            start, end = self._fraction
            self.text = f"{self.text[:start]}({self.text[start:end]})"
            self._fraction = None
        self.text += script

    def fraction(self, text: str) -> None:
        """Append a fraction; it gets brackets when something stands right beside it."""
        if self.text[-1:].isalnum() or self.text[-1:] in (")", "]") or self._apart:
            self.add(f"({text})" if not self._apart else text)
            return
        self.add("")
        self._fraction = (len(self.text), len(self.text) + len(text))
        self.text += text

    def space(self, count: int = 1) -> None:
        """Append a space of the source, unless one is there."""
        if self.text and not self.text[-1].isspace():
            self.text += " " * count
            self._apart = False

    def spaces(self, text: str) -> None:
        """Append the spaces of a spacing command."""
        if self.text and self.text[-1] != "\n":
            self.text = self.text.rstrip(" ") + (text or self.text[len(self.text.rstrip(" ")) :])
            self._apart = self._apart and not text

    def relation(self, text: str) -> None:
        """Append a sign with a space on each side."""
        self.text = self.text.rstrip(" ")
        lead = "" if not self.text or self.text[-1] in "\n([{" else " "
        self.text += f"{lead}{text} "
        self._apart = False

    def operator(self, text: str) -> None:
        """Append a sign with spaces only where the source has one before it."""
        self.text += f"{text} " if self.text[-1:] == " " else text
        self._apart = False

    def word(self, text: str) -> None:
        """Append a function or large operator, apart from letters on both sides."""
        if self.text and (self.text[-1].isalnum() or self.text[-1] == ")") and text.isalpha():
            self.text += " "
        self.add(text)
        self._apart = True


def compact(text: str) -> str:
    """Take the spaces around signs away, for a fraction or a root."""
    return re.sub(r" *([-+−=<>≤≥≠±×·/→∈,]) *|(?<=∂) +", r"\1", text.strip())


def bracketed(text: str) -> str:
    """Put brackets around everything that is not one number or letter."""
    if _SIMPLE.fullmatch(text) or _enclosed(text):
        return text
    return f"({text})" if text else "□"


def _enclosed(text: str) -> bool:
    """Tell whether one pair of round brackets already holds the whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return index == len(text) - 1
    return False


def _scripted(text: str, mark: str, table: dict[int, int]) -> str:
    text = compact(text).replace("\n", "; ")
    if all(ord(c) in table for c in text):
        return text.translate(table)
    if _SIMPLE.fullmatch(text) or (text.isalpha() and mark == "_") or _enclosed(text):
        return mark + text
    return f"{mark}({text})"


def raised(text: str) -> str:
    """Return a superscript: ``n+1`` as ``ⁿ⁺¹``, ``p+q`` as ``^(p+q)``."""
    return _scripted(text, "^", sym.SUPERSCRIPT)


def lowered(text: str) -> str:
    """Return a subscript: ``ij`` as ``ᵢⱼ``, ``k,l`` as ``_(k,l)``."""
    return _scripted(text, "_", sym.SUBSCRIPT)


def accented(text: str, mark: str) -> str:
    """Return text with a combining mark on each letter and digit."""
    return "".join(c + mark if c.isalnum() else c for c in text)


def chemical(text: str) -> str:
    """Lower the counts of a chemical formula: ``H2O`` gives ``H₂O``."""
    text = re.sub(
        r"(?<=[A-Za-z)\]])\d+", lambda m: m[0].translate(sym.SUBSCRIPT), text.replace("_", "")
    )
    text = re.sub(r"\^\{?([0-9]*[+-])\}?", lambda m: m[1].translate(sym.SUPERSCRIPT), text)
    return text.replace("<=>", "⇌").replace("->", "→")
