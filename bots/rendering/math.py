r"""TeX formulas as Unicode that a person can read in a line of chat.

``\frac{a+b}{2a}`` becomes ``(a+b)/(2a)``, ``x_i^2`` becomes ``xᵢ²``. Where Unicode lacks a raised
character, ``x^(p+q)`` is written. In display style matrices, cases and aligned equations become
lines that line up in a monospaced font; inside a sentence their rows are parted by semicolons.

Nothing here raises: braces that do not match are dropped, an unknown command shows its name and
its arguments.
"""

from __future__ import annotations

import re
import unicodedata

from bots.rendering import math_symbols as sym
from bots.rendering.math_grid import (
    BRACKETS,
    MAX_WIDTH,
    Box,
    equations,
    inlined,
    lay_out,
    matrix,
    placeholder,
    width_of,
)
from bots.rendering.math_line import Line, accented, bracketed, chemical, compact, lowered, raised

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|%[^\n]*\n?|[^\\]|\\", re.DOTALL)
_MAX_DEPTH = 40
_PRIVATE = re.compile("[\ue000\ue001]")


def to_unicode(tex: str, *, display: bool = False) -> str:
    """Return a formula (without its delimiters) as Unicode text.

    In display style the result can have several lines, aligned for a monospaced font; otherwise it
    is one line. Never blank unless the source shows nothing.
    """
    tex = _PRIVATE.sub("", tex)
    reader = _Reader(tex, display)
    text = reader.sequence(frozenset(), 0)
    lines = [line for row in text.split("\n") for line in lay_out(row, reader.boxes)]
    if not display:
        return _tidy("; ".join(line.strip() for line in lines if line.strip()))
    lines = [line.rstrip() for line in lines if line.strip()]
    if len(lines) == 1:
        return _tidy(lines[0])
    return "\n".join(lines)


def _tidy(text: str) -> str:
    text = re.sub(r"(?<=[(\[]) +| +(?=[)\]])", "", text)
    return re.sub(r" {3,}", "  ", text).strip()


