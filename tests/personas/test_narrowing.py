"""A persona may want less of a turn than the settings allow, and never gets more."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.loop.gates import Budget
from core.persona import tuned
from personas.persona import Persona, PersonaLibrary, check
from tests.personas.sample import changed


def persona(folder: Path, budget: str) -> Persona:
    (folder / "ada.md").write_text(
        changed("capabilities: [chat]", f"capabilities: [chat]\nbudget: {{{budget}}}"),
        encoding="utf-8",
    )
    return PersonaLibrary.load(folder).get("ada")


@pytest.mark.parametrize(
    ("wanted", "allowed", "has"),
    [
        ("max_rounds: 3", Budget(max_rounds=8), Budget(max_rounds=3)),
        ("max_rounds: 30", Budget(max_rounds=8), Budget(max_rounds=8)),
        ("max_tool_calls: 0", Budget(), Budget(max_tool_calls=0)),
        ("deadline_seconds: 20.5", Budget(), Budget(deadline_seconds=20.5)),
        ("deadline_seconds: 900", Budget(), Budget()),
        ("cost: 0.02", Budget(), Budget(cost_limit=0.02)),
        ("cost: 0.02", Budget(cost_limit=0.01), Budget(cost_limit=0.01)),
        ("cost: 0.02", Budget(cost_limit=0.5), Budget(cost_limit=0.02)),
    ],
)
def test_the_smaller_one_holds(tmp_path: Path, wanted: str, allowed: Budget, has: Budget) -> None:
    own = persona(tmp_path, wanted)
    plain = own.model_copy(update={"budget": type(own.budget)()})
    temperature = tuned(allowed, plain, small=False).temperature
    assert tuned(allowed, own, small=False) == tuned(has, plain, small=False)
    assert tuned(allowed, own, small=False).temperature == temperature


@pytest.mark.parametrize("wrong", ["max_rounds: 0", "cost: 0", "cost: nan", "max_round: 3"])
def test_what_cannot_be_is_a_problem_with_a_way_out(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "ada.md"
    file.write_text(
        changed("capabilities: [chat]", f"capabilities: [chat]\nbudget: {{{wrong}}}"),
        encoding="utf-8",
    )
    [problem] = check(file)
    assert problem.key.startswith("budget.")
    assert "max_rounds" in problem.fix
