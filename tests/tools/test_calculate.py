"""The calculator: exact, bounded, and deaf to everything that is no calculation."""

from __future__ import annotations

import pytest

from core.tools import algebra
from core.tools.calculate import calculate
from core.tools.calculator import Unreadable, equivalent, value_of
from core.tools.registry import run_tool
from tests.tools.test_registry import CONTEXT


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("3/4 + 1/6", "11/12 = 0.916666666666667"),
        ("0.1 + 0.2", "3/10 = 0.300000000000000"),
        ("2×3^2", "18"),
        ("solve(x^2 - 2 = 0, x)", "[-sqrt(2), sqrt(2)]"),
        ("diff(x**3, x)", "3*x**2"),
        ("integrate(x**2, (x, 0, 1))", "1/3 = 0.333333333333333"),
        ("N(sqrt(2), 30)", "1.41421356237309504880168872421"),
        ("binomial(10, 3)", "120"),
        ("（1，2）", "(1, 2)"),
    ],
)
def test_it_calculates_exactly(expression: str, value: str) -> None:
    assert value_of(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "(1).__class__",
        "[x for x in (1,)]",
        "lambda: 1",
        "open('/etc/passwd')",
        "x if x else 1",
        "'text'",
        "1; 2",
        "9**9**9",
        "factorial(10**9)",
        "1/0",
        "f(x=1)",
        "True",
        "",
    ],
)
def test_what_is_no_calculation_is_refused(expression: str) -> None:
    with pytest.raises(Unreadable):
        value_of(expression)


async def test_the_tool_answers_from_a_process_of_its_own() -> None:
    tool = calculate()
    given = tool.arguments.model_validate({"expression": "6*7"})
    assert (await run_tool(tool, given, CONTEXT, seconds=20)).text == "42"
    given = tool.arguments.model_validate({"expression": "open('x')"})
    refused = await run_tool(tool, given, CONTEXT, seconds=20)
    assert (refused.ok, "no function open" in refused.text) == (False, True)


async def test_a_calculation_without_an_end_is_killed() -> None:
    tool = calculate()
    given = tool.arguments.model_validate({"expression": "factorint(2**3000 + 12345677)"})
    result = await run_tool(tool, given, CONTEXT, seconds=1.5)
    assert not result.ok


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(x+1)^2", "x^2+2x+1", True),
        ("x(x+1)", "x^2+x", True),
        ("2πr", "2*pi*r", True),
        ("√(8)", "2√(2)", True),
        ("x = 3", "3", True),
        ("y = 2x+1", "2x - y + 1 = 0", True),
        ("(1, 2)", "(1,3)", False),
        ("x = 3", "x = 4", False),
        ("a/b", "b/a", False),
        ("x^2", "x^2+1", False),
        ("sqrt(x^2)", "x", None),
    ],
)
def test_it_tells_whether_two_expressions_say_the_same(
    one: str, other: str, same: bool | None
) -> None:
    assert equivalent(one, other) is same


async def test_what_cannot_be_compared_is_not_decided() -> None:
    assert await algebra.equivalent("x + 1", "1 + x") is True
    assert await algebra.equivalent("x", "lambda: 1") is None
    assert await algebra.equivalent("9**9**9**9", "1") is None