class _Reader:
    """Reads TeX tokens from front to back. Each method returns Unicode text."""

    def __init__(self, tex: str, display: bool) -> None:
        self._tokens: list[str] = [t for t in _TOKEN.findall(tex) if not t.startswith("%")]
        self._at = 0
        self.boxes: list[Box] = []
        self._display = display

    # --- tokens

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        item = self._peek()
        self._at += 1
        return item

    def _skip_space(self) -> bool:
        found = False
        while self._peek().isspace():
            self._at += 1
            found = True
        return found

    # --- reading

    def sequence(self, ends: frozenset[str], depth: int) -> str:
        """Read up to one of the end tokens, which is left to the caller, or to the end."""
        out = Line()
        while self._at < len(self._tokens):
            item = self._peek()
            if item in ends:
                break
            self._at += 1
            if item == "{":
                out.add(self._group(depth))
            elif item in ("^", "_"):
                self._script(out, item, depth)
            elif item.isspace():
                out.space()
            elif item == "'":
                out.attach("′")
            elif item == "~":
                out.space()
            elif item == "&":
                out.space(2)
            elif item.startswith("\\") and len(item) > 1:
                self._command(out, item[1:], depth)
            elif item not in ("}", "\\"):
                out.add(item)
        return out.text

    def _group(self, depth: int) -> str:
        """Read the rest of a group whose opening brace is taken."""
        if depth >= _MAX_DEPTH:
            return ""  # the braces are dropped, what is inside follows as part of the outer one
        text = self.sequence(frozenset("}"), depth + 1)
        self._at += 1
        return text

    def _argument(self, depth: int) -> str:
        """Read one argument: a group, a command with its arguments, or a single character."""
        self._skip_space()
        item = self._peek()
        if item in ("", "}", "&", "^", "_", "\\\\", "\\end"):
            return ""
        self._at += 1
        if item == "{":
            return inlined(self._group(depth), self.boxes).strip()
        if item.startswith("\\"):
            if depth >= _MAX_DEPTH:
                return item[1:]
            sign = sym.OPERATORS.get(item[1:]) or sym.RELATIONS.get(item[1:])
            if sign:
                return sign
            out = Line()
            self._command(out, item[1:], depth + 1)
            return inlined(out.text, self.boxes).strip()
        return item

    def _option(self, depth: int) -> str:
        """Read an argument in square brackets, if there is one."""
        if self._peek() != "[":
            return ""
        self._at += 1
        text = self.sequence(frozenset("]"), depth + 1)
        self._at += 1
        return text.strip()

    def _raw(self) -> str:
        """Read a group without looking at commands: the name of an environment."""
        self._skip_space()
        if self._peek() != "{":
            return ""
        self._at += 1
        parts = []
        while (item := self._next()) not in ("}", ""):
            parts.append(item)
        return "".join(parts)

    def _prose(self, depth: int) -> str:
        """Read the argument of a command for text; its spaces count, a dollar does not."""
        return self._argument_keeping_space(depth).replace("$", "")

    def _argument_keeping_space(self, depth: int) -> str:
        self._skip_space()
        if self._peek() != "{" or depth >= _MAX_DEPTH:
            return self._argument(depth)
        self._at += 1
        return inlined(self._group(depth), self.boxes)

    def _script(self, out: Line, mark: str, depth: int) -> None:
        text = self._argument(depth)
        if text:
            out.attach(raised(text) if mark == "^" else lowered(text))
            out.scripted = True

    def _command(self, out: Line, name: str, depth: int) -> None:
        if name in sym.SPACES:
            out.spaces(sym.SPACES[name])
        elif name in sym.RELATIONS:
            self._skip_space()
            out.relation(sym.RELATIONS[name])
        elif name in sym.OPERATORS:
            self._skip_space()
            out.operator(sym.OPERATORS[name])
        elif name in sym.BIG:
            out.word(sym.BIG[name])
        elif name in sym.FUNCTIONS:
            out.word(name)
        elif name in ("\\", "cr", "newline"):
            self._option(depth)
            out.text = out.text.rstrip(" ") + "\n"
        elif name in ("frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"):
            self._option(depth)
            above, below = self._argument(depth), self._argument(depth)
            out.fraction(bracketed(compact(above)) + "/" + bracketed(compact(below)))
        elif name in ("binom", "dbinom", "tbinom"):
            above, below = self._argument(depth), self._argument(depth)
            out.add(f"C({compact(above)}, {compact(below)})")
        elif name == "sqrt":
            index, radicand = self._option(depth), compact(self._argument(depth))
            sign = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(index)
            out.add((sign or raised(index) + "√") + bracketed(radicand))
        elif name in sym.ACCENTS:
            out.add(accented(self._argument(depth), sym.ACCENTS[name]))
        elif name in ("mathbb", "mathcal", "mathscr"):
            out.add(sym.in_font(name, self._argument(depth)))
        elif name in sym.TEXT:
            text = self._prose(depth)
            if name in sym.PROSE:
                out.add(text)
            elif name.startswith("operatorname"):
                out.word(text)
            else:
                out.add(text.strip())
        elif name in sym.TRANSPARENT:
            out.add(self._argument(depth))
        elif name in sym.DROPPED:
            self._skip_space()
            if self._peek() == "." and name in ("left", "right", "middle"):
                self._at += 1
        elif name in sym.DROPPED_ARGUMENT:
            self._argument(depth)
        elif name in ("color", "textcolor", "colorbox"):
            self._raw()
            if name != "color":
                out.add(self._argument(depth))
        elif name in ("overset", "stackrel", "underset"):
            script, base = self._argument(depth), self._argument(depth)
            mark = lowered if name == "underset" else raised
            out.relation(base + mark(script))
        elif name in ("xrightarrow", "xleftarrow"):
            self._option(depth)
            arrow = "→" if name == "xrightarrow" else "←"
            out.relation(arrow + raised(self._argument(depth)))
        elif name == "pmod":
            out.relation(f"(mod {self._argument(depth)})")
        elif name == "tag":
            out.text = out.text.rstrip(" ") + f"  ({self._argument(depth)})"
        elif name == "not":
            negated = self._argument(depth)
            out.relation(unicodedata.normalize("NFC", negated[:1] + "\u0338") + negated[1:])
        elif name == "ce":
            out.add(chemical(self._raw()))
        elif name == "begin":
            self._environment(out, depth)
        elif name == "end":
            self._raw()
        else:
            out.add(sym.symbol(name) or self._unknown(name, depth))

    def _unknown(self, name: str, depth: int) -> str:
        """Show an unknown command as its name and arguments: ``foo(x, y)``."""
        arguments = []
        while self._peek() == "{":
            arguments.append(self._argument(depth))
        return name + (f"({', '.join(arguments)})" if arguments else "")

    # --- environments

    def _environment(self, out: Line, depth: int) -> None:
        name = self._raw()
        plain = name.rstrip("*")
        if plain in ("array", "alignedat", "alignat", "tabular"):
            self._option(depth)
            self._raw()
        if depth >= _MAX_DEPTH:
            return
        rows = self._rows(depth)
        if plain in BRACKETS or plain == "tabular":
            box = matrix(rows, BRACKETS.get(plain, "  "))
        else:
            box = equations(rows)
        if not self._display or max(map(width_of, box.lines), default=0) > MAX_WIDTH:
            out.add(box.inline)
            return
        self.boxes.append(box)
        out.add(placeholder(len(self.boxes) - 1))

    def _rows(self, depth: int) -> list[list[str]]:
        """Read cells up to the end of the environment."""
        ends = frozenset(("&", "\\\\", "\\cr", "\\end"))
        rows: list[list[str]] = [[]]
        while True:
            cell = self.sequence(ends, depth + 1)
            rows[-1].append(inlined(cell, self.boxes).strip())
            item = self._next()
            if item == "&":
                continue
            if item in ("\\\\", "\\cr"):
                self._option(depth)
                rows.append([])
                continue
            if item:
                self._raw()
            return [row for row in rows if any(row)]
