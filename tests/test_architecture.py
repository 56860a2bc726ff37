"""The page that describes the house names proofs that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("proof", sorted(set(re.findall(r"`(tests/[^`]+::[^`]+)`", PAGE))))
def test_every_proof_that_the_page_names_exists(proof: str) -> None:
    path, _, name = proof.partition("::")
    source = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {re.escape(name)}\(", source, re.MULTILINE)


@pytest.mark.parametrize("room", sorted(set(re.findall(r"\b(?:bots|core)/[a-z_/]+\.py", PAGE))))
def test_every_room_that_the_page_names_is_there(room: str) -> None:
    assert (ROOT / room).is_file()


def test_every_invariant_has_its_line() -> None:
    assert [int(n) for n in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)] == list(range(1, 22))
