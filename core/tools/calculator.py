"""The calculator's own process: reads one request from standard input, prints what it comes to.

Run as ``python -m core.tools.calculator`` by ``core.tools.algebra``, which kills it when it takes
too long. Expressions are parsed here, node by node; nothing of them is ever evaluated as Python.
A request is a JSON object, ``{"value_of": "…"}`` or ``{"equivalent": ["…", "…"]}``; so is what is
printed: ``{"value": …}`` or ``{"error": …}``.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import sympy

_LONGEST_VALUE: Final = 2_000
_LARGEST_POWER: Final = 10_000
_MEMORY: Final = 1 << 30
"""Bytes the process may have, where the system can tell it."""

_CONSTANTS: Final = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo, "inf": sympy.oo}
_NAMES: Final = (
    "sqrt", "cbrt", "root", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "exp", "log", "ceiling", "floor", "sign", "gcd", "lcm", "isprime", "factorint",
    "simplify", "expand", "factor", "apart", "together", "cancel", "Rational", "binomial", "re",
    "im", "arg", "conjugate", "Max", "Min", "gamma", "erf", "diff", "integrate", "limit",
)  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{name: getattr(sympy, name) for name in _NAMES},
    "ln": sympy.log,
    "abs": sympy.Abs,
    "max": sympy.Max,
    "min": sympy.Min,
    "round": lambda value, digits=0: sympy.N(value).round(int(digits)),
    "N": lambda value, digits=15: sympy.N(value, min(int(digits), 100)),
    "log10": lambda value: sympy.log(value, 10),
    "log2": lambda value: sympy.log(value, 2),
    "factorial": lambda value: _bounded(sympy.factorial, value),
    "solve": lambda equation, *unknowns: sympy.solve(equation, *unknowns),
    "sum": sympy.summation,
    "product": sympy.product,
    "mean": lambda *values: sum(values, sympy.S.Zero) / len(values),
}
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: sympy.floor(a / b),
    ast.Mod: lambda a, b: sympy.Mod(a, b),
    ast.Pow: lambda a, b: _power(a, b),
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}


class Unreadable(ValueError):
    """The expression holds something that is no calculation; the text says what."""


def value_of(expression: str) -> str:
    """Return what an expression comes to, exactly, with its decimal value where that tells more.

    Raises Unreadable, or an ArithmeticError or ValueError of the calculation.
    """
    exact = _parsed(_as_python(expression))
    if exact is sympy.zoo or exact is sympy.nan:
        raise Unreadable("this has no value, such as a division by zero")
    shown = str(exact)
    closed = isinstance(exact, sympy.Expr) and exact.is_number and not exact.has(sympy.Float)
    if closed and not exact.is_Integer and exact.is_finite:
        decimal = str(sympy.N(exact, 15))
        if decimal != shown:
            shown = f"{shown} = {decimal}"
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]} …"


def equivalent(one: str, other: str) -> bool | None:
    """Tell whether two expressions, or equations, as people write them say the same.

    ``2x`` and ``x(x+1)`` are products; an equation for a single unknown and its bare right side say
    the same. None when it cannot be found out. Raises like ``value_of``.
    """
    left, right = (_parsed(_products(text)) for text in (one, other))
    if isinstance(left, sympy.Eq) and isinstance(right, sympy.Eq):
        ratio = sympy.simplify((left.lhs - left.rhs) / (right.lhs - right.rhs))
        return bool(ratio.is_number and ratio.is_finite and ratio != 0)
    left, right = (
        side.rhs if isinstance(side, sympy.Eq) and side.lhs.is_Symbol else side
        for side in (left, right)
    )
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return False
        same = [_same(*pair) for pair in zip(left, right, strict=True)]
        return None if None in same else all(same)
    if not (isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)):
        return bool(left == right) or None
    return _same(left, right)


def _same(one: Any, other: Any) -> bool | None:
    difference = one - other
    # Where they differ in a number they differ; only then is it worth to simplify.
    symbols = sorted(difference.free_symbols, key=str)
    points = {symbol: sympy.Rational(sympy.prime(n + 5), 7) for n, symbol in enumerate(symbols)}
    there = sympy.N(difference.subs(points), 30)
    if there.is_number and there.is_finite and abs(there) > 1e-9:
        return False
    if sympy.simplify(difference) == 0:
        return True
    # Tries numbers by chance: what it finds different somewhere is the same for some, as √x² and x.
    return True if one.equals(other) else None


_TOKEN: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[^\W\d_]\w*|\S")
_GREEK: Final = "alpha beta gamma delta epsilon theta mu nu rho sigma tau phi chi psi omega"
_LETTERS: Final = frozenset(_GREEK.split())


def _products(text: str) -> str:
    """Write out the signs of multiplication that people leave away."""
    pieces: list[str] = []
    for piece in _TOKEN.findall(_as_python(text.replace("π", " pi "))):
        known = piece in _FUNCTIONS or piece in _CONSTANTS or piece in _LETTERS
        pieces += list(piece) if piece.isalpha() and not known else [piece]
    written = before = ""
    for piece in pieces:
        begins = piece[0].isalnum() or piece[0] in "(."
        ended = before[-1:].isalnum() or before == ")"
        called = piece == "(" and before in _FUNCTIONS
        written += f"*{piece}" if ended and begins and not called else piece
        before = piece
    return written


def _parsed(text: str) -> Any:
    try:
        return _value(ast.parse(text, mode="eval").body)
    except SyntaxError:
        raise Unreadable("this is no expression; write it like 3*x**2 + sqrt(2)") from None
    except (RecursionError, MemoryError):
        raise Unreadable("the expression is nested too deeply") from None


def _as_python(expression: str) -> str:
    text = expression.strip().translate(str.maketrans("×·÷−（），", "**/-(),"))
    text = text.replace("^", "**").replace("π", "pi").replace("√", "sqrt")
    # A single sign of equality asks for an equation.
    if text.count("=") == 1 and not any(sign in text for sign in ("<=", ">=", "!=")):
        text = text.replace("=", "==")
    return text


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool()):
            raise Unreadable("true and false cannot be calculated with")
        case ast.Constant(value=int() | float() as number):
            # A decimal is what is written, not the nearest binary fraction.
            return sympy.Integer(number) if isinstance(number, int) else sympy.Rational(str(number))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.Name(id=name) if name.isalpha() and len(name) <= 10:
            return sympy.Symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            return _BINARY[type(operator)](_value(left), _value(right))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            if type(operator) in _COMPARED:
                return _COMPARED[type(operator)](_value(left), _value(right))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(part) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument) for argument in arguments))
        case ast.Call(func=ast.Name(id=name)):
            raise Unreadable(f"there is no function {name} here")
        case _:
            pass
    raise Unreadable("only numbers, letters, + - * / ** ( ) and functions can be calculated")


def _power(base: Any, exponent: Any) -> Any:
    if exponent.is_number and base.is_number and abs(sympy.N(exponent)) > _LARGEST_POWER:
        raise Unreadable(f"a power has at most the exponent {_LARGEST_POWER}")
    return base**exponent


def _bounded(function: Callable[[Any], Any], value: Any) -> Any:
    if value.is_number and sympy.N(value) > _LARGEST_POWER:
        raise Unreadable(f"that is too large: at most {_LARGEST_POWER}")
    return function(value)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows: the time limit alone holds
        return
    with_limit = getattr(resource, "RLIMIT_AS", None)
    if with_limit is not None and sys.platform == "linux":
        resource.setrlimit(with_limit, (_MEMORY, _MEMORY))


def main() -> None:
    """Answer one request."""
    sys.set_int_max_str_digits(20_000)
    _limit_memory()
    said: dict[str, object]
    try:
        match json.loads(sys.stdin.buffer.read()):
            case {"value_of": str(expression)}:
                said = {"value": value_of(expression)}
            case {"equivalent": [str(one), str(other)]}:
                said = {"value": equivalent(one, other)}
            case _:
                said = {"error": "no such request"}
    except Unreadable as error:
        said = {"error": str(error)}
    except Exception as error:  # noqa: BLE001  # whatever the algebra raises, in a word
        said = {"error": f"this cannot be calculated ({type(error).__name__})"}
    sys.stdout.buffer.write(json.dumps(said).encode())


if __name__ == "__main__":
    main()
